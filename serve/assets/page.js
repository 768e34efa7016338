// Plays what is clicked in the page itself. Without this script, the links lead to the videos.
'use strict';
const screen = document.getElementById('screen');
const message = document.getElementById('message');
let player = null;
// A browser begins when it has a sixth of a second, which is gone with the first loss where others fill the path.
const HEAD_START = { video: 2, wait: 5 };  // seconds

function fails(why) {
  message.textContent = `${document.querySelector('[aria-current]').textContent} cannot be played: ${why}`;
}

function script(path) {
  return new Promise((done, failed) => {
    const element = document.createElement('script');
    element.src = path;
    element.onload = done;
    element.onerror = () => failed(new Error('the player could not be loaded'));
    document.head.append(element);
  });
}

function stop() {
  player?.();
  player = null;
  screen.removeAttribute('src');
}

async function hls(video) {
  if (!window.Hls) await script("/.thalweg/hls.min.js");
  if (!Hls.isSupported()) {
    screen.src = video;
    return;
  }
  const own = new Hls();
  player = () => own.destroy();
  own.on(Hls.Events.ERROR, (event, what) => {
    if (what.fatal) fails(what.details);
  });
  own.loadSource(video);
  own.attachMedia(screen);
}

async function dash(video) {
  if (!window.dashjs) await script("/.thalweg/dash.min.js");
  const own = dashjs.MediaPlayer().create();
  player = () => own.destroy();
  own.on(dashjs.MediaPlayer.events.ERROR, (event) => {
    fails(event.error?.message ?? event.error);
  });
  own.initialize(screen, video, true);
}

async function file(video) {
  screen.src = video;
  const begun = performance.now();
  const has = () => {
    const end = screen.buffered.length ? screen.buffered.end(0) : 0;
    return end >= Math.min(HEAD_START.video, screen.duration || Infinity);
  };
  const late = () => performance.now() - begun > HEAD_START.wait * 1000;
  while (screen.src === video && !screen.error && !has() && !late()) await new Promise((done) => setTimeout(done, 100));
}

async function play(link) {
  stop();
  document.querySelector('[aria-current]')?.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'true');
  const { wrong } = link.dataset;
  message.textContent = link.textContent + (wrong ? ` may not play: ${wrong}` : '');
  screen.hidden = false;
  // The list may be longer than the window.
  screen.scrollIntoView({ block: 'nearest' });
  const players = { hls, dash };
  try {
    await (players[link.dataset.player] ?? file)(link.href);
    // Another may have been picked meanwhile.
    if (link.hasAttribute('aria-current')) await screen.play();
  } catch (error) {
    // A browser that wants to be asked first has its own button for it.
    if (error.name !== 'NotAllowedError' && error.name !== 'AbortError') fails(error.message);
  }
}

// A file that breaks off; players tell of theirs themselves.
screen.addEventListener('error', () => {
  if (!player) fails(screen.error.message);
});

document.getElementById('videos').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link || link.hasAttribute('download') || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  play(link);
});

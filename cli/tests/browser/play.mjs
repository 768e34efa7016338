// Plays a video in a browser and tells in one line of JSON what its video element went through.
//
// node play.mjs '{"browser": PATH, "page": URL, "link": NAME or null, "seconds": NUMBER, "picture": PNG, "flags": []}'
//
// Without a link, the page plays by itself. Seconds are those of the video; the picture is taken when they are over.
import { chromium } from 'playwright-core';

const wanted = JSON.parse(process.argv[2]);
/** So long may loading, stalls and a slow machine hold it up, seconds. */
const TIMEOUT_SECONDS = 40;

const flags = ['--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--mute-audio', '--autoplay-policy=no-user-gesture-required'];
const browser = await chromium.launch({ executablePath: wanted.browser, args: [...flags, ...wanted.flags] });

/** Runs in the page, before any script of its own. */
function watch() {
  const seen = { events: [], samples: [], refused: [] };
  window.seen = seen;
  const seconds = () => performance.now() / 1000;
  const ranges = ({ buffered }) => Array.from({ length: buffered.length }, (_, n) => [buffered.start(n), buffered.end(n)]);
  const state = (video) => {
    const position = video.currentTime;
    const range = ranges(video).find(([start, end]) => start <= position && position <= end);
    return { at: seconds(), position, ahead: range ? range[1] - position : 0 };
  };
  // Events of media do not bubble, but are caught on their way down.
  for (const name of ['playing', 'waiting', 'stalled', 'pause', 'ended', 'error']) {
    document.addEventListener(name, ({ target }) => {
      if (target.tagName === 'VIDEO') seen.events.push({ name, ...state(target) });
    }, true);
  }
  document.addEventListener('securitypolicyviolation', (event) => {
    seen.refused.push(`${event.effectiveDirective} ${event.blockedURI}`);
  });
  setInterval(() => {
    const video = document.querySelector('video');
    if (video) seen.samples.push({ ...state(video), buffered: ranges(video) });
  }, 250);
}

try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
  const messages = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(String(error)));
  const network = await page.context().newCDPSession(page);
  const responses = [];
  network.on('Network.responseReceived', ({ type, response: { url, status, protocol } }) => {
    responses.push({ type, url, status, protocol });
  });
  await network.send('Network.enable');
  await page.addInitScript(watch);
  await page.goto(wanted.page);
  if (wanted.link) await page.getByRole('link', { name: wanted.link, exact: true }).click();
  const until = Date.now() + (wanted.seconds + TIMEOUT_SECONDS) * 1000;
  const position = () => page.evaluate(() => document.querySelector('video')?.currentTime ?? 0);
  while (await position() < wanted.seconds && Date.now() < until) await page.waitForTimeout(100);
  await page.screenshot({ path: wanted.picture });
  const inView = await page.evaluate(() => {
    const { top, bottom } = document.querySelector('video').getBoundingClientRect();
    return top < innerHeight / 2 && bottom > innerHeight / 2;
  });
  const seen = await page.evaluate(() => window.seen);
  console.log(JSON.stringify({ ...seen, inView, position: await position(), messages, responses }));
} finally {
  await browser.close();
}

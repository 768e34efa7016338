//! A video in a browser, over 20 Mb/s with 40 ms of round trip and beside a download.

use std::fs;
use std::thread;
use std::time::Duration;

use thalweg_net::error::Error;
use thalweg_testbed::NEAR;

use crate::bulk::Bulk;
use crate::cable::{Cable, Yard};
use crate::common::Running;
use crate::dumbbell::Dumbbell;
use crate::goodput::PAYLOAD;
use crate::viewer::{Seen, Video, Viewer};

const LINE: Dumbbell = Dumbbell { mbit: 20, rtt_ms: 40, queue: 100, loss: 0.0 };
/// The download, which begins before the video, and is measured while that plays.
const DOWNLOAD: Bulk =
    Bulk { flows: 1, control: "cubic", warm_up: Duration::from_secs(5), measured: Duration::from_secs(15) };
/// The length of the video that is played, in seconds.
const PLAYED: f64 = 20.0;
/// The least buffer ahead of playback, in seconds. Chromium loads until it has five.
const AHEAD: f64 = 2.0;

/// The path and the video; `None`, and a line with the reason, where there is no path, no browser or no video.
fn ready() -> Option<(Yard, Video)> {
    let yard = Yard::enter().filter(|_| Viewer::is_there())?;
    Some((yard, Video::make("browser-video")?))
}

/// Plays the video beside the download: at its rate without a stall, and the rest of the link is the download's.
///
/// The browser, the path and all else share one machine, which may be too busy in one run and not in another.
fn is_well(yard: &Yard, video: &Video, play: impl Fn(&Cable) -> (Seen, f64)) {
    let well = (1..=3).any(|seed| {
        let cable = yard.lay(&LINE.scenario(seed));
        cable.before_all_else();
        let (seen, download) = play(&cable);
        cable.end();
        let capacity = LINE.mbit as f64 * 1e6 * PAYLOAD;
        // A video has its rate, and a quarter more to get ahead; the start of a video may be faster.
        let rest = capacity - 1.25 * video.rate.as_bps() as f64;
        let (position, stalls, ahead) = (seen.position(), seen.stalls(), seen.most_ahead());
        println!(
            "{position:.1} s played, {stalls} stalls, {ahead:.1} s ahead; the download has {:.2} Mb/s of {:.2}",
            download / 1e6,
            rest / 1e6
        );
        assert!(download <= 1.02 * capacity, "{download}");
        position >= PLAYED && stalls == 0 && ahead >= AHEAD && download >= 0.8 * rest
    });
    assert!(well, "three times not");
}

/// The observations of the browser, and the rate of the download meanwhile, in bits a second.
fn beside_a_download(cable: &Cable, viewer: &Viewer<'_>) -> (Seen, f64) {
    let far = &cable.hosts.far;
    thread::scope(|scope| {
        let seen = scope.spawn(|| viewer.watch(far));
        let download = DOWNLOAD.run(cable)[0];
        (seen.join().expect("it has ended well"), download)
    })
}

/// `thalweg serve` at the near end.
fn serve(cable: &Cable, video: &Video, law: &[&str]) -> Running {
    let folder = video.folder.to_str().expect("UTF-8");
    let listen = format!("{NEAR}:0");
    let args = [&["serve", folder, "--listen", &listen], law].concat();
    cable.hosts.near.within(|| Ok::<_, Error>(Running::start(&args))).expect("it is there")
}

/// Plays the video from the page of `thalweg serve`, over HTTP/1.1.
fn from_the_page(cable: &Cable, video: &Video, name: &str, law: &[&str]) -> (Seen, f64) {
    let serving = serve(cable, video, law);
    let page = format!("http://{}/", serving.address("listening", "address"));
    let viewer = Viewer { name, page: &page, link: Some(Video::NAME), seconds: PLAYED, flags: &["--disable-quic"] };
    let (seen, download) = beside_a_download(cable, &viewer);
    came_by("http/1.1", &seen);
    (seen, download)
}

fn came_by(protocol: &str, seen: &Seen) {
    let protocols = seen.protocols(Video::NAME);
    assert!(!protocols.is_empty() && protocols.iter().all(|seen| *seen == protocol), "{protocols:?}");
    assert!(seen.complaints().is_empty(), "{:?}", seen.complaints());
}

#[test]
fn a_paced_video_in_a_browser() {
    let Some((yard, video)) = ready() else { return };
    is_well(&yard, &video, |cable| from_the_page(cable, &video, "paced", &["--law", "paced"]));
}

#[test]
fn a_video_over_http3_in_a_browser() {
    let Some((yard, video)) = ready() else { return };
    is_well(&yard, &video, |cable| {
        let serving = serve(cable, &video, &["--tls"]);
        let address = serving.address("listening", "address");
        // No authority signed the certificate, and no first answer over TCP announces QUIC.
        let quic = format!("--origin-to-force-quic-on={address}");
        let pin = serving.event("certificate")["pin"].as_str().expect("text").to_owned();
        let pin = format!("--ignore-certificate-errors-spki-list={pin}");
        let (page, flags) = (format!("https://{address}/"), [quic.as_str(), &pin]);
        let viewer = Viewer { name: "http3", page: &page, link: Some(Video::NAME), seconds: PLAYED, flags: &flags };
        let (seen, download) = beside_a_download(cable, &viewer);
        came_by("h3", &seen);
        (seen, download)
    });
}

#[test]
fn every_kind_of_video_in_a_browser() {
    let Some(yard) = Yard::enter().filter(|_| Viewer::is_there()) else { return };
    let Some(video) = Video::make("browser-page") else { return };
    // These stand before the videos that are played: the list is longer than the window.
    for nth in 0..30 {
        let other = video.folder.join(format!("another-{nth}.mp4"));
        let _ = fs::remove_file(&other);
        fs::hard_link(video.folder.join(Video::NAME), other).expect("the same disk");
    }
    let pieces = [video.in_pieces("hls", "list.m3u8"), video.in_pieces("dash", "manifest.mpd")];
    let cable = yard.lay(&LINE.scenario(1));
    let serving = serve(&cable, &video, &["--law", "paced"]);
    let page = format!("http://{}/", serving.address("listening", "address"));
    for (name, link) in [("mp4", Video::NAME), ("hls", &pieces[0]), ("dash", &pieces[1])] {
        let seen = Viewer { name, page: &page, link: Some(link), seconds: 5.0, flags: &[] }.watch(&cable.hosts.far);
        assert!(seen.position() >= 5.0 && seen.is_in_view(), "{name}: {}", seen.position());
        assert!(seen.complaints().is_empty(), "{name}: {:?}", seen.complaints());
    }
}

#[cfg(feature = "kernel")]
mod with_the_law {
    use super::*;
    use crate::common::wait_until;
    use crate::control::Control;
    use crate::nginx::Nginx;

    #[test]
    fn a_video_over_tcp_stream_in_a_browser() {
        let Some((yard, video)) = ready() else { return };
        let Some(control) = Control::load(&[]) else { return };
        is_well(&yard, &video, |cable| from_the_page(cable, &video, "tcp-stream", &["--name", control.name()]));
    }

    #[test]
    fn a_video_of_nginx_in_a_browser() {
        let Some((yard, video)) = ready() else { return };
        let rate = video.rate.as_bps();
        let Some(control) = Control::load(&["--port", &format!("8080={rate}bit")]) else { return };
        if !Nginx::is_there() {
            return;
        }
        let address = format!("{NEAR}:8080");
        let governed = |shown: &serde_json::Value| shown["local"] == address.as_str() && shown["rate_bps"] == rate;
        is_well(&yard, &video, |cable| {
            // The default of this namespace alone; the download names its own control.
            cable.hosts.near.set("ipv4/tcp_congestion_control", control.name()).expect("root may");
            let _nginx = Nginx::start(&cable.hosts.near, &video.folder, &address);
            let page = format!("http://{address}/");
            let viewer = Viewer { name: "nginx", page: &page, link: None, seconds: PLAYED, flags: &["--disable-quic"] };
            thread::scope(|scope| {
                let watching =
                    scope.spawn(|| wait_until("its connection", || control.connections().iter().any(governed)));
                let (seen, download) = beside_a_download(cable, &viewer);
                watching.join().expect("it was shown while it played");
                came_by("http/1.1", &seen);
                (seen, download)
            })
        });
    }
}

//! `thalweg serve` over TCP Stream in the kernel: the rate of each connection, which is 5/4 of the video's, and the
//! reports when the law is unloaded.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use crate::cable::Yard;
use crate::common::{Running, wait_until};
use crate::control::Control;

/// A folder of videos that every user may read.
fn folder() -> &'static str {
    static FOLDER: OnceLock<String> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("videos");
        fs::create_dir_all(&folder).expect("a folder");
        // 20 MB: more than the kernel buffers. A playlist of 8 s makes the rate 20 Mb/s.
        fs::write(folder.join("own.webm"), vec![7; 20_000_000]).expect("a file");
        fs::write(folder.join("part.ts"), vec![7; 20_000_000]).expect("a file");
        fs::write(folder.join("list.m3u8"), "#EXTM3U\n#EXTINF:8,\npart.ts\n").expect("a file");
        folder.into_os_string().into_string().expect("UTF-8")
    })
}

/// Requests a video, and reads its first bytes.
fn play(address: &str, video: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET /{video} HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
    stream.read_exact(&mut [0; 1000]).expect("a video");
    stream
}

#[test]
fn each_connection_has_the_rate_of_what_it_plays_until_the_law_is_gone() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let folder = folder();
    let args = ["serve", folder, "--listen", "127.0.0.1:0", "--name", control.name(), "--rate", "5mbit"];
    let serving = Running::start(&args);
    let opening = serving.event("listening");
    assert_eq!(opening["law"], control.name());
    let address = opening["address"].as_str().expect("an address");
    let shown = |stream: &TcpStream| -> Option<Value> {
        let peer = stream.local_addr().expect("connected").to_string();
        control.connections().into_iter().find(|shown| shown["local"] == address && shown["peer"] == peer.as_str())
    };
    let videos = [("own.webm", 5_000_000_u64), ("part.ts", 20_000_000)].map(|(video, bps)| (play(address, video), bps));
    for (stream, bps) in &videos {
        wait_until("its rate", || shown(stream).is_some_and(|shown| shown["rate_bps"] == bps * 5 / 4));
    }
    assert_eq!(control.run("unload", &[]).0, 0);
    let _without = play(address, "own.webm");
    let lost = serving.event("law_lost");
    let reason = lost["reason"].as_str().expect("text");
    assert_eq!(lost["why"], "unloaded");
    assert!(reason.contains(control.name()) && reason.ends_with("paced by this program instead"), "{reason}");
    serving.wait_for("pacing", |value| value["paced"] == 1);
    // Connections made after a law of this name is loaded again are under that law, at their rates.
    assert_eq!(control.run("load", &[]).0, 0);
    let again = play(address, "part.ts");
    assert_eq!(serving.event("law_back")["law"], control.name());
    wait_until("its rate", || shown(&again).is_some_and(|shown| shown["rate_bps"] == 25_000_000));
    // The same without any request in between.
    assert_eq!((control.run("unload", &[]).0, control.run("load", &[]).0), (0, 0));
    let again = play(address, "own.webm");
    assert_eq!(serving.event("law_back")["law"], control.name());
    wait_until("its rate", || shown(&again).is_some_and(|shown| shown["rate_bps"] == 6_250_000));
}

/// A connection under the law that turns to a download uses the system's own control for it, and the law again for the
/// video that it plays next.
#[test]
fn a_download_is_not_under_the_law() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let args = ["serve", folder(), "--listen", "127.0.0.1:0", "--name", control.name(), "--rate", "5mbit"];
    let serving = Running::start(&args);
    let opening = serving.event("listening");
    let address = opening["address"].as_str().expect("an address");
    let mut stream = TcpStream::connect(address).expect("it listens");
    let peer = stream.local_addr().expect("connected").to_string();
    let is_under_the_law = || control.connections().iter().any(|shown| shown["peer"] == peer.as_str());
    let mut ask = |file: &str| {
        write!(stream, "GET /{file} HTTP/1.1\r\nHost: a\r\nRange: bytes=0-9999999\r\n\r\n").expect("a request");
        let mut last = [0; 4];
        while last != *b"\r\n\r\n" {
            last.rotate_left(1);
            stream.read_exact(&mut last[3..]).expect("a head");
        }
        let is_under_the_law = is_under_the_law();
        stream.read_exact(&mut vec![0; 10_000_000]).expect("a body");
        is_under_the_law
    };
    assert_eq!(["part.ts", "part.ts?download", "part.ts"].map(&mut ask), [true, false, true]);
}

#[test]
fn a_law_that_is_loaded_while_videos_are_served_is_taken_up() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::named() else { return };
    let serving = Running::start(&["serve", folder(), "--listen", "127.0.0.1:0", "--name", control.name()]);
    assert_eq!(serving.event("listening")["law"], "paced");
    assert_eq!(serving.event("law_lost")["why"], "absent");
    assert_eq!(control.run("load", &[]).0, 0);
    // The law is looked for even without a request.
    assert_eq!(serving.event("law_back")["law"], control.name());
}

#[test]
fn who_gives_up_his_privileges_keeps_the_law_until_it_is_another() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let user = ["--user", "nobody", "--rate", "5mbit"];
    let args = [&["serve", folder(), "--listen", "127.0.0.1:0", "--name", control.name()][..], &user].concat();
    let serving = Running::start(&args);
    let opening = serving.event("listening");
    let address = opening["address"].as_str().expect("an address");
    for thread in fs::read_dir(format!("/proc/{}/task", serving.child.id())).expect("it runs") {
        let status = fs::read_to_string(thread.expect("a thread").path().join("status")).expect("it runs");
        let has = |name| status.lines().find_map(|line| line.strip_prefix(name)).expect("a line").trim().to_owned();
        assert_eq!((has("Uid:").as_str(), has("CapPrm:").as_str()), ("65534\t65534\t65534\t65534", "0000000000000000"));
        assert!(!has("Groups:").split(' ').any(|group| group == "0"), "{status}");
    }
    let _video = play(address, "own.webm");
    wait_until("its rate", || control.connections().iter().any(|shown| shown["rate_bps"] == 6_250_000));
    assert_eq!((control.run("unload", &[]).0, control.run("load", &[]).0), (0, 0));
    let _paced = play(address, "own.webm");
    assert_eq!(serving.event("law_lost")["why"], "denied");
    serving.wait_for("pacing", |value| value["paced"] == 1);
    assert!(control.connections().is_empty());
}

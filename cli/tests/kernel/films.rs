//! `thalweg serve` over TCP Stream in the kernel: who gets which rate, and what is said when the law goes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use serde_json::Value;

use crate::cable::Yard;
use crate::common::{Running, wait_until};
use crate::control::Control;

/// Asks for a film, and reads the first of it.
fn play(address: &str, film: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET /{film} HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
    stream.read_exact(&mut [0; 1000]).expect("a film");
    stream
}

#[test]
fn each_connection_has_the_rate_of_what_it_plays_until_the_law_is_gone() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("films");
    fs::create_dir_all(&folder).expect("a folder");
    // 20 MB: more than the kernel takes at once. A playlist of 8 s makes 20 Mb/s of it.
    fs::write(folder.join("own.webm"), vec![7; 20_000_000]).expect("a file");
    fs::write(folder.join("part.ts"), vec![7; 20_000_000]).expect("a file");
    fs::write(folder.join("list.m3u8"), "#EXTM3U\n#EXTINF:8,\npart.ts\n").expect("a file");
    let folder = folder.to_str().expect("UTF-8");
    let args = ["serve", folder, "--listen", "127.0.0.1:0", "--name", control.name(), "--rate", "5mbit"];
    let serving = Running::start(&args);
    let opening = serving.event("listening");
    assert_eq!(opening["law"], control.name());
    let address = opening["address"].as_str().expect("an address");
    let shown = |stream: &TcpStream| -> Option<Value> {
        let peer = stream.local_addr().expect("connected").to_string();
        control.connections().into_iter().find(|shown| shown["local"] == address && shown["peer"] == peer.as_str())
    };
    let films = [("own.webm", 5_000_000_u64), ("part.ts", 20_000_000)].map(|(film, bps)| (play(address, film), bps));
    for (stream, bps) in &films {
        wait_until("its rate", || shown(stream).is_some_and(|shown| shown["rate_bps"] == *bps));
    }
    assert_eq!(control.run("unload", &[]).0, 0);
    let _without = play(address, "own.webm");
    let lost = serving.event("law_lost");
    let reason = lost["reason"].as_str().expect("text");
    let expected =
        format!("this kernel has no {} any more; films over TCP are paced by this program instead", control.name());
    assert_eq!(reason, expected);
    serving.wait_for("pacing", |value| value["paced"] == 1);
}

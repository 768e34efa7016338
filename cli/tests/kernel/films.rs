//! `thalweg serve` over TCP Stream in the kernel: who gets which rate, which is 5/4 of the film's, and what is said when the law
//! goes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use crate::cable::Yard;
use crate::common::{Running, wait_until};
use crate::control::Control;

/// A folder of films that everybody may read.
fn folder() -> &'static str {
    static FOLDER: OnceLock<String> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("films");
        fs::create_dir_all(&folder).expect("a folder");
        // 20 MB: more than the kernel takes at once. A playlist of 8 s makes 20 Mb/s of it.
        fs::write(folder.join("own.webm"), vec![7; 20_000_000]).expect("a file");
        fs::write(folder.join("part.ts"), vec![7; 20_000_000]).expect("a file");
        fs::write(folder.join("list.m3u8"), "#EXTM3U\n#EXTINF:8,\npart.ts\n").expect("a file");
        folder.into_os_string().into_string().expect("UTF-8")
    })
}

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
    let films = [("own.webm", 5_000_000_u64), ("part.ts", 20_000_000)].map(|(film, bps)| (play(address, film), bps));
    for (stream, bps) in &films {
        wait_until("its rate", || shown(stream).is_some_and(|shown| shown["rate_bps"] == bps * 5 / 4));
    }
    assert_eq!(control.run("unload", &[]).0, 0);
    let _without = play(address, "own.webm");
    let lost = serving.event("law_lost");
    let expected =
        format!("this kernel has no {} any more; films over TCP are paced by this program instead", control.name());
    assert_eq!((&lost["why"], &lost["reason"]), (&"unloaded".into(), &expected.into()));
    serving.wait_for("pacing", |value| value["paced"] == 1);
    // Those that come after a law of this name is there again have that one, at their rates.
    assert_eq!(control.run("load", &[]).0, 0);
    let again = play(address, "part.ts");
    assert_eq!(serving.event("law_back")["law"], control.name());
    wait_until("its rate", || shown(&again).is_some_and(|shown| shown["rate_bps"] == 25_000_000));
    // The same where nobody has asked for anything in between.
    assert_eq!((control.run("unload", &[]).0, control.run("load", &[]).0), (0, 0));
    let again = play(address, "own.webm");
    assert_eq!(serving.event("law_back")["law"], control.name());
    wait_until("its rate", || shown(&again).is_some_and(|shown| shown["rate_bps"] == 6_250_000));
}

/// A connection under the law that turns to a download has the system's own control for it, and the law again for what it plays next.
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
        let head = stream.try_clone().expect("a second handle").bytes().map(|byte| byte.expect("a head"));
        let mut last = [0; 4];
        head.take_while(|byte| {
            last = [last[1], last[2], last[3], *byte];
            last != *b"\r\n\r\n"
        })
        .for_each(drop);
        let is_under_the_law = is_under_the_law();
        stream.read_exact(&mut vec![0; 10_000_000]).expect("a body");
        is_under_the_law
    };
    assert_eq!(["part.ts", "part.ts?download", "part.ts"].map(&mut ask), [true, false, true]);
}

#[test]
fn a_law_that_is_loaded_while_films_are_served_is_taken_up() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::named() else { return };
    let serving = Running::start(&["serve", folder(), "--listen", "127.0.0.1:0", "--name", control.name()]);
    assert_eq!(serving.event("listening")["law"], "paced");
    assert_eq!(serving.event("law_lost")["why"], "absent");
    assert_eq!(control.run("load", &[]).0, 0);
    // Nobody asks for a film: it is looked for all the same.
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
    let _film = play(address, "own.webm");
    wait_until("its rate", || control.connections().iter().any(|shown| shown["rate_bps"] == 6_250_000));
    assert_eq!((control.run("unload", &[]).0, control.run("load", &[]).0), (0, 0));
    let _paced = play(address, "own.webm");
    assert_eq!(serving.event("law_lost")["why"], "denied");
    serving.wait_for("pacing", |value| value["paced"] == 1);
    assert!(control.connections().is_empty());
}

//! `send --input exec:`: an encoder that follows its rate, as a command of the shell.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::stream::sink;
use crate::common::{Running, run, ts, wait_until};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Folder(std::env::temp_dir().join(format!("thalweg-{}-{name}", std::process::id())));
        std::fs::create_dir_all(&folder.0).expect("a temporary folder");
        std::fs::write(folder.path("ts"), ts::stream(200_000)).expect("a temporary file");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The rates in a file of lines `MILLISECONDS rate BITS_PER_SECOND`.
fn rates(log: &Path) -> Vec<(u64, f64)> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let rate = |line: &str| {
        let (at, rate) = line.split_once(" rate ")?;
        Some((at.parse().ok()?, rate.trim().parse().ok()?))
    };
    text.lines().filter_map(rate).collect()
}

/// A path of 6 Mb/s that falls to 2: the encoder is asked for less than 2 Mb/s within 2 s.
#[test]
fn encoder_is_asked_for_less_within_two_seconds_of_a_slower_path() {
    let folder = Folder::new("slower");
    let path = |rate: &str| {
        format!(
            "seed = 1\n[forward]\n[[forward.element]]\nkind = \"drop_tail\"\nrate = \"{rate}\"\nqueue = 25\n\
            [[forward.element]]\nkind = \"wire\"\ndelay = \"12ms\"\n[reverse]\n[[reverse.element]]\nkind = \"wire\"\ndelay = \"12ms\"\n"
        )
    };
    std::fs::write(folder.path("fast.toml"), path("6mbit")).expect("a file");
    std::fs::write(folder.path("slow.toml"), path("2mbit")).expect("a file");
    let (_sink, output) = sink("127.0.0.1:0");
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", &output]);
    let to = recv.address("listening", "address");
    let emulate = |file: &str, listen: &str| {
        Running::start(&["emulate", folder.path(file).to_str().expect("UTF-8"), "--listen", listen, "--to", &to])
    };
    let mut fast = emulate("fast.toml", "127.0.0.1:0");
    let access = fast.address("listening", "address");
    // The source has 3.8 Mb/s whatever it is asked for: what counts is the question.
    let log = folder.path("log");
    let command = format!(
        "exec:cat {} & while read line; do echo \"$(date +%s%3N) $line\" >> {}; done",
        folder.path("ts").display(),
        log.display()
    );
    let send = Running::start(&["send", "--rate", "tfrc", "--repair", "none", "--to", &access, "--input", &command]);
    send.event("connected");
    wait_until("a rate above 2 Mb/s", || rates(&log).last().is_some_and(|(_, bps)| *bps > 2.5e6));
    fast.interrupt();
    fast.succeeds();
    let _slow = emulate("slow.toml", &access);
    let changed = Instant::now();
    wait_until("a rate below 2 Mb/s", || rates(&log).last().is_some_and(|(_, bps)| *bps < 2e6));
    let took = changed.elapsed();
    println!("asked for less than 2 Mb/s after {took:.2?}: {:?}", rates(&log).last());
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn encoder_that_is_missing_is_reported_and_the_sender_goes_on() {
    let (_sink, output) = sink("127.0.0.1:0");
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", &output]);
    let to = recv.address("listening", "address");
    let mut send = Running::start(&["send", "--to", &to, "--input", "exec:exec /nonexistent/encoder 2>/dev/null"]);
    let warning = send.event("warning");
    let text = warning["text"].as_str().expect("a text");
    assert!(
        text.starts_with("input exec:exec /nonexistent/encoder")
            && text.ends_with("ended with exit code 127; starting it again in 1s"),
        "{text}"
    );
    send.interrupt();
    send.succeeds();
}

#[test]
fn program_that_does_not_exist_is_refused_at_the_start() {
    for (command, program) in [("nosuchencoder -o -", "nosuchencoder"), ("/no/such/encoder", "/no/such/encoder")] {
        let input = format!("exec:{command}");
        let (code, _, stderr) = run(&["send", "--to", "127.0.0.1:6000", "--input", &input]);
        let expected = format!("thalweg: input {input}: there is no program {program}; check its name and path\n");
        assert_eq!((code, stderr), (1, expected));
    }
}

#[test]
fn rates_of_an_encoder_need_one() {
    let refused = |more: &[&str]| {
        let (code, _, stderr) = run(&[&["send", "--to", "127.0.0.1:6000"], more].concat());
        assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
        stderr
    };
    assert!(refused(&["--input", "-", "--least", "1mbit"]).contains("--least needs an exec: input, not -"));
    assert!(refused(&["--input", "-", "--start-rate", "1mbit"]).contains("--start-rate needs an exec: input"));
    assert!(refused(&["--input", "exec:cat", "--least", "0bit"]).contains("--least"));
    assert!(refused(&["--input", "exec:"]).contains("has no command"));
    assert!(refused(&["--input", "exec:cat", "--loop"]).contains("--loop needs a file: input"));
}

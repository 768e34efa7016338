//! Wrong usage, and refusals by the machine: one line and an exit code.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, UdpSocket};

use crate::common::{self, Running, run, run_with};

/// The one line that `args` must fail with.
fn failure(args: &[&str], code: i32) -> String {
    let (actual, stdout, stderr) = run(args);
    assert_eq!((actual, stdout.as_str()), (code, ""), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    stderr.trim_end().to_owned()
}

fn send<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["send", "--input", "udp://127.0.0.1:0", "--to", "127.0.0.1:6000"], more].concat()
}

fn listen<'a>(listen: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["send", "--input", "udp://127.0.0.1:0", "--listen", listen], more].concat()
}

#[test]
fn every_verb_shows_an_example() {
    for verb in [
        "send", "recv", "tunnel", "pipe", "serve", "play", "emulate", "replay", "lab", "kernel", "keygen", "doctor",
        "share", "encode",
    ] {
        let (code, help, _) = run(&[verb, "--help"]);
        assert_eq!(code, 0, "{verb}");
        assert!(help.contains("Example") && help.contains(&format!("thalweg {verb}")), "{help}");
    }
}

#[test]
fn missing_arguments_show_the_usage() {
    let (code, stdout, stderr) = run(&[]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    for verb in [
        "send", "recv", "tunnel", "pipe", "serve", "play", "emulate", "replay", "lab", "kernel", "keygen", "doctor",
        "share", "encode",
    ] {
        assert!(stderr.contains(&format!("  {verb} ")), "{stderr}");
    }
}

#[test]
fn usage_errors_are_one_line_and_exit_with_2() {
    for (args, expected) in [
        (vec!["sned"], "unknown verb 'sned'"),
        (vec!["recv", "--listen", "127.0.0.1:0"], "--output <URL>"),
        (vec!["recv", "--listen", "localhost", "--output", "-"], "'localhost' is not HOST:PORT"),
        (vec!["recv", "--listen", "127.0.0.1:99999", "--output", "-"], "'127.0.0.1:99999' has a port above 65535"),
        (vec!["recv", "--listen", ":0", "--output", "http://a:1"], "'http://a:1' is not one of"),
        (
            vec!["recv", "--listen", ":0", "--output", "-", "--latency", "90"],
            "not a duration such as 90ms; units are ns, us, ms, s and min",
        ),
        (send(&["--fec-port", "0"]), "0 is not in 1 to 65535"),
        (send(&["--fec-port", "x"]), "not a whole number"),
        (send(&["--fec-port", "6000", "--plain-rtp"]), "'--fec-port <PORT>' cannot be used with '--plain-rtp'"),
        (send(&["--fec-port", "7", "--repair", "none"]), "--fec-port needs repair"),
        (send(&["--block", "20ms", "--repair", "none"]), "--block needs repair"),
        (send(&["--repair", "static"]), "'static' is not auto, none, static:N, geneva"),
        (send(&["--repair", "static:0"]), "1 to 200"),
        (send(&["--max-rate", "40"]), "not a rate such as 40mbit; units are bit, kbit, mbit and gbit"),
        (send(&["--set", "p_max"]), "NAME=VALUE"),
        (send(&["--set", "speed=1"]), "'speed'; expected one of price"),
        (send(&["--repair", "geneva", "--set", "speed=1"]), "'speed'; expected one of syn, "),
        (send(&["--repair", "auto", "--block", "20ms"]), "--block needs blocks, not --repair auto"),
        (send(&["--set", "k=25"]), "k follows the source"),
        // GENEVA §3.2.4: with b = 0.04, p_max must stay above 1.5 b^2 = 0.0024.
        (send(&["--repair", "geneva", "--set", "p_max=0.0024"]), "1.5 b^2"),
        (send(&["--repair", "none", "--set", "b=0.05"]), "--set"),
        (
            send(&["--repair", "geneva", "--set", "b=1e-9", "--set", "p_max=1"]),
            "W0 = 2 lies on the pole a / p_max = 2 of i(W)",
        ),
        (send(&["--block", "100ms", "--latency", "90ms"]), "--block: longer than the latency"),
        (send(&["--latency", "soon"]), "not a duration such as 90ms"),
        (send(&["--latency", "1ms"]), "must be between 5ms and 10s"),
        (send(&["--plain-rtp", "--latency", "auto"]), "with --plain-rtp use a time such as 90ms"),
        (send(&["--fec-port", "7", "--latency", "auto"]), "with --fec-port use a time such as 90ms"),
        (send(&["--loop"]), "--loop needs a file:"),
        (send(&["--timeout", "0s"]), "above zero"),
        (send(&["--retry", "sometimes"]), "always, never"),
        (send(&["--key-file", "k", "--plain-rtp"]), "--plain-rtp is for RTP in the clear"),
        (send(&["--key-file", "k", "--sdp", "-"]), "--sdp is for RTP in the clear"),
        (send(&["--key-file", "k", "--fec-port", "7000"]), "--fec-port is for RTP in the clear"),
        (send(&["--quiet", "--json"]), "'--quiet' cannot be used with '--json'"),
        (vec!["recv", "--listen", ":0", "--output", "-", "--append"], "--append need a file: output"),
        (vec!["kernel", "load", "--rate", "1001gbit"], "between 1bit and 1000gbit"),
        (vec!["kernel", "load", "--port", "8080"], "PORT=RATE"),
        (vec!["kernel", "load", "--port", "80=1mbit", "--port", "80=2mbit"], "kernel: --port 80 is given twice"),
        (vec!["kernel", "load", "--name", "sixteen__letters"], "1 to 15 letters"),
        (vec!["kernel", "load", "--thresholds", "reno"], "paper, vegas"),
        (send(&["--bind", "[::1]:0"]), "one is IPv4, one IPv6"),
        (vec!["send", "--input", "udp://127.0.0.1:6000", "--to", "127.0.0.1:6000"], "leads back to --input udp://127"),
        (vec!["recv", "--listen", ":6000", "--output", "rtp://127.0.0.1:6000"], "leads back to --listen 0.0.0.0:6000"),
        (vec!["recv", "--listen", ":0", "--output", "-", "--output", "-"], "--output - is given twice"),
        (vec!["play", "--output", "-", "--output", "-", "rtsp://a/b"], "play: --output - is given twice"),
        (vec!["play", "--exec", "cat", "--append", "rtsp://a/b"], "--append need a file: output"),
        (
            vec!["play", "--output", "file:Cargo.toml", "rtsp://a/b"],
            "--output file:Cargo.toml: file exists; replace it",
        ),
    ] {
        expect_wrong_use(&args, expected);
    }
}

#[test]
fn options_of_an_end_that_calls_and_of_one_that_is_called_exclude_each_other() {
    for (args, expected) in [
        (send(&["--listen", ":0"]), "'--to <HOST:PORT>' cannot be used with '--listen <HOST:PORT>'"),
        (send(&["--public"]), "send: --public is for --listen; omit it"),
        (
            listen("0.0.0.0:0", &[]),
            "send: --listen 0.0.0.0:0: without a key, the media goes to anyone who calls; add --key-file",
        ),
        (listen("[::]:0", &[]), "or --public to allow that"),
        (listen(":0", &["--public", "--key-file", "k"]), "'--public' cannot be used with '--key-file <FILE>'"),
        (listen(":0", &["--plain-rtp"]), "cannot be used with '--plain-rtp'"),
        (listen(":0", &["--fec-port", "7000"]), "cannot be used with '--fec-port <PORT>'"),
        (listen(":0", &["--sdp", "-"]), "cannot be used with '--sdp <FILE>'"),
        (listen(":0", &["--bind", "127.0.0.1:0"]), "cannot be used with '--bind <HOST:PORT>'"),
        (vec!["send", "--input", "-"], "--to <HOST:PORT> or --listen <HOST:PORT>"),
        (vec!["recv", "--output", "-"], "--listen <HOST:PORT> or --call <HOST:PORT>"),
        (vec!["recv", "--call", ":6000", "--output", "-"], "recv: --call :6000: needs a host and a port"),
        (vec!["recv", "--call", "a:6000", "--output", "-", "--hold", "1s"], "cannot be used with '--hold <TIME>'"),
        (vec!["recv", "--call", "a:1", "--output", "-", "--allow", "::/0"], "cannot be used with '--allow <CIDR>'"),
    ] {
        expect_wrong_use(&args, expected);
    }
}

#[test]
#[cfg(not(feature = "gstreamer"))]
fn encode_without_gstreamer_names_the_feature() {
    let line = failure(&["encode", "tv.pipeline"], 2);
    assert!(line.starts_with("thalweg: encode: this thalweg was built without the feature `gstreamer`; "), "{line}");
}

#[test]
fn malformed_addresses_and_numbers_are_refused_before_opening() {
    for (args, expected) in [
        (send(&["--latency", "-1ms"]), "invalid value '-1ms' for '--latency': must not be negative"),
        (send(&["--rate", "fixed:0bit"]), "fixed"),
        (send(&["--rate", "bbr"]), "bbr"),
        (send(&["--max-rate", "-1mbit"]), "invalid value '-1mbit' for '--max-rate'"),
        (vec!["play", "--control", "none", "--max-rate", "1mbit", "rtsp://a/b"], "--max-rate and --fair do not bound"),
        (vec!["emulate", "--seed", "-1", "x.toml"], "invalid value '-1' for '--seed': must not be negative"),
        (send(&["--metrics", "99999"]), "'99999' has a port above 65535"),
        (send(&["--metrics", ":99999"]), "':99999' has a port above 65535"),
        (send(&["--metrics", "localhost"]), "'localhost' is not HOST:PORT"),
        (vec!["demo", "--scheme", "none,geneva,none"], "--scheme none is given twice"),
        (vec!["recv", "--listen", ":0", "--output", "udp://127.0.0.1:0"], "needs a host and a port"),
        (vec!["recv", "--listen", ":0", "--output", "udp://127.0.0.1:5?ttl=3"], "is not a multicast group"),
        (vec!["recv", "--listen", ":0", "--output", "udp://[::1]:5?iface=lo"], "is not a multicast group"),
        (vec!["recv", "--listen", ":0", "--output", "file:a.ts?loop"], "only an input can be looped"),
        (vec!["send", "--input", "udp://239.1.1.1:5?ttl=3", "--to", "127.0.0.1:6000"], "ttl cannot be used"),
        (
            vec!["send", "--input", "-", "--to", "239.1.1.1:5", "--plain-rtp", "--rate", "tfrc"],
            "not the multicast group 239.1.1.1:5",
        ),
        (vec!["send", "--input", "-", "--to", "127.0.0.1:6000?ttl=3"], "is not a multicast group"),
    ] {
        expect_wrong_use(&args, expected);
    }
}

/// Expects one line with the error and the command that shows the right usage.
fn expect_wrong_use(args: &[&str], expected: &str) {
    let line = failure(args, 2);
    assert!(line.starts_with("thalweg: ") && line.contains(expected), "{line}");
    let verbs = args.iter().take_while(|word| !word.starts_with('-') && **word != "sned");
    let manual: String = verbs.fold("thalweg".to_owned(), |line, verb| format!("{line} {verb}")) + " --help";
    assert!(line.ends_with(&format!("; see {manual}")), "{line}");
}

#[test]
fn failures_are_one_line_and_exit_with_1() {
    let to = ["--to", "127.0.0.1:6000"];
    for (args, expected) in [
        ([&["send", "--input", "file:/no/such.ts"][..], &to].concat(), "input file:/no/such.ts: no such file"),
        ([&["send", "--input", "file:/"][..], &to].concat(), "input file:/: is a directory"),
        (vec!["send", "--input", "-", "--to", "no-such-host.invalid:1"], "no-such-host.invalid"),
        (
            vec!["demo", "--input", "../assets/clip.ts", "--scenario", "no/such.toml"],
            "demo: no/such.toml: cannot be read: no such file",
        ),
        (send(&["--bind", "192.0.2.1:0"]), "sending from 192.0.2.1:0"),
        (send(&["--key-file", "no/such"]), "key file no/such: no such file"),
        (vec!["recv", "--listen", ":0", "--output", "-", "--key-file", "no/such"], "key file no/such: no such file"),
        (vec!["recv", "--listen", "192.0.2.1:0", "--output", "-"], "listening on 192.0.2.1:0"),
        (vec!["recv", "--listen", "127.0.0.1:0", "--output", "file:/no/such/out.ts"], "output file:/no/such/out.ts"),
        (vec!["recv", "--listen", "127.0.0.1:0", "--output", "udp://239.1.1.1:5000?iface=nope0"], "nope0"),
    ] {
        let line = failure(&args, 1);
        assert!(line.starts_with("thalweg: ") && line.contains(expected), "{line}");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let (udp, tcp) = (udp.local_addr().expect("bound").to_string(), tcp.local_addr().expect("bound").to_string());
    let input = format!("udp://{udp}");
    for (args, taken) in [
        (vec!["recv", "--listen", &udp, "--output", "-"], &udp),
        (vec!["send", "--input", &input, "--to", "127.0.0.1:6000"], &udp),
        (vec!["recv", "--listen", "127.0.0.1:0", "--output", "-", "--metrics", &tcp], &tcp),
        (vec!["serve", ".", "--rtsp", &tcp], &tcp),
    ] {
        let line = failure(&args, 1);
        assert!(line.contains(taken.as_str()) && line.contains("address already in use"), "{line}");
    }
}

#[test]
fn non_ts_file_is_refused_in_one_line() {
    let path = std::env::temp_dir().join(format!("thalweg-text-{}", std::process::id()));
    let input = format!("file:{}", path.display());
    for (contents, expected) in invalid_inputs() {
        std::fs::write(&path, contents).expect("a temporary file");
        // The error is found without any answer from a receiver.
        let named = run(&["send", "--input", &input, "--to", "127.0.0.1:6000"]);
        let looped = run(&["send", "--input", &input, "--loop", "--to", "127.0.0.1:6000"]);
        let file = std::fs::File::open(&path).expect("just written");
        std::fs::remove_file(&path).expect("it was there");
        let redirected = run_with(&["send", "--input", "-", "--to", "127.0.0.1:6000"], file.into());
        for ((code, _, stderr), name) in [(named, &*input), (looped, &input), (redirected, "-")] {
            assert_eq!(code, 1, "{stderr}");
            assert!(stderr.starts_with(&format!("thalweg: input {name}: ")) && stderr.contains(expected), "{stderr}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
    }
}

/// Contents that are no video, and the error of each. Packets without a clock (PCR) cannot be paced.
fn invalid_inputs() -> Vec<(Vec<u8>, &'static str)> {
    let packet = [&[0x47, 0x01, 0x00, 0x10][..], &[0; 184]].concat();
    let text = |len| "not a video\n".bytes().cycle().take(len).collect();
    let mut inputs: Vec<_> = [100, 10_000, 55_000, 110_000].map(|len| (text(len), "not MPEG-TS")).into();
    // ISO/IEC 13818-1's 188 bytes after a time stamp of four, and before the 16 of Reed-Solomon of EN 300 429.
    inputs.push(([&[0; 4][..], &packet].concat().repeat(300), "packets of 192 bytes, not of 188"));
    inputs.push(([&packet[..], &[0; 16]].concat().repeat(300), "packets of 204 bytes, not of 188"));
    inputs.extend([(Vec::new(), "empty"), (packet.repeat(50), "(PCR)"), (packet.repeat(1000), "(PCR)")]);
    inputs
}

#[test]
fn interrupted_receiver_prints_last_figures_and_succeeds() {
    let mut recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "-"]);
    recv.event("listening");
    recv.interrupt();
    let last = recv.wait_for("last figures", |value| value["event"].is_null());
    assert_eq!(last["side"], "recv");
    recv.succeeds();
}

#[test]
fn input_at_a_free_port_prints_the_port() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["send", "--input", "udp://127.0.0.1:0", "--to", "127.0.0.1:9"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("text");
    child.kill().and_then(|()| child.wait()).expect("it still runs");
    let port = line.split_once("sending udp://127.0.0.1:0 (port ").and_then(|(_, rest)| rest.split_once(')'));
    assert!(port.is_some_and(|(port, _)| port.parse::<u16>().is_ok_and(|port| port > 0)), "{line}");
}

#[test]
fn quiet_prints_only_problems_and_otherwise_a_summary_ends_the_run() {
    let free = UdpSocket::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound").to_string();
    let args = ["send", "--input", "udp://127.0.0.1:0", "--to", &free, "--timeout", "1500ms"];
    let (code, _, stderr) = run(&[&args[..], &["--quiet"]].concat());
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(code == 1 && lines.len() == 2 && lines[0].starts_with("waiting for a receiver at "), "{stderr}");
    assert!(lines[1].starts_with(&format!("thalweg: sending to {free}: no receiver answered")), "{stderr}");
    let (code, _, stderr) = run(&args);
    assert!(code == 1 && stderr.contains("\nwaiting for a receiver at ") && !stderr.contains('\x1b'), "{stderr}");

    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("text");
    common::signal(&child, rustix::process::Signal::INT);
    let rest: Vec<String> = stderr.lines().map_while(Result::ok).collect();
    assert!(child.wait().expect("it ends").success(), "{rest:?}");
    assert!(rest.last().is_some_and(|last| last.contains(" in all  media 0 B in 0 datagrams")), "{rest:?}");
}

#[test]
fn an_empty_standard_input_is_refused_in_one_line() {
    let line = failure(&["send", "--input", "-", "--to", "127.0.0.1:6000"], 1);
    assert_eq!(line, "thalweg: input -: empty");
}

/// The content of a pipe is known only when it arrives, perhaps after the opening line; there are no figures then.
#[test]
fn non_ts_pipe_is_refused_without_figures() {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let writing = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        writer.write_all(&[b'x'; 10_000]).expect("it is read");
    });
    let (code, _, stderr) = run_with(&["send", "--input", "-", "--to", "127.0.0.1:6000"], reader.into());
    writing.join().expect("the writer");
    assert_eq!(code, 1, "{stderr}");
    let error = "thalweg: input -: not MPEG-TS";
    let others: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("sending - to ")).collect();
    assert!(others.len() == 1 && others[0].starts_with(error), "{stderr}");
}

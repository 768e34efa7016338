//! `thalweg emulate` as a process: its exit codes, its messages, its counters.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

fn thalweg(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("emulate").args(args).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).stderr(Stdio::piped());
    command
}

fn fails(args: &[&str]) -> (Option<i32>, String) {
    let output = thalweg(args).output().expect("the binary runs");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).expect(line)
}

#[test]
fn emulator_relays_counts_and_exits_cleanly_on_interrupt() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    server.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let to = server.local_addr().expect("bound").to_string();
    let mut child =
        thalweg(&["scenarios/gilbert.toml", "--listen", "127.0.0.1:0", "--to", &to, "--seed", "7", "--json"])
            .spawn()
            .expect("the binary runs");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("a first line");
    let start = json(&line);
    assert_eq!((&start["event"], &start["seed"]), (&"listening".into(), &"7".into()));

    let client = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = start["address"].as_str().expect("an address");
    for mark in 0..20u8 {
        client.send_to(&[mark], at).expect("sent");
    }
    // A burst may take some of them, but not all.
    server.recv_from(&mut [0; 10]).expect("a datagram comes through");
    interrupt(&child);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));

    let end = json(rest.lines().last().expect("a last line"));
    assert_eq!((&end["side"], &end["clients"]), (&"emulate".into(), &1.into()));
    let forward = &end["forward"];
    let (lost, flying) = (&forward["elements"]["gilbert_elliott"]["lost_packets_total"], &forward["queued_packets"]);
    let sum: u64 = [&forward["sent_packets_total"], lost, flying].iter().filter_map(|count| count.as_u64()).sum();
    assert_eq!(forward["received_packets_total"].as_u64(), Some(sum), "{end}");
}

#[test]
fn built_in_scenarios_run_without_a_checkout() {
    for name in ["demo", "gilbert"] {
        let mut child = thalweg(&[name, "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--json"])
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .spawn()
            .expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a first line");
        interrupt(&child);
        assert_eq!(json(&line)["event"], "listening", "{name}");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{name}");
    }
}

#[test]
fn tun_device_needs_root() {
    if rustix::process::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
        println!("skipped: we are root, or there is no /dev/net/tun");
        return;
    }
    let message = "thalweg: emulate: TUN device near: needs root (CAP_NET_ADMIN)\n";
    assert_eq!(fails(&["scenarios/demo.toml", "--tun", "near", "--tun-to", "far"]), (Some(1), message.into()));
}

#[test]
fn errors_are_reported_in_one_line() {
    let holder = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let taken = holder.local_addr().expect("bound").to_string();
    let demo = "scenarios/demo.toml";
    let cases: [(&[&str], i32, String); 7] = [
        (
            &["no/such.toml", "--listen", ":0", "--to", "127.0.0.1:9"],
            1,
            "thalweg: emulate: no/such.toml: cannot be read: no such file or directory\n".into(),
        ),
        (
            &["gilbrt", "--listen", ":0", "--to", "127.0.0.1:9"],
            1,
            "thalweg: emulate: gilbrt: cannot be read: no such file or directory; built-in scenarios are demo, gilbert, share\n"
                .into(),
        ),
        (
            &["scenarios/data/recorded.csv", "--listen", ":0", "--to", "127.0.0.1:9"],
            1,
            "thalweg: emulate: scenarios/data/recorded.csv:1: ".into(),
        ),
        (
            &[demo, "--listen", &taken, "--to", "127.0.0.1:9"],
            1,
            format!("thalweg: emulate: listening on {taken}: address already in use\n"),
        ),
        (
            &[demo, "--listen", ":0", "--to", "127.0.0.1:0"],
            2,
            "thalweg: emulate: --to 127.0.0.1:0: needs a host and a port".into(),
        ),
        (
            &[demo, "--listen", ":6000", "--to", "127.0.0.1:6000"],
            2,
            "thalweg: emulate: --to 127.0.0.1:6000: leads back to --listen 0.0.0.0:6000".into(),
        ),
        (
            &[demo, "--tun", "near", "--tun-to", "near"],
            2,
            "thalweg: emulate: --tun and --tun-to are both near".into(),
        ),
    ];
    for (args, code, message) in cases {
        let (seen, text) = fails(args);
        assert!(text.starts_with(&message) && text.lines().count() == 1, "{args:?}: {text}");
        assert_eq!(text.ends_with("; see thalweg emulate --help\n"), code == 2, "{args:?}: {text}");
        assert_eq!(seen, Some(code), "{args:?}");
    }
    let wrong: [&[&str]; 5] = [
        &[demo, "--listen", "nowhere"],
        &[demo],
        &[demo, "--tun", "near"],
        &[demo, "--tun", "near", "--tun-to", "a name"],
        &[demo, "--tun", "near", "--tun-to", "far", "--listen", ":0", "--to", "127.0.0.1:9"],
    ];
    for args in wrong {
        assert_eq!(fails(args).0, Some(2), "{args:?}");
    }
}

/// Each `--listen` has a `--to`, and each station of a cell has one of these pairs.
#[test]
fn pairs_that_do_not_fit_are_reported_in_one_line() {
    let cases: [(&[&str], &str); 2] = [
        (
            &["scenarios/demo.toml", "--listen", ":0", "--to", "127.0.0.1:9", "--listen", ":0"],
            "--listen: given 2 times, but --to 1 times; give each --listen a --to",
        ),
        (
            &["scenarios/wifi.toml", "--listen", ":0", "--to", "127.0.0.1:9"],
            "--listen: 1 with its --to, but scenarios/wifi.toml has 3 stations; give one for each, in its order",
        ),
    ];
    for (args, message) in cases {
        let expected = format!("thalweg: emulate: {message}; see thalweg emulate --help\n");
        assert_eq!(fails(args), (Some(2), expected), "{args:?}");
    }
}

/// A folder of this name with files of these texts.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in files {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    folder
}

#[test]
fn endless_files_are_refused_in_one_line() {
    let link = |trace: &str| {
        format!(
            "seed = 1\n[[forward.element]]\nkind = \"trace_link\"\ntrace = \"{trace}\"\nqueue = \"1MB\"\n[reverse]\n"
        )
    };
    let folder = folder("emulate-endless", &[("zero.toml", &link("/dev/zero")), ("text.toml", &link("text.csv"))]);
    std::fs::write(folder.join("text.csv"), b"\xff").expect("a file");
    let name = |file: &str| folder.join(file).to_str().expect("UTF-8").to_owned();
    for (file, message) in [
        ("/dev/zero".to_owned(), "thalweg: emulate: /dev/zero: cannot be read: longer than 1048576 bytes\n".to_owned()),
        (
            name("zero.toml"),
            format!(
                "thalweg: emulate: {}:4: '/dev/zero' cannot be read: longer than 268435456 bytes",
                name("zero.toml")
            ),
        ),
        (name("text.toml"), format!("thalweg: emulate: {}:4: 'text.csv' cannot be read: not ", name("text.toml"))),
    ] {
        let (code, text) = fails(&[&file, "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
        assert!(text.starts_with(&message) && text.lines().count() == 1, "{text}");
        assert_eq!(code, Some(1));
    }
}

#[test]
fn control_characters_in_scenario_names_are_escaped() {
    let scenario = |name: &str, kind: &str| {
        format!("seed = 1\n[[forward.element]]\nkind = \"{kind}\"\nname = \"{name}\"\nrate = 0.0\n[reverse]\n")
    };
    let evil = "\\u001b[2J\\nforged: 7 packets \\u202e";
    let folder =
        folder("emulate-names", &[("name.toml", &scenario(evil, "loss")), ("kind.toml", &scenario("a", evil))]);
    let name = |file: &str| folder.join(file).to_str().expect("UTF-8").to_owned();
    let mut child = thalweg(&[&name("name.toml"), "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"])
        .spawn()
        .expect("the binary runs");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut text = String::new();
    stderr.read_line(&mut text).expect("a first line");
    interrupt(&child);
    stderr.read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let (_, kind) = fails(&[&name("kind.toml"), "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
    assert_eq!(kind.lines().count(), 1, "{kind}");
    for text in [text, kind] {
        assert!(text.contains("\\u{1b}[2J\\nforged: 7 packets \\u{202e}"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\nforged"), "{text}");
    }
}

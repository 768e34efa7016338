//! Errors, each reported in one clear line.

use std::fs::{self, Permissions};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;

use thalweg_core::wire::secure::VERSION;

use crate::common::{Running, run};
use crate::tunnel::stage::{file, key};

/// The one line that `args` must fail with.
fn failure(args: &[&str], code: i32) -> String {
    let (actual, stdout, stderr) = run(args);
    assert_eq!((actual, stdout.as_str()), (code, ""), "{args:?}: {stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("thalweg: ")).collect();
    assert_eq!(lines.len(), 1, "{args:?}: {stderr}");
    // Beside that line there is at most the opening one.
    assert!(stderr.lines().count() <= 2, "{args:?}: {stderr}");
    lines[0].to_owned()
}

/// The same for a failure before the opening line.
fn refusal(args: &[&str], code: i32) -> String {
    let line = failure(args, code);
    assert_eq!(run(args).2.lines().count(), 1, "{line}");
    line
}

fn connect<'a>(verb: &str, server: &'a str, key: &'a str) -> Vec<&'a str> {
    match verb {
        "pipe" => vec!["pipe", "connect", server, "--key-file", key],
        _ => vec!["tunnel", "connect", server, "--local", "127.0.0.1:0", "--key-file", key],
    }
}

#[test]
fn wrong_key_is_reported_by_both_verbs() {
    let (ours, theirs) = (key("ours"), key("theirs"));
    let args = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--key-file", &ours];
    let serve = Running::start(&args);
    let server = serve.address("listening", "address");
    let tried: Vec<_> = ["pipe", "tunnel"]
        .map(|verb| {
            let args: Vec<String> = connect(verb, &server, &theirs).iter().map(ToString::to_string).collect();
            std::thread::spawn(move || failure(&args.iter().map(String::as_str).collect::<Vec<_>>(), 1))
        })
        .into();
    for line in tried.into_iter().map(|thread| thread.join().expect("one line")) {
        assert!(line.contains(&server) && line.contains("do both key files match"), "{line}");
    }
    // At least one hello of each; no event is about unknown peers.
    serve.wait_for("count", |row| {
        assert!(row["event"].is_null(), "{row}");
        row["rejected_hellos_total"].as_u64() >= Some(2)
    });
}

#[test]
fn missing_server_is_reported() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let server = socket.local_addr().expect("bound").to_string();
    let line = failure(&connect("pipe", &server, &key("nobody")), 1);
    assert!(line.contains(&server) && line.contains("no answer"), "{line}");
}

#[test]
fn other_protocol_version_is_reported() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let server = socket.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        let mut hello = [0; 1500];
        while let Ok((_, from)) = socket.recv_from(&mut hello) {
            // docs/wire.md: kind 4, the version that is spoken here, the id of the hello.
            let refusal = [&[4, VERSION + 1], &hello[2..10]].concat();
            socket.send_to(&refusal, from).expect("loopback takes it");
        }
    });
    let line = failure(&connect("tunnel", &server, &key("version")), 1);
    assert!(line.contains(&format!("version {} of the protocol", VERSION + 1)), "{line}");
}

/// A relay changes the version, the second byte of hello and refusal (docs/wire.md): to the server the client is older
/// by one, and to the client the server is newer by one.
#[test]
fn older_client_reports_the_version_of_the_server() {
    let key = key("older");
    let args = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--key-file", &key];
    let serve = Running::start(&args);
    let server = serve.address("listening", "address");
    let [near, far] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a free port"));
    let at = near.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        let (mut buf, mut answer) = ([0; 1500], [0; 1500]);
        while let Ok((len, from)) = near.recv_from(&mut buf) {
            assert_eq!(buf[..2], [1, VERSION]);
            buf[1] = VERSION - 1;
            far.send_to(&buf[..len], &server).expect("loopback takes it");
            let len = far.recv(&mut answer).expect("an answer");
            assert_eq!((len, &answer[..2], &answer[2..10]), (10, &[4, VERSION][..], &buf[2..10]));
            answer[1] = VERSION + 1;
            near.send_to(&answer[..len], from).expect("loopback takes it");
        }
    });
    let line = failure(&connect("tunnel", &at, &key), 1);
    let theirs = format!("version {} of the protocol", VERSION + 1);
    assert!(line.contains(&theirs) && line.contains(&format!("version {VERSION}")), "{line}");
    serve.wait_for("count", |row| row["rejected_hellos_total"].as_u64() >= Some(1));
}

#[test]
fn truncated_key_file_is_named() {
    let path = file("cut.key");
    fs::write(&path, "thalweg-key 1 shared\nsecret 00ff").expect("a temporary file");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("our own");
    let name = path.to_str().expect("a name");
    let line = refusal(&connect("tunnel", "127.0.0.1:9", name), 1);
    assert!(line.starts_with(&format!("thalweg: key file {name}: line 2 has 4 digits")), "{line}");
}

#[test]
fn a_port_in_use_is_named() {
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let (udp, tcp) = (udp.local_addr().expect("bound").to_string(), tcp.local_addr().expect("bound").to_string());
    let key = key("ports");
    for (args, taken) in [
        (vec!["tunnel", "serve", "--listen", &udp, "--to", "127.0.0.1:9", "--key-file", &key], &udp),
        (vec!["pipe", "serve", "--listen", &udp, "--key-file", &key], &udp),
        (vec!["tunnel", "connect", "127.0.0.1:9", "--local", &tcp, "--key-file", &key], &tcp),
    ] {
        let line = refusal(&args, 1);
        assert!(line.contains(taken.as_str()) && line.contains("address already in use"), "{line}");
    }
}

#[test]
fn usage_errors_are_one_line_and_exit_with_2() {
    let key = key("usage");
    let pipe = |more: &[&'static str]| -> Vec<String> {
        let args = ["pipe", "connect", "127.0.0.1:9", "--key-file", &key];
        args.iter().chain(more).map(ToString::to_string).collect()
    };
    for (args, expected) in [
        (pipe(&["--rate", "fast"]), "copa, cubic, newreno"),
        (pipe(&["--rate", "fixed:40"]), "'40' is not a rate such as 40mbit; units are"),
        (pipe(&["--rate", "fixed:-1mbit"]), "'-1mbit' is not a rate such as 40mbit; units are"),
        (pipe(&["--rate", "fixed:0bit"]), "--rate fixed:0bit: must be between 9.824kbit"),
        (pipe(&["--rate", "fixed:1bit"]), "--rate fixed:1bit: must be between 9.824kbit"),
        (pipe(&["--rate", "fixed:1001gbit"]), "and 1000gbit"),
        (pipe(&["--rate", "fixed:0.5bit"]), "'0.5bit' is not a rate of at least 1bit"),
        (pipe(&["--max-rate", "0.5bit"]), "'0.5bit' is not a rate of at least 1bit"),
        (pipe(&["--max-rate", "0mbit"]), "--max-rate 0bit: must be between 9.824kbit"),
        (pipe(&["--max-rate", "2.2kbit", "--mtu", "256"]), "between 2.272kbit (one packet of --mtu "),
        (pipe(&["--mtu", "100"]), "100 is not in 256 to 1500"),
        (pipe(&["--mtu", "large"]), "not a whole number"),
        (pipe(&["--max-overhead", "11"]), "between 0 and 10"),
        (pipe(&["--max-overhead", "-1"]), "between 0 and 10"),
        (pipe(&["--patience", "60"]), "units are"),
        (pipe(&["--patience", "0s"]), "between 1s and"),
    ] {
        let line = refusal(&args.iter().map(String::as_str).collect::<Vec<_>>(), 2);
        assert!(line.contains(expected) && line.ends_with("; see thalweg pipe connect --help"), "{line}");
    }
    let line = refusal(&["tunnel", "connect", ":7000", "--local", ":0", "--key-file", &key], 2);
    assert!(line.contains("a host and a port"), "{line}");
    let line = refusal(&["tunnel", "serve", "--listen", ":0", "--to", ":22", "--key-file", &key], 2);
    assert!(line.contains("a host and a port"), "{line}");
}

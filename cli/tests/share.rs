//! `thalweg share` as a process, with a `recv` for each stream, on loopback.

use std::net::UdpSocket;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::common::stream::sink;
use crate::common::{Running, TIMEOUT, run, scrape, signal, wait_until};

/// A configuration file that is removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let file = File(std::env::temp_dir().join(format!("thalweg-{}-{name}.toml", std::process::id())));
        file.write(text);
        file
    }

    fn write(&self, text: &str) {
        std::fs::write(&self.0, text).expect("a temporary file");
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A stream of a configuration.
fn stream(name: &str, to: &str, need: &str) -> String {
    format!("[[stream]]\nname = \"{name}\"\ninput = \"udp://127.0.0.1:0\"\nto = \"{to}\"\nneed = \"{need}\"\n")
}

/// A `recv`, its address, and the socket that its output reaches.
fn receiver() -> (Running, String, UdpSocket) {
    let (sink, output) = sink("127.0.0.1:0");
    sink.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", &output]);
    let address = recv.address("listening", "address");
    (recv, address, sink)
}

/// The input of a stream that begins.
fn input(share: &Running, name: &str) -> UdpSocket {
    let begun = share.wait_for("a stream", |line| line["event"] == "begun" && line["stream"] == name);
    let source = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    source.connect(begun["input_address"].as_str().expect("an address")).expect("loopback");
    source
}

fn expect_arrival(source: &UdpSocket, sink: &UdpSocket, text: &[u8]) {
    let mut bytes = [0; 100];
    // The first datagrams may come before the receiver has answered.
    sink.set_nonblocking(true).expect("a socket");
    wait_until("arrival", || {
        source.send(text).expect("loopback");
        sink.recv(&mut bytes).is_ok_and(|len| &bytes[..len] == text)
    });
}

#[test]
fn streams_arrive_at_their_receivers_and_a_changed_file_is_taken_up_on_sighup() {
    let receivers = [receiver(), receiver(), receiver()];
    let [(_, tv, _), (_, phone, _), (_, tablet, _)] = &receivers;
    let streams = |second: &str| stream("tv", tv, "3mbit") + second;
    let file = File::new("share", &streams(&stream("phone", phone, "1mbit")));
    let mut share = Running::start(&["share", file.path(), "--metrics", "127.0.0.1:0"]);
    let metrics = share.address("sharing", "metrics");
    let sources = [input(&share, "tv"), input(&share, "phone")];
    for (source, (_, _, sink), text) in
        [(&sources[0], &receivers[0], &b"for tv"[..]), (&sources[1], &receivers[1], b"for phone")]
    {
        expect_arrival(source, sink, text);
    }
    let figures = share.wait_for("figures", |line| line["stream"] == "phone" && line["need_bps"].is_number());
    assert_eq!((figures["need_bps"].as_f64(), figures["side"].as_str()), (Some(1e6), Some("share")));
    let page = scrape(&metrics);
    // A mean of 1 of multipliers of 3 : 1 is 1.5 and .5.
    for line in
        ["thalweg_alpha{side=\"share\",stream=\"tv\"} 2.25\n", "thalweg_alpha{side=\"share\",stream=\"phone\"} 0.25\n"]
    {
        assert!(page.contains(line), "{page}");
    }
    assert_eq!(page.matches("# TYPE thalweg_alpha gauge").count(), 1);

    file.write("[[stream]]\nname = 3\n");
    signal(&share.child, Signal::HUP);
    let warning = share.event("warning");
    let text = warning["text"].as_str().expect("a text");
    assert!(
        text.contains("name: must be text in quotes") && text.ends_with("the previous configuration stays"),
        "{text}"
    );

    file.write(&streams(&stream("tablet", tablet, "2mbit")));
    signal(&share.child, Signal::HUP);
    let tablet = input(&share, "tablet");
    expect_arrival(&tablet, &receivers[2].2, b"for tablet");
    expect_arrival(&sources[0], &receivers[0].2, b"for tv again");
    receivers[1].0.event("ended");
    share.interrupt();
    share.succeeds();
}

#[test]
fn wrong_configuration_is_one_line_and_exits_with_2() {
    let expect = |text: &str, code: i32, expected: &str| {
        let file = File::new("wrong", text);
        let (found, _, stderr) = run(&["share", file.path()]);
        let line = stderr.strip_prefix("thalweg: ").unwrap_or_else(|| panic!("{stderr}"));
        assert!(found == code && line.contains(expected) && line.lines().count() == 1, "{found}: {stderr}");
    };
    let to = "127.0.0.1:6000";
    expect("", 2, "stream: none is given");
    expect(&stream("tv", to, "0mbit"), 2, "stream 'tv': need: must be above zero");
    expect(&(stream("tv", to, "1mbit") + &stream("tv", "127.0.0.1:6001", "1mbit")), 2, "name: another stream has it");
    expect(&(stream("tv", to, "1mbit") + "colour = \"red\"\n"), 2, "colour: unknown key");
    expect(&stream("tv", "no-such-host.invalid:1", "1mbit"), 1, "no-such-host.invalid");
    expect(&stream("tv", to, "1mbit").replace("udp://127.0.0.1:0", "file:/no/such.ts"), 1, "input file:/no/such.ts");
}

#[test]
fn explanation_has_the_share_of_each_stream_and_sends_nothing() {
    let three = stream("tv", "127.0.0.1:6001", "9mbit")
        + &stream("laptop", "127.0.0.1:6002", "6mbit")
        + &stream("phone", "127.0.0.1:6003", "3mbit");
    let file = File::new("explained", &three);
    let (code, stdout, _) = run(&["share", file.path(), "--explain", "--capacity", "12mbit", "--rtt", "25ms"]);
    assert_eq!(code, 0);
    let row = |name: &str| {
        stdout.lines().find(|line| line.starts_with(name)).map(|line| line.split_whitespace().collect::<Vec<_>>())
    };
    // Two thirds of each need, and alpha is the square of a multiplier of 1.5, 1 and 0.5.
    for (name, cells) in
        [("tv", ["2.25", "6.00", "67%"]), ("laptop", ["1.00", "4.00", "67%"]), ("phone", ["0.25", "2.00", "67%"])]
    {
        let row = row(name).unwrap_or_else(|| panic!("{stdout}"));
        assert!(cells.iter().all(|cell| row.contains(cell)), "{row:?}");
    }
}

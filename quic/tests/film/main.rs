//! Films over QUIC: quinn's own ends, with the law as the server's controller, over the lab's links.

mod end;
mod pair;

use thalweg_core::law::window::tcp_stream::{Thresholds, Variant};
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;
use thalweg_lab::traffic::cbr::Cbr;
use thalweg_quic::{TcpStream, TcpStreamConfig};

use self::pair::Pair;

/// 20 Mb/s, 250 packets, 30 ms both ways together.
fn line() -> Path {
    Path::default()
        .then("link", DropTail::new(Rate::from_mbps(20), Limit::Packets(250)))
        .then("wire", Wire::new(Span::from_millis(15)))
}

fn back() -> Path {
    Path::default().then("wire", Wire::new(Span::from_millis(15)))
}

fn second(secs: u64) -> Time {
    Time::ZERO + Span::from_millis(1000 * secs)
}

fn mbps(bytes: Bytes, secs: u64) -> f64 {
    bytes.0 as f64 * 8.0 / secs as f64 / 1e6
}

/// What the law shows under a name.
fn show(control: &TcpStream, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    control.law().probe(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

#[test]
fn a_film_alone_takes_the_line_and_loses_nothing() {
    let mut pair = Pair::new(TcpStreamConfig::default(), line(), back());
    pair.run(second(5));
    let got = mbps(pair.run(second(15)), 10);
    // As much as is asked of the kernel's: 90 % of the link.
    assert!(got > 18.0, "{got} Mb/s");
    assert_eq!(pair.lost(), 0);
    let control = pair.control();
    assert!(control.law().delay_on());
}

#[test]
fn beside_traffic_that_leaves_it_its_rate_a_film_keeps_it() {
    let variant = Variant { thresholds: Thresholds::Vegas, ..Variant::default() };
    let config = TcpStreamConfig { variant, ..TcpStreamConfig::default() };
    let cross = Cbr::new(Rate::from_mbps(16), Bytes(1500));
    let mut pair = Pair::new(config, line().joined(cross, "link").expect("a link"), back());
    pair.run(second(5));
    let got = mbps(pair.run(second(15)), 10);
    // The link has 4 Mb/s left; the film is read at 3.6.
    assert!((3.6..4.0).contains(&got), "{got} Mb/s");
    assert_eq!(pair.lost(), 0);
}

#[test]
fn a_rate_told_later_lifts_the_ceiling_and_the_window_follows() {
    let mut pair = Pair::new(TcpStreamConfig::default(), line(), back());
    pair.run(second(5));
    let before = pair.control();
    before.play(Rate::from_bps(4 * 3_600_000));
    pair.run(second(12));
    let (old, new) = (show(&before, "lwnd"), show(&pair.control(), "lwnd"));
    // With the printed thresholds as many packets wait as the ceiling has: a film of R takes of a line of C a queue that
    // lengthens the round trip to C tau / (C - R). Found packets have 1452 bytes, 1480 on the wire and 1407 of film: R is
    // 3.79 and 15.15 Mb/s there, the round trip 37 and 124 ms, the ceiling 11.8 and 158 packets.
    assert!((11.0..=13.0).contains(&old), "{old} packets");
    assert!((142.0..=174.0).contains(&new), "{new} packets");
    assert_eq!(pair.lost(), 0);
}

#[test]
fn a_lossy_line_delays_a_film_and_changes_no_byte_of_it() {
    let rng = Rng::new(7);
    let lossy = line().then("loss", Loss::independent(0.01, rng.fork("forward")));
    let back = back().then("loss", Loss::independent(0.01, rng.fork("backward")));
    let mut pair = Pair::new(TcpStreamConfig::default(), lossy, back);
    let got = mbps(pair.run(second(20)), 20);
    // Mathis: 1200 bytes over 30 ms at 1 % are 1.22 * 0.32 / 0.1 = 3.9 Mb/s; half of it, for timeouts and start.
    assert!(pair.lost() > 50 && got > 2.0, "{got} Mb/s, {} lost", pair.lost());
}

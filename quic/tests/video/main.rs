//! Videos over QUIC: quinn's own endpoints, with TCP Stream as the server's controller, over the lab's links.

mod host;
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

/// The forward path: 20 Mb/s, a queue of 250 packets; the round trip with [`backward_path`] is 30 ms.
fn forward_path() -> Path {
    Path::default()
        .then("link", DropTail::new(Rate::from_mbps(20), Limit::Packets(250)))
        .then("wire", Wire::new(Span::from_millis(15)))
}

fn backward_path() -> Path {
    Path::default().then("wire", Wire::new(Span::from_millis(15)))
}

fn second(secs: u64) -> Time {
    Time::ZERO + Span::from_millis(1000 * secs)
}

fn mbps(bytes: Bytes, secs: u64) -> f64 {
    bytes.0 as f64 * 8.0 / secs as f64 / 1e6
}

/// The law's value of the name `wanted`; NaN if there is none.
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
fn video_alone_fills_the_link_without_loss() {
    let mut pair = Pair::new(TcpStreamConfig::default(), forward_path(), backward_path());
    pair.run(second(5));
    let got = mbps(pair.run(second(15)), 10);
    // The same bar as for the kernel's control: 90 % of the link.
    assert!(got > 18.0, "{got} Mb/s");
    assert_eq!(pair.lost(), 0);
    let control = pair.control();
    assert!(control.law().delay_on());
}

#[test]
fn video_keeps_its_rate_beside_cross_traffic() {
    let variant = Variant { thresholds: Thresholds::Vegas, ..Variant::default() };
    let config = TcpStreamConfig { variant, ..TcpStreamConfig::default() };
    let cross = Cbr::new(Rate::from_mbps(16), Bytes(1500));
    let mut pair = Pair::new(config, forward_path().joined(cross, "link").expect("a link"), backward_path());
    pair.run(second(5));
    let got = mbps(pair.run(second(15)), 10);
    // The cross traffic leaves 4 Mb/s; the video is played at 3.6.
    assert!((3.6..4.0).contains(&got), "{got} Mb/s");
    assert_eq!(pair.lost(), 0);
}

#[test]
fn raised_rate_raises_the_ceiling_and_the_window() {
    let mut pair = Pair::new(TcpStreamConfig::default(), forward_path(), backward_path());
    pair.run(second(5));
    let before = pair.control();
    before.play(Rate::from_bps(4 * 3_600_000));
    pair.run(second(12));
    let (old, new) = (show(&before, "lwnd"), show(&pair.control(), "lwnd"));
    // With the thresholds as printed, the queue holds as many packets as the ceiling: a video of rate R on a link of
    // rate C builds a queue that lengthens the round trip to C tau / (C - R). MTU discovery ends at packets of 1452
    // bytes, 1480 on the wire and 1407 of video: R is then 3.79 and 15.15 Mb/s, the round trip 37 and 124 ms, the
    // ceiling 11.8 and 158 packets.
    assert!((11.0..=13.0).contains(&old), "{old} packets");
    assert!((142.0..=174.0).contains(&new), "{new} packets");
    assert_eq!(pair.lost(), 0);
}

#[test]
fn video_arrives_intact_over_a_lossy_link() {
    let rng = Rng::new(7);
    let lossy = forward_path().then("loss", Loss::independent(0.01, rng.fork("forward")));
    let backward_path = backward_path().then("loss", Loss::independent(0.01, rng.fork("backward")));
    let mut pair = Pair::new(TcpStreamConfig::default(), lossy, backward_path);
    let got = mbps(pair.run(second(20)), 20);
    // Mathis: 1200 bytes over 30 ms at 1 % are 1.22 * 0.32 / 0.1 = 3.9 Mb/s; the bound is half, for timeouts and the
    // start.
    assert!(pair.lost() > 50 && got > 2.0, "{got} Mb/s, {} lost", pair.lost());
}

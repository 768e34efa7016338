//! The latency that both ends agree on, and say.

use serde_json::Value;

use crate::common::Running;

/// The reports with which both ends begin a stream.
fn begun(recv: &[&str], send: &[&str]) -> [Value; 2] {
    let recv = Running::start(&[&["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"], recv].concat());
    let to = recv.address("listening", "address");
    let send = Running::start(&[&["send", "--to", &to, "--input", "udp://127.0.0.1:0"], send].concat());
    [send.event("connected"), recv.event("started")]
}

#[test]
fn latency_follows_from_the_round_trip_unless_either_end_has_a_number() {
    for report in begun(&[], &[]) {
        let [latency, round_trip] = ["latency_seconds", "round_trip_seconds"].map(|key| report[key].as_f64().unwrap());
        let needed = round_trip / 2.0 + f64::max(0.04, 1.25 * round_trip);
        assert!((latency - needed).abs() < 1e-4, "{report}");
    }
    for (recv, send, latency) in [
        (&["--latency", "70ms"][..], &[][..], 0.07),
        (&[], &["--latency", "70ms"], 0.07),
        (&["--latency", "auto"], &["--repair", "geneva"], 0.09),
        (&[], &["--rate", "gca"], 0.09),
    ] {
        for report in begun(recv, send) {
            assert_eq!(report["latency_seconds"], latency, "{recv:?} {send:?}");
            assert!(report["round_trip_seconds"].is_null());
        }
    }
}

//! A run in progress hardly allocates memory: packets are plain values, and queues keep their capacity.

use std::path::Path;

use allocation_counter::measure;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::Run;
use thalweg_lab::scenario::Blueprint;

/// GENEVA's first scenario with half of its minimum TCP, in which all ten streams are active at 4.5 s.
fn geneva_s1() -> Run {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/papers/geneva-s1.toml");
    let set = [("n_tcp", "50"), ("tcp_start_s", "0.5"), ("scheme", "geneva")];
    let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let experiment = Blueprint::open(&file, &set).and_then(|described| described.experiment(1));
    Run::new(&experiment.expect("the scenario"), 1).expect("a possible run")
}

/// Packets offered to the first hop so far.
fn offered(run: &Run) -> u64 {
    run.network().offered(0).iter().map(|flow| flow.packets).sum()
}

#[test]
fn a_steady_run_allocates_less_than_once_in_five_thousand_packets() {
    let mut run = geneva_s1();
    let second = |seconds| Time::ZERO + Span::from_secs(seconds);
    let start = measure(|| run.until(second(5)));
    let before = offered(&run);
    let steady = measure(|| run.until(second(7)));
    let packets = offered(&run) - before;
    // Nearly 1 Gb/s for two seconds in packets of 1500 bytes.
    assert!(packets > 150_000, "{packets} packets are no full link");
    assert!(start.count_total > 100, "the allocator counts");
    println!("{} allocations of {} bytes for {packets} packets", steady.count_total, steady.bytes_total);
    // The remaining allocations are queues and histories that grow beyond their longest so far, by doubling.
    assert!(steady.count_total * 5_000 < packets, "{} allocations for {packets} packets", steady.count_total);
    assert!(steady.bytes_current < 2 << 20, "{} bytes more", steady.bytes_current);
}

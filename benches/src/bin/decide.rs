//! The time of a decision of Thalweg's own schedules: that of streams by window size, that of live media through bursts of
//! losses; and the throughput of a stream with both ends in one thread.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use thalweg_bench::deadline::{Decisions, decide};
use thalweg_bench::race::{Contestant, race};
use thalweg_bench::report::{Bound, Target, Unit, grid, main as report, section, verdicts};
use thalweg_core::law::rate::fixed::Fixed;
use thalweg_core::law::schedule::adaptive::{Adaptive, Parameters};
use thalweg_core::law::schedule::channel::Channel;
use thalweg_core::law::schedule::{Coded, Path, Queue, Schedule, View};
use thalweg_core::session::stream::{Config, End};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

/// Window sizes in outstanding originals, and the longest allowed time of a decision, in seconds.
const WINDOWS: [(u64, f64); 5] = [(16, 5e-6), (64, 50e-6), (256, 500e-6), (1024, 20e-6), (4095, 20e-6)];
/// One packet in this many is lost.
const LOST: u64 = 20;
/// Rates of live media, in Mb/s, with its time for repair; the last decides in at most [`LIVE_MOST`] seconds.
const LIVE: [u64; 3] = [10, 100, 400];
const LIVE_BUDGET: Span = Span::from_millis(200);
const LIVE_MOST: f64 = 2e-6;
/// The bytes sent through a stream.
const BULK: usize = 1 << 30;

fn main() -> ExitCode {
    report("decide", |_| bench())
}

fn bench() -> Result<(), String> {
    let text = "What goes into the next packet: the time of one decision of Thalweg's own law on one core, medians. \
        With losses, half of the originals in doubt are acknowledged, one in 20 is lost, and one combination is in \
        flight for each lost original. Without losses, all are in flight. Eight originals wait, or none. Live media: \
        the mean of all decisions about repair in 10 s, 200 ms for repair, a round trip of 100 ms, bursts of losses of \
        1.1 %. Bulk: bytes \
        written at one end of a lossless stream and read at the other, both in one thread, without encryption and \
        without a path.";
    section("Decisions of schedules, and bulk", text, &["benches/run decide".into()]);
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for (window, most) in WINDOWS {
        eprintln!("decide: {window} ...");
        let times = decisions(window);
        let slowest = times.iter().copied().fold(0.0, f64::max);
        let cell = |seconds: f64| format!("{:.2} us", seconds * 1e6);
        rows.push([window.to_string(), cell(times[0]), cell(times[1]), cell(times[2])]);
        let what = format!("one decision, {window} originals in doubt, microseconds");
        targets.push((Target { what, bound: Bound::AtMost(most * 1e6), unit: Unit::Ratio }, slowest * 1e6));
    }
    println!("{}", grid(["in doubt", "losses, eight wait", "losses, none waits", "no losses, eight wait"], &rows));
    let live: Vec<_> = LIVE.into_iter().map(|mbps| (mbps, decide(Rate::from_mbps(mbps), LIVE_BUDGET, 10))).collect();
    println!("{}", grid(["live media", "decisions", "mean", "repair"], &live.iter().map(row).collect::<Vec<_>>()));
    if let Some((mbps, fastest)) = live.last() {
        let what = format!("one decision about repair of live media, {mbps} Mb/s, microseconds");
        let target = Target { what, bound: Bound::AtMost(LIVE_MOST * 1e6), unit: Unit::Ratio };
        targets.push((target, fastest.mean.as_secs_f64() * 1e6));
    }
    let rate = bulk();
    println!("Bulk: {:.2} Gb/s through both ends.\n", rate / 1e9);
    let what = "bulk through both ends of a stream, one core".into();
    targets.push((Target { what, bound: Bound::AtLeast(8e9), unit: Unit::Megabits }, rate));
    verdicts(&targets);
    Ok(())
}

fn row((mbps, decisions): &(u64, Decisions)) -> [String; 4] {
    let mean = format!("{:.2} us", decisions.mean.as_secs_f64() * 1e6);
    [format!("{mbps} Mb/s"), decisions.count.to_string(), mean, Unit::Percent.write(decisions.repair)]
}

/// Seconds per decision: with losses and with originals waiting; with losses and none waiting; without losses.
fn decisions(window: u64) -> [f64; 3] {
    let queues = [queue(window, 8, true), queue(window, 0, true), queue(window, 8, false)];
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for (nth, queue) in queues.iter().enumerate() {
        let mut law = Adaptive::new(Parameters::default()).expect("the defaults");
        let eps = if nth < 2 { 1.0 / LOST as f64 } else { 1e-6 };
        // Losses come in bursts of two on average. The outcomes of the `window` newest packets are unknown.
        let channel = Channel::bursty(0.5 * eps / (1.0 - eps), 0.5, Some(false), window as u32);
        let path = Path { eps, channel, rtt: Span::from_millis(100), slot: Span::from_millis(100) / window };
        let decide = move || {
            let view = View { now: Time::ZERO + Span::from_secs(1), queue, path };
            black_box(law.choose(&view));
        };
        contestants.push((nth.to_string(), Box::new(decide)));
    }
    let medians: Vec<f64> = race(&mut contestants).into_iter().map(|times| times.median()).collect();
    [medians[0], medians[1], medians[2]]
}

/// A queue with `window` outstanding originals, and `waiting` unsent ones.
fn queue(window: u64, waiting: u64, losses: bool) -> Queue {
    let mut queue = Queue::new(0);
    let uncoded = |l| Coded { first: l, last: l, p_useless: 0.0 };
    (0..window + waiting).for_each(|_| {
        queue.push(Time::ZERO);
    });
    (0..window).for_each(|l| queue.sent(&uncoded(l)));
    if losses {
        for l in 0..window {
            if l % LOST == 0 {
                queue.lost(&uncoded(l));
                queue.sent(&Coded { first: 0, last: (l + LOST / 2).min(window - 1).max(1), p_useless: 0.1 });
            } else if l < window / 2 {
                queue.arrived(&uncoded(l));
            }
        }
    }
    queue
}

/// The throughput in bits per second.
fn bulk() -> f64 {
    let config = Config { window: 4095, ..Config::default() };
    let end = || {
        let law = Adaptive::new(Parameters::default()).expect("the defaults");
        End::new(config, law, Fixed::new(Rate::from_mbps(1_000_000), Span::from_millis(1))).expect("in range")
    };
    let (mut here, mut there) = (end(), end());
    let (block, mut out, mut frame) = (vec![0x5a; 64 << 10], vec![0; 64 << 10], vec![0; 1500]);
    let (mut written, mut read) = (0, 0);
    let began = Instant::now();
    while read < BULK {
        let now = Time::ZERO + Span::from_nanos(began.elapsed().as_nanos() as u64);
        written += here.write(now, &block[..block.len().min(BULK - written)]);
        for end in [&mut here, &mut there] {
            if end.poll_timeout().is_some_and(|at| at <= now) {
                end.handle_timeout(now);
            }
        }
        for _ in 0..64 {
            let Some(len) = here.poll_frame(now, &mut frame) else { break };
            there.handle_frame(now, &frame[..len]).expect("a frame");
        }
        while let count @ 1.. = there.read(now, &mut out) {
            read += count;
        }
        while let Some(len) = there.poll_frame(now, &mut frame) {
            here.handle_frame(now, &frame[..len]).expect("a frame");
        }
    }
    BULK as f64 * 8.0 / began.elapsed().as_secs_f64()
}

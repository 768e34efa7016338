//! The precision with which this machine wakes a sender, and the cost of reading its clock.

use std::time::{Duration, Instant};

use thalweg_core::time::Span;

use super::Finding;
use crate::clock::sharpen_timers;
use crate::poll::Interests;

/// Tolerated lateness: the gap of a 30 Mb/s stream with repair is 0.3 ms, and gaps are to be within this of the plan.
const TOLERATED: Duration = Duration::from_micros(150);

pub(super) fn wake_ups() -> Finding {
    // On a separate thread: the timer slack of the caller's must not change.
    let late = std::thread::spawn(|| {
        sharpen_timers();
        lateness(Duration::from_micros(100), 2000)
    });
    let Ok(Some(late)) = late.join() else {
        return Finding::unknown("timer", "cannot be measured: the kernel refuses to wait");
    };
    let (p50, p99) = (late[late.len() / 2], late[late.len() * 99 / 100]);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let found = format!("wake-ups are {:.0} us late at p50, {:.0} us at p99", micros(p50), micros(p99));
    let finding = if p99 <= TOLERATED {
        Finding::good("timer", found, "packets are sent evenly, as the repair law requires")
    } else {
        let meaning =
            "gaps between packets vary by more than 150 us: the machine is busy, or its idle states are too deep";
        Finding::poor("timer", found, meaning).fix("sudo cpupower idle-set --disable-by-latency 50")
    };
    finding.measure("late_p50_us", micros(p50)).measure("late_p99_us", micros(p99))
}

/// The lateness of each of `times` sleeps of `length`, sorted; none if the kernel refuses to wait.
fn lateness(length: Duration, times: usize) -> Option<Vec<Duration>> {
    let mut late = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        Interests::new().wait(Span::from_nanos(length.as_nanos() as u64)).ok()?;
        late.push(start.elapsed().saturating_sub(length));
    }
    late.sort_unstable();
    Some(late)
}

/// A clock read that takes longer than this is not done in user space.
const CHEAP: Duration = Duration::from_nanos(200);
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) fn clock() -> Finding {
    const READS: u32 = 10_000;
    let start = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(Instant::now());
    }
    let cost = start.elapsed() / READS;
    let read = |file: &str| std::fs::read_to_string(format!("{CLOCKS}/{file}")).unwrap_or_default();
    let source = read("current_clocksource");
    let source = if source.trim().is_empty() { "unknown source" } else { source.trim() };
    let found = format!("{source}, {} ns per reading", cost.as_nanos());
    let finding = if cost <= CHEAP {
        Finding::good("clock", found, "reading the clock takes no system call")
    } else {
        let finding = Finding::poor("clock", found, "each reading of the clock is a system call");
        match read("available_clocksource").split_whitespace().find(|clock| *clock == "tsc" && *clock != source) {
            Some(_) => finding.fix(format!("echo tsc | sudo tee {CLOCKS}/current_clocksource")),
            None => finding,
        }
    };
    finding.measure("look_ns", cost.as_nanos() as f64)
}

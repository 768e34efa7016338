//! How exactly this machine wakes a sender, and what looking at the clock costs.

use std::time::{Duration, Instant};

use thalweg_core::time::Span;

use super::Finding;
use crate::clock::sharpen_timers;
use crate::poll::Interests;

/// The gap of a 30 Mb/s stream with repair is 0.3 ms; gaps are to be within this of the plan.
const TOLERATED: Duration = Duration::from_micros(150);

pub(super) fn wake_ups() -> Finding {
    // On a thread of its own: the slack of the caller's timers is the caller's.
    let late = std::thread::spawn(|| {
        sharpen_timers();
        lateness(Duration::from_micros(100), 2000)
    });
    let Ok(Some(late)) = late.join() else { return Finding::unknown("timer", "the kernel refuses to wait") };
    let (p50, p99) = (late[late.len() / 2], late[late.len() * 99 / 100]);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let found = format!("wakes {:.0} us late in the middle, {:.0} us at p99", micros(p50), micros(p99));
    let finding = if p99 <= TOLERATED {
        Finding::good("timer", found, "packets leave evenly, which the repair law relies on")
    } else {
        let meaning = "gaps between packets spread by more than 150 us: the machine is busy, or sleeps too deep";
        Finding::poor("timer", found, meaning).fix("sudo cpupower idle-set --disable-by-latency 50")
    };
    finding.measure("late_p50_us", micros(p50)).measure("late_p99_us", micros(p99))
}

/// By how much each of `times` sleeps of `length` was longer, sorted; none if the kernel refuses to wait.
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

/// A clock that costs more than this is not read in user space.
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
    let source = if source.trim().is_empty() { "clock of unknown source" } else { source.trim() };
    let found = format!("{source}, {} ns a look", cost.as_nanos());
    let finding = if cost <= CHEAP {
        Finding::good("clock", found, "looking at the time costs nothing")
    } else {
        let finding = Finding::poor("clock", found, "every look at the time is a system call");
        match read("available_clocksource").split_whitespace().find(|clock| *clock == "tsc" && *clock != source) {
            Some(_) => finding.fix(format!("echo tsc | sudo tee {CLOCKS}/current_clocksource")),
            None => finding,
        }
    };
    finding.measure("look_ns", cost.as_nanos() as f64)
}

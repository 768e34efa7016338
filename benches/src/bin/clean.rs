//! A clean path: the delay that Thalweg adds, the evenness of its packet intervals, and its memory use.

use std::process::ExitCode;
use std::time::Duration;

use thalweg_bench::contestant::Contestant;
use thalweg_bench::gaps::misses;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::source::PAYLOAD;
use thalweg_bench::statistics::{median, quantile};
use thalweg_bench::stream::{Connection, Outcome, Plan, run};

/// Bits of media per second.
const RATE: f64 = 30e6;

/// GENEVA's SYN: the duration of a block, in seconds.
const SYN: f64 = 0.01;

/// The largest deviation of a gap from the plan, in seconds, that counts as even.
const TOLERANCE: f64 = 150e-6;

fn main() -> ExitCode {
    report("clean", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    // The blocks of the paper, for which the gaps are planned; by default a block takes as long as the latency allows.
    let ours =
        Contestant::thalweg("thalweg, blocks of 10 ms", &settings.binary, "--repair geneva --block 10ms", "90ms");
    let default = Contestant::thalweg("thalweg, defaults", &settings.binary, "--repair geneva", "90ms");
    let theirs = Contestant::srt("srt-live-transmit, latency 20 ms", "&latency=20");
    let turn = |contestant: &Contestant, path: Connection| {
        let plan = Plan {
            rate: RATE,
            warm_up: Duration::from_secs(1),
            measured: settings.pick(Duration::from_secs(10), Duration::from_secs(3)),
            path,
        };
        eprintln!("clean: {} ...", contestant.name);
        run(contestant, &plan)
    };
    let [mut direct, mut usual, mut rival, mut tapped] = [const { Vec::new() }; 4];
    for _ in 0..settings.pick(3, 1) {
        direct.push(turn(&ours, Connection::Direct)?);
        usual.push(turn(&default, Connection::Direct)?);
        rival.push(turn(&theirs, Connection::Direct)?);
        tapped.push(turn(&ours, Connection::Tapped)?);
    }
    let text = format!(
        "{} of media on loopback; medians of all rounds. Delays are from source to sink, by the kernel's arrival times. \
         Gaps are those between packets of media and repair as they leave `thalweg send`, seen by a relay with the \
         kernel's arrival times; by the plan, a block leaves evenly over one SYN. The targets are for blocks of 10 ms; \
         by default a block is as long as the latency allows.",
        Unit::Megabits.write(RATE)
    );
    section("A clean path", &text, &[ours.lines(), default.lines(), theirs.lines()]);
    let rows = [row(&ours, &direct), row(&default, &usual), row(&theirs, &rival)];
    table(["contestant", "p50", "p99", "longest", "lost", "memory, sender", "memory, receiver"], &rows);
    let misses = |outcome: &Outcome| misses(&outcome.wire, PAYLOAD, SYN);
    let missed = |q| Unit::Milliseconds.write(median(tapped.iter().map(|outcome| quantile(misses(outcome), q))));
    table(
        ["gaps of thalweg send", "p50", "p90", "p99"],
        &[["off the plan by".into(), missed(0.5), missed(0.9), missed(0.99)]],
    );
    let even = median(tapped.iter().map(|outcome| share_within(&misses(outcome))));
    let p99 = typical(&direct, |outcome| quantile(outcome.latencies.iter().copied(), 0.99));
    let memory = typical(&direct, |outcome| outcome.memory[0].max(outcome.memory[1]) as f64);
    let target = |what: &str, bound, unit| Target { what: what.into(), bound, unit };
    verdicts(&[
        (target("added delay, p99", Bound::AtMost(2.0 * SYN), Unit::Milliseconds), p99),
        (target("gaps within 150 us of the plan", Bound::AtLeast(0.99), Unit::Percent), even),
        (target("memory of a sender or a receiver", Bound::AtMost(30e6), Unit::Megabytes), memory),
    ]);
    Ok(())
}

fn row(contestant: &Contestant, outcomes: &[Outcome]) -> [String; 7] {
    let late = |q| Unit::Milliseconds.write(median(outcomes.iter().map(|o| quantile(o.latencies.iter().copied(), q))));
    let memory = |end: usize| Unit::Megabytes.write(median(outcomes.iter().map(|o| o.memory[end] as f64)));
    let loss = Unit::Percent.write(typical(outcomes, Outcome::loss));
    [contestant.name.clone(), late(0.5), late(0.99), late(1.0), loss, memory(0), memory(1)]
}

fn typical(outcomes: &[Outcome], value: impl Fn(&Outcome) -> f64) -> f64 {
    median(outcomes.iter().map(value))
}

fn share_within(misses: &[f64]) -> f64 {
    misses.iter().filter(|&&miss| miss <= TOLERANCE).count() as f64 / misses.len() as f64
}

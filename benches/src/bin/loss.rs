//! Repair on a path with bursts of losses, with the same seeds, beside SRT's packet filter.

use std::process::ExitCode;
use std::time::Duration;

use thalweg_bench::attempt::attempt;
use thalweg_bench::contestant::Contestant;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::statistics::{median, quantile};
use thalweg_bench::stream::{Connection, Outcome, Plan};

/// Bits of media per second.
const RATE: f64 = 30e6;

/// A round-trip time of 100 ms and a Gilbert-Elliott channel (0.005, 0.3, 0.7).
const SCENARIO: &str = "scenarios/gilbert.toml";

fn main() -> ExitCode {
    report("loss", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let ours = Contestant::thalweg(
        "thalweg, GENEVA, blocks of 20 ms",
        &settings.binary,
        "--repair geneva --block 20ms",
        "90ms",
    );
    let theirs = Contestant::srt("SRT, FEC 10 x 3, latency 60 ms", "&latency=60&packetfilter=fec,cols:10,rows:3");
    let mut rows = Vec::new();
    let mut rounds = Vec::new();
    for seed in 1..=settings.pick(3, 1) {
        let plan = Plan {
            rate: RATE,
            warm_up: Duration::from_secs(2),
            measured: settings.pick(Duration::from_secs(60), Duration::from_secs(10)),
            path: Connection::Emulated { binary: settings.binary.clone(), scenario: SCENARIO.into(), seed },
        };
        let mut turn = |contestant: &Contestant| {
            let outcome = attempt(contestant, &plan)?;
            rows.push(row(contestant, seed, &outcome));
            eprintln!("loss: {}", rows[rows.len() - 1].join(", "));
            Ok::<_, String>(outcome)
        };
        rounds.push((turn(&ours)?, turn(&theirs)?));
    }
    let text = format!(
        "{} of media through `{SCENARIO}`: round trip 100 ms, Gilbert-Elliott loss (0.005, 0.3, 0.7). Bytes on the \
         wire are UDP payload from sender to receiver; the latency is from source to sink. Contestants take turns \
         with the same seeds; the ratio of losses is that of the sums over all seeds, the others are medians.",
        Unit::Megabits.write(RATE)
    );
    let path = format!("thalweg emulate {SCENARIO} --seed 1 --listen 127.0.0.1:6001 --to 127.0.0.1:6000");
    section("Loss after repair", &text, &[ours.lines(), theirs.lines(), path]);
    table(["contestant", "seed", "lost after repair", "bytes on the wire / media - 1", "p50", "p99", "longest"], &rows);
    verdicts(&results(&rounds));
    Ok(())
}

fn results(rounds: &[(Outcome, Outcome)]) -> [(Target, f64); 3] {
    let lost =
        |of: fn(&(Outcome, Outcome)) -> &Outcome| rounds.iter().map(|round| of(round).lost).sum::<usize>() as f64;
    let typical = |value: fn(&Outcome) -> f64| median(rounds.iter().map(|(ours, _)| value(ours)));
    let target = |what: &str, most, unit| Target { what: what.into(), bound: Bound::AtMost(most), unit };
    [
        (target("loss after repair / SRT's", 0.2, Unit::Ratio), lost(|round| &round.0) / lost(|round| &round.1)),
        (target("more bytes than media", 0.4, Unit::Percent), typical(Outcome::overhead)),
        (target("p99 from source to sink", 0.09, Unit::Milliseconds), typical(|outcome| late(outcome, 0.99))),
    ]
}

fn row(contestant: &Contestant, seed: u64, outcome: &Outcome) -> [String; 7] {
    let [p50, p99, longest] = [0.5, 0.99, 1.0].map(|q| Unit::Milliseconds.write(late(outcome, q)));
    let loss = format!("{:.6} ({} of {})", outcome.loss(), outcome.lost, outcome.sent);
    let overhead = Unit::Percent.write(outcome.overhead());
    [contestant.name.clone(), seed.to_string(), loss, overhead, p50, p99, longest]
}

fn late(outcome: &Outcome, q: f64) -> f64 {
    quantile(outcome.latencies.iter().copied(), q)
}

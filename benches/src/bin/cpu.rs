//! The CPU time for a delivered gigabyte, beside `srt-live-transmit`.

use std::process::ExitCode;
use std::time::Duration;

use thalweg_bench::contestant::Contestant;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::statistics::median;
use thalweg_bench::stream::{Connection, Outcome, Plan, run};

/// Media rates in bits per second, and the largest allowed ratios to the rival's CPU time: without repair, with GENEVA's, and
/// with the default's and a key, which the rival has as well.
const RATES: [(f64, [f64; 3]); 2] =
    [(100e6, [1.0 / 2.0, 2.0 / 3.0, 1.0 / 2.0]), (400e6, [1.0 / 3.0, 1.0 / 2.0, 2.0 / 5.0])];
/// The largest allowed ratio of the CPU time with a key to that without.
const KEY: f64 = 1.4;

/// The indices of the contestants.
const NONE: usize = 0;
const SRT: usize = 1;
const GENEVA: usize = 2;
const AUTO: usize = 3;
const AUTO_KEY: usize = 4;
const SRT_KEY: usize = 5;

fn main() -> ExitCode {
    report("cpu", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let key = Scrap::key(&settings.binary)?;
    let auto = |name| Contestant::thalweg(name, &settings.binary, "--repair auto", "90ms");
    let contestants = [
        Contestant::thalweg("thalweg, no repair", &settings.binary, "--repair none", "90ms"),
        Contestant::srt("srt-live-transmit", ""),
        Contestant::thalweg("thalweg, GENEVA", &settings.binary, "--repair geneva", "90ms"),
        auto("thalweg, auto"),
        auto("thalweg, auto, key").encrypted(key.path()),
        Contestant::srt("srt-live-transmit, passphrase", "&passphrase=0123456789"),
    ];
    let mut rows = Vec::new();
    let mut results = Vec::new();
    for (rate, [without, with, encrypted]) in RATES {
        let plan = Plan {
            rate,
            warm_up: Duration::from_secs(1),
            measured: settings.pick(Duration::from_secs(8), Duration::from_secs(2)),
            path: Connection::Direct,
        };
        let rounds = rounds(settings, &contestants, &plan)?;
        let megabits = Unit::Megabits.write(rate);
        for (place, contestant) in contestants.iter().enumerate() {
            rows.push(row(&megabits, contestant, rounds.iter().map(|round| &round[place])));
        }
        let pairs = [(NONE, SRT, without), (GENEVA, SRT, with), (AUTO_KEY, SRT_KEY, encrypted), (AUTO_KEY, AUTO, KEY)];
        for (place, other, bound) in pairs {
            let cost = |round: &[Outcome]| round[place].cpu_per_gigabyte() / round[other].cpu_per_gigabyte();
            let what = format!("CPU of {} / {}, {megabits}", contestants[place].name, contestants[other].name);
            let target = Target { what, bound: Bound::AtMost(bound), unit: Unit::Ratio };
            results.push((target, median(rounds.iter().map(|round| cost(round)))));
        }
    }
    let text = "User and system time of sender and receiver together on loopback, per gigabyte of delivered media. \
                The programs run in turns; values are medians of all rounds, ratios are of the turns of one round.";
    section("CPU seconds per delivered gigabyte", text, &contestants.each_ref().map(Contestant::lines));
    table(["media", "contestant", "CPU s / GB", "lost", "memory, sender", "memory, receiver"], &rows);
    verdicts(&results);
    Ok(())
}

/// Runs all contestants in turn; each round has one outcome per contestant.
fn rounds(settings: &Settings, contestants: &[Contestant], plan: &Plan) -> Result<Vec<Vec<Outcome>>, String> {
    let turn = |contestant: &Contestant| {
        let outcome = run(contestant, plan)?;
        let (cost, loss) = (outcome.cpu_per_gigabyte(), Unit::Percent.write(outcome.loss()));
        eprintln!("cpu: {} {}: {cost:.2} s/GB, {loss} lost", Unit::Megabits.write(plan.rate), contestant.name);
        Ok(outcome)
    };
    (0..settings.pick(3, 1)).map(|_| contestants.iter().map(turn).collect()).collect()
}

fn row<'a>(rate: &str, contestant: &Contestant, outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> [String; 6] {
    let typical = |value: fn(&Outcome) -> f64| median(outcomes.clone().map(value));
    [
        rate.to_owned(),
        contestant.name.clone(),
        format!("{:.2}", typical(Outcome::cpu_per_gigabyte)),
        Unit::Percent.write(typical(Outcome::loss)),
        Unit::Megabytes.write(typical(|outcome| outcome.memory[0] as f64)),
        Unit::Megabytes.write(typical(|outcome| outcome.memory[1] as f64)),
    ]
}

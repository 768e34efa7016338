//! The largest rate of media that is delivered without loss.

use std::process::ExitCode;
use std::time::Duration;

use thalweg_bench::contestant::Contestant;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::stream::{Connection, Outcome, Plan, run};

/// Media rates in bits per second.
const RATES: [f64; 3] = [800e6, 1000e6, 1200e6];

/// The number of runs of each contestant, none of which may lose a packet, and the targets for the largest rate.
const TRIES: [usize; 4] = [3, 3, 1, 1];
const WANTED: [f64; 2] = [1e9, 8e8];

fn main() -> ExitCode {
    report("rate", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let key = Scrap::key(&settings.binary)?;
    let contestants = [
        Contestant::thalweg("thalweg, no repair", &settings.binary, "--repair none", "90ms"),
        Contestant::thalweg("thalweg, auto, key", &settings.binary, "--repair auto", "90ms").encrypted(key.path()),
        Contestant::thalweg("thalweg, GENEVA", &settings.binary, "--repair geneva", "90ms"),
        Contestant::srt("srt-live-transmit", ""),
    ];
    let mut rows = Vec::new();
    let mut largest = [0.0; TRIES.len()];
    for rate in RATES {
        let mut cells = vec![Unit::Megabits.write(rate)];
        for ((contestant, count), largest) in contestants.iter().zip(TRIES).zip(&mut largest) {
            let tries = tries(settings, contestant, rate, count)?;
            if tries.iter().all(|outcome| outcome.lost == 0 && is_full(outcome, rate)) {
                *largest = rate;
            }
            let losses: Vec<String> = tries.iter().map(|outcome| cell(outcome, rate)).collect();
            cells.push(losses.join(", "));
        }
        eprintln!("rate: {}", cells.join(" | "));
        rows.push(<[String; 5]>::try_from(cells).expect("a rate and four contestants"));
    }
    let seconds = measured(settings).as_secs();
    let text = format!(
        "Media lost in {seconds} s on loopback, in each try. Source and sink share the cores with the programs. A rate \
         counts as reached if no try lost a packet. Where the source did not keep up, the rate of the source is added."
    );
    section("Largest rate", &text, &contestants.each_ref().map(Contestant::lines));
    let names = contestants.each_ref().map(|contestant| contestant.name.as_str());
    table(["media", names[0], names[1], names[2], names[3]], &rows);
    let target = |nth: usize| Target {
        what: format!("largest rate without loss, {}", names[nth]),
        bound: Bound::AtLeast(WANTED[nth]),
        unit: Unit::Megabits,
    };
    verdicts(&[0, 1].map(|nth| (target(nth), largest[nth])));
    println!("With GENEVA's repair: {}. srt-live-transmit: {}.\n", said(largest[2]), said(largest[3]));
    Ok(())
}

/// True if the source sent at the planned rate.
fn is_full(outcome: &Outcome, rate: f64) -> bool {
    outcome.rate >= 0.99 * rate
}

fn cell(outcome: &Outcome, rate: f64) -> String {
    let loss = Unit::Percent.write(outcome.loss());
    if is_full(outcome, rate) { loss } else { format!("{loss} of {}", Unit::Megabits.write(outcome.rate)) }
}

fn said(rate: f64) -> String {
    if rate > 0.0 { Unit::Megabits.write(rate) } else { format!("less than {}", Unit::Megabits.write(RATES[0])) }
}

fn tries(settings: &Settings, contestant: &Contestant, rate: f64, count: usize) -> Result<Vec<Outcome>, String> {
    let plan = Plan { rate, warm_up: Duration::from_secs(1), measured: measured(settings), path: Connection::Direct };
    (0..settings.pick(count, 1)).map(|_| run(contestant, &plan)).collect()
}

fn measured(settings: &Settings) -> Duration {
    settings.pick(Duration::from_secs(10), Duration::from_secs(3))
}

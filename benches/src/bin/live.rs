//! `thalweg send` with its defaults beside SRT's retransmissions and its packet filter, over paths of several kinds.

use std::process::ExitCode;
use std::time::Duration;

use thalweg_bench::cell::{Cell, Loss, Path};
use thalweg_bench::report::{Settings, main as report, section, table};

const BURSTS: Loss = Loss::Bursts(0.005, 0.3, 0.7);
const RANDOM: Loss = Loss::Random(0.05);

/// Round-trip time in milliseconds, loss, bits of media per second, and the time budget for repair in milliseconds.
const CELLS: [(u64, Loss, f64, u64); 9] = [
    (100, BURSTS, 10e6, 40),
    (100, BURSTS, 10e6, 120),
    (100, BURSTS, 10e6, 200),
    (100, RANDOM, 10e6, 40),
    (100, RANDOM, 10e6, 120),
    (100, RANDOM, 10e6, 200),
    (20, BURSTS, 10e6, 24),
    (100, BURSTS, 2e6, 120),
    (100, Loss::None, 10e6, 120),
];

fn main() -> ExitCode {
    report("live", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let measured = settings.pick(Duration::from_secs(60), Duration::from_secs(10));
    let cells = CELLS.map(|(rtt, loss, rate, budget)| {
        let path = Path { rtt: Duration::from_millis(rtt), loss };
        Cell { path, rate, budget: Duration::from_millis(budget) }
    });
    let contestants = |cell: &Cell| [cell.thalweg(&settings.binary), cell.srt_resends(), cell.srt_fec()];
    let mut rows = Vec::new();
    for cell in &cells {
        let contestants = contestants(cell);
        let scores = cell.measure(&contestants, &settings.binary, 1, measured)?;
        for (contestant, score) in contestants.iter().zip(&scores) {
            let ([path, rate, budget], [loss, overhead, p50, p99]) = (cell.named(), score.cells());
            rows.push([path, rate, budget, contestant.name.clone(), loss, overhead, p50, p99]);
        }
    }
    let text = format!(
        "Paths without bottleneck; one seed of {} s a cell, the same for all contestants. The time for repair is the \
         latency beyond the one-way delay: SRT's `latency`, and `--latency` less half the round trip. Bytes on the \
         wire are UDP payload \
         from sender to receiver; delays are from source to sink.",
        measured.as_secs()
    );
    section("Live streams over paths of several kinds", &text, &contestants(&cells[0]).map(|one| one.lines()));
    let head =
        ["path", "media", "time for repair", "contestant", "lost after repair", "wire / media - 1", "p50", "p99"];
    table(head, &rows);
    Ok(())
}

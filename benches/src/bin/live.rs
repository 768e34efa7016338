//! `thalweg send` beside SRT's retransmissions and its packet filter, over a grid of paths and latencies.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use thalweg_bench::bars::{HELD, Row, Verdict, verdicts};
use thalweg_bench::cell::{self, Cell, LOSSES};
use thalweg_bench::column::{Column, Kept, Rival};
use thalweg_bench::contestant::Contestant;
use thalweg_bench::report::{self, Bound, Settings, Target, Unit, section, table};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::turns::Turns;

const USAGE: &str = "usage: benches/run live [--all | --srt] [--seeds N] [--time SECONDS] [--at-once N] \
                     [--repair SCHEME] [CELL...]";

/// The exit code where a cell fails.
const FAILED: u8 = 3;

/// Round trips in milliseconds, multiples of them as time for repair in tenths, and megabits of media per second.
const GRID: ([u64; 3], [u64; 6], [u32; 3]) = ([20, 100, 200], [4, 8, 12, 20, 40, 60], [2, 10, 30]);

/// The time by which SRT delivers later than its `latency`, where its median has not been measured.
const SRT_LATER: Duration = Duration::from_millis(5);

/// The choices of the command line.
struct Choice {
    cells: Vec<Cell>,
    /// True if SRT's columns are measured anew, and nothing else.
    srt: bool,
    repair: String,
    turns: Turns,
}

fn main() -> ExitCode {
    let mut failed = false;
    let code = report::main("live", |settings| {
        let choice = choose(settings)?;
        if choice.srt { keep(&choice) } else { compare(&choice).map(|any| failed = any) }
    });
    if failed { ExitCode::from(FAILED) } else { code }
}

fn choose(settings: &Settings) -> Result<Choice, String> {
    let (mut all, mut seeds) = (false, None);
    let turns = Turns {
        binary: settings.binary.clone(),
        seeds: 0,
        measured: settings.pick(Duration::from_secs(60), Duration::from_secs(10)),
        at_once: 8,
    };
    let mut choice = Choice { cells: Vec::new(), srt: false, repair: "auto".into(), turns };
    let mut arguments = settings.arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument}: a value is missing; {USAGE}"));
        let number = |text: &String| text.parse::<u64>().ok().filter(|&n| n > 0).ok_or_else(|| USAGE.to_owned());
        match argument.as_str() {
            "--all" => all = true,
            "--srt" => choice.srt = true,
            "--seeds" => seeds = Some(number(value()?)?),
            "--time" => choice.turns.measured = Duration::from_secs(number(value()?)?),
            "--at-once" => choice.turns.at_once = number(value()?)? as usize,
            "--repair" => choice.repair = value()?.clone(),
            option if option.starts_with('-') => return Err(USAGE.into()),
            name => choice.cells.push(name.parse()?),
        }
    }
    choice.turns.seeds = seeds.unwrap_or(if all { 1 } else { settings.pick(5, 1) });
    match (all, choice.cells.is_empty()) {
        (true, true) => choice.cells = grid(),
        (true, false) => return Err(format!("--all has every cell already; {USAGE}")),
        (false, true) => choice.cells = HELD.iter().map(|(name, _)| name.parse()).collect::<Result<_, _>>()?,
        (false, false) => {}
    }
    Ok(choice)
}

fn grid() -> Vec<Cell> {
    let (round_trips, tenths, rates) = GRID;
    let mut cells = Vec::new();
    for rtt in round_trips {
        for (_, loss) in LOSSES {
            for budget in tenths.map(|tenths| Duration::from_millis(rtt * tenths / 10)) {
                let path = cell::Path { rtt: Duration::from_millis(rtt), loss };
                cells.extend(rates.map(|megabits| Cell { path, megabits, budget, has_key: false }));
            }
        }
    }
    cells
}

fn srt(cell: &Cell, rival: Rival) -> Contestant {
    match rival {
        Rival::Resends => cell.srt_resends(),
        Rival::Fec => cell.srt_fec(),
    }
}

/// Measures SRT's columns anew, and writes them into their file.
fn keep(choice: &Choice) -> Result<(), String> {
    let wanted: Vec<(Cell, Rival)> =
        choice.cells.iter().flat_map(|&cell| Rival::ALL.map(|rival| (cell, rival))).collect();
    let entries: Vec<_> = wanted.iter().map(|&(cell, rival)| (cell, srt(&cell, rival))).collect();
    let columns = choice.turns.take(&entries);
    let conditions = [srt_version(), output("date", &["-u", "+%F"]), load(), output("nice", &[])].join(" ");
    let mut kept = Kept::read(&Kept::file())?;
    let mut missing = Vec::new();
    for ((cell, rival), column) in wanted.iter().zip(columns) {
        match column {
            Some(column) => kept.put(&cell.to_string(), *rival, column, &conditions),
            None => missing.push(format!("{cell}, {}", rival.named())),
        }
    }
    let example = wanted.first().map(|(cell, _)| Rival::ALL.map(|rival| srt(cell, rival).lines())).unwrap_or_default();
    let head = format!(
        "SRT's columns of `benches/run live`, by `benches/run live --srt`. With the `latency` of each cell:\n{}\n{}\n\
         cell, column, runs of {} s, datagrams, lost, bursts of lost ones, bytes on the wire / media - 1, median delay \
         in ms;\nthen the version of SRT, the date, the load average when the last run had ended, and the niceness",
        example[0],
        example[1],
        choice.turns.measured.as_secs(),
    );
    kept.write(&Kept::file(), &head)?;
    if missing.is_empty() { Ok(()) } else { Err(format!("no valid run: {}; why is above", missing.join("; "))) }
}

/// Measures `thalweg` in each cell, and SRT where its columns are not kept. True if a cell fails.
fn compare(choice: &Choice) -> Result<bool, String> {
    let kept = Kept::read(&Kept::file())?;
    let key = Scrap::key(&choice.turns.binary)?;
    let rivals: Vec<[Option<Column>; 2]> = choice
        .cells
        .iter()
        .map(|cell| Rival::ALL.map(|rival| kept.column(&cell.to_string(), rival).cloned()))
        .collect();
    let mut entries = Vec::new();
    for (cell, columns) in choice.cells.iter().zip(&rivals) {
        entries.push((*cell, thalweg(choice, cell, columns, key.path())));
        for (rival, column) in Rival::ALL.into_iter().zip(columns) {
            entries.extend(column.is_none().then(|| (*cell, srt(cell, rival))));
        }
    }
    let lines = [entries[0].1.lines(), choice.cells[0].srt_resends().lines(), choice.cells[0].srt_fec().lines()];
    let mut measured = choice.turns.take(&entries).into_iter();
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for (&cell, columns) in choice.cells.iter().zip(rivals) {
        let own = measured.next().flatten();
        let [resends, fec] = columns.map(|kept| kept.or_else(|| measured.next().flatten()));
        match (resends, fec, own) {
            (Some(resends), Some(fec), Some(own)) => rows.push(Row { cell, rivals: [resends, fec], own }),
            _ => missing.push(cell.to_string()),
        }
    }
    section("Live streams over a grid of paths", &text(choice), &lines);
    let has_failed = print(&rows);
    // The others took hours.
    if missing.is_empty() { Ok(has_failed) } else { Err(format!("no valid run: {}; why is above", missing.join(", "))) }
}

/// `thalweg` with the latency that SRT's medians show: their mean, as both columns have the same `latency`.
fn thalweg(choice: &Choice, cell: &Cell, rivals: &[Option<Column>; 2], key: &Path) -> Contestant {
    let usual = cell.path.rtt / 2 + cell.budget + SRT_LATER;
    let latency = match rivals {
        [Some(resends), Some(fec)] => Duration::from_secs_f64((resends.delay + fec.delay) / 2.0),
        _ => usual,
    };
    cell.thalweg(&choice.turns.binary, &choice.repair, latency, key)
}

fn text(choice: &Choice) -> String {
    let Turns { seeds, measured, .. } = choice.turns;
    format!(
        "Paths without bottleneck, which lose packets from sender to receiver. A cell is named after its round trip in \
         ms, the time D for repair in ms, its loss and its megabits of media per second. `iid1` and `iid5` are \
         independent losses of 1 and 5 %; `bursts` is a Gilbert-Elliott channel (0.005, 0.3, 0.7), which loses 1.1 %, \
         and `heavy` one of (0.02, 0.3, 0.7), which loses 4.4 %: the probabilities of good to bad and of bad to good, \
         and the share lost while bad. D is the latency beyond the one-way delay: SRT's `latency`. SRT delivers 5 to \
         6 ms later than that, so `--latency` is the median delay that its columns show in the cell, in whole ms. Both have \
         their defaults otherwise.\n\n\
         Seeds 1 to {seeds}, {} s each, are the same for all contestants; they count from 3 s after the first loss, or from 10 s on \
         without loss. Each run is checked: the emulator has lost exactly the packets that follow from the seed, and \
         the machine none. SRT's columns are measured once and kept in `benches/srt-live.txt`. Each contestant shows \
         the share of datagrams that it never delivered (and the number of bursts in which it lost them), the UDP \
         payload of all packets from sender to receiver beyond media, and the median delay from source to sink.\n\n\
         Every cell may lose no more than the better of SRT's columns, and need no more bytes than its packet filter; \
         ten cells have bars of their own beside one of the columns, and so have paths without loss. A cell fails if a \
         value is beyond its bar by more than chance: bursts are compared by the exact test of two Poisson counts, \
         one-sided, at 5 % for all cells together (Holm). A bar of its own that allows fewer than ten losses is the \
         95 % limit of a Poisson variable, in bursts.",
        measured.as_secs()
    )
}

/// Writes the table and its summary. True if a cell that is held to its bars fails.
fn print(rows: &[Row]) -> bool {
    let checks: Vec<_> = rows.iter().map(Row::checks).collect();
    let verdicts = verdicts(&checks);
    let is_held = |row: &Row| HELD.iter().any(|(name, _)| *name == row.cell.to_string());
    let lines: Vec<[String; 6]> = rows
        .iter()
        .zip(&checks)
        .zip(&verdicts)
        .map(|((row, checks), verdict)| {
            let bars: Vec<&str> = checks.iter().map(|check| check.bound.as_str()).collect();
            let verdict = match verdict {
                Verdict::Holds => "holds".into(),
                Verdict::HoldsByChance => "holds, by chance".into(),
                Verdict::Fails(missed) => format!("**fails**: {}", missed.join("; ")),
            };
            let [resends, fec] = row.rivals.each_ref().map(Column::named);
            [row.cell.to_string(), resends, fec, row.own.named(), bars.join("; "), verdict]
        })
        .collect();
    table(["cell", "SRT, resends", "SRT, FEC 10 x 3", "thalweg", "bars", "verdict"], &lines);
    let fails = |(row, verdict): &(&Row, &Verdict)| is_held(row) && matches!(verdict, Verdict::Fails(_));
    let failed = rows.iter().zip(&verdicts).filter(fails).count();
    let what = format!("cells beside SRT that fail, of {}", rows.iter().filter(|row| is_held(row)).count());
    report::verdicts(&[(Target { what, bound: Bound::AtMost(0.0), unit: Unit::Count }, failed as f64)]);
    failed > 0
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

fn srt_version() -> String {
    let text = Command::new("srt-live-transmit").arg("-version").output();
    let text = text.map(|it| [it.stdout, it.stderr].concat()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let version = text.split("SRT Library version: ").nth(1).and_then(|rest| rest.split([',', '\n']).next());
    version.unwrap_or("unknown").to_owned()
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

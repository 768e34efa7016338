//! `thalweg serve` beside nginx: one large file as fast as it goes, and 500 players of a film.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use thalweg_bench::http::Client;
use thalweg_bench::players::{COUNT, play, table as players_table};
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::site::{FILM, Tool};
use thalweg_bench::statistics::median;

fn main() -> ExitCode {
    report("serve", bench)
}

/// Who reads a whole file one after the other: ours, and who it is compared with.
struct Contest {
    /// What carries it.
    over: &'static str,
    contestants: [(&'static str, Tool); 2],
    turns: Vec<[Fetched; 2]>,
    /// Of the other's throughput, and times the other's CPU a byte.
    bounds: [Bound; 2],
}

/// One turn.
#[derive(Clone, Copy)]
struct Fetched {
    /// Bits a second.
    rate: f64,
    /// CPU seconds of the server for a gigabyte.
    cost: f64,
}

fn bench(settings: &Settings) -> Result<(), String> {
    let thalweg = |options: &str| Tool::Thalweg { binary: settings.binary.clone(), options: options.to_owned() };
    let mut contests = [Contest {
        over: "plain TCP",
        contestants: [("thalweg", thalweg("--law system")), ("nginx, sendfile", Tool::Nginx)],
        turns: Vec::new(),
        bounds: [Bound::AtLeast(1.0 / 3.0), Bound::AtMost(3.0)],
    }];
    let bytes = settings.pick(4, 1) << 30;
    let folder = Scrap::folder(FILM, bytes)?;
    for round in 0..settings.pick(7, 3) {
        for contest in &mut contests {
            contest.turns.push(contest.turn(round, folder.path())?);
        }
    }
    let measured = settings.pick(Duration::from_secs(30), Duration::from_secs(10));
    let paced = ("thalweg, paced", thalweg("--law paced"));
    let played = [play(&paced, folder.path(), measured)?, play(&contests[0].contestants[1], folder.path(), measured)?];

    let text = format!(
        "One file of {} GiB, in memory, to one client on loopback that reads it whole, 1 MiB a call, and throws it away. CPU is \
         user and system time of the server's only process, what the kernel does in its name included. The law of both is the \
         system's. Contestants take turns; medians, ratios of the turns of one round.\n\n\
         Then {COUNT} players at a time of a film of 3.6 Mb/s. Each takes ten seconds of it at once and then 5/4 of its rate; rates \
         and CPU over {} s after 10 s, stalls from the first request on. `thalweg serve` paces, which it does where the kernel has \
         no law for films; with nginx the players alone do.",
        bytes >> 30,
        measured.as_secs()
    );
    let mut lines: Vec<String> = vec![paced.1.lines()];
    lines.extend(contests.iter().flat_map(|contest| &contest.contestants).map(|(_, tool)| tool.lines()));
    section("Films over HTTP", &text, &lines);
    table(
        ["the whole file", "over", "throughput", "CPU s / GB"],
        &contests.iter().flat_map(Contest::rows).collect::<Vec<_>>(),
    );
    println!("{}", players_table(&played));
    let mut results: Vec<(Target, f64)> = contests.iter().flat_map(Contest::results).collect();
    results.extend(played[0].1.targets("paced"));
    verdicts(&results);
    Ok(())
}

impl Contest {
    /// Whoever went second goes first the next time.
    fn turn(&self, round: usize, folder: &Path) -> Result<[Fetched; 2], String> {
        let [ours, theirs] = [0, 1].map(|place| &self.contestants[place]);
        if round.is_multiple_of(2) {
            Ok([fetch(ours, self.over, folder)?, fetch(theirs, self.over, folder)?])
        } else {
            let theirs = fetch(theirs, self.over, folder)?;
            Ok([fetch(ours, self.over, folder)?, theirs])
        }
    }

    fn rows(&self) -> [[String; 4]; 2] {
        [0, 1].map(|place| {
            let typical = |value: fn(&Fetched) -> f64| median(self.turns.iter().map(|turn| value(&turn[place])));
            let (rate, cost) = (typical(|turn| turn.rate), typical(|turn| turn.cost));
            [self.contestants[place].0.into(), self.over.into(), Unit::Megabits.write(rate), format!("{cost:.3}")]
        })
    }

    fn results(&self) -> [(Target, f64); 2] {
        let ratio =
            |value: fn(&Fetched) -> f64| median(self.turns.iter().map(|[ours, theirs]| value(ours) / value(theirs)));
        let target = |what: &str, bound| Target { what: format!("{what}, {}", self.over), bound, unit: Unit::Ratio };
        let [rate, cost] = self.bounds;
        [
            (target("throughput of serve / nginx's", rate), ratio(|turn| turn.rate)),
            (target("CPU a byte of serve / nginx's", cost), ratio(|turn| turn.cost)),
        ]
    }
}

fn fetch((name, tool): &(&str, Tool), over: &str, folder: &Path) -> Result<Fetched, String> {
    let mut site = tool.start(folder)?;
    let failed = |error| format!("{name}: the film does not come: {error}");
    let mut client = Client::connect(site.address).map_err(failed)?;
    let (start, cpu) = (Instant::now(), site.program.cpu());
    let bytes = client.fetch(FILM).map_err(failed)? as f64;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), site.program.cpu() - cpu);
    site.program.check()?;
    let fetched = Fetched { rate: bytes * 8.0 / elapsed, cost: cpu.as_secs_f64() / (bytes / 1e9) };
    eprintln!("serve: {name}, {over}: {}, {:.3} CPU s/GB", Unit::Megabits.write(fetched.rate), fetched.cost);
    Ok(fetched)
}

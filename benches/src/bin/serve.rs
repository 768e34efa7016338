//! `thalweg serve` beside nginx: one large file as fast as possible, and 500 players of a video.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use thalweg_bench::certificate::Secret;
use thalweg_bench::http::{self, Client};
use thalweg_bench::players::{COUNT, play, table as players_table};
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::site::{Site, Tool, VIDEO};
use thalweg_bench::statistics::median;

fn main() -> ExitCode {
    report("serve", bench)
}

/// A comparison of two servers (ours, the other) that serve a whole file in turn.
struct Contest {
    /// The transport.
    over: &'static str,
    secret: Option<Secret>,
    contestants: [(&'static str, Tool); 2],
    turns: Vec<[Fetched; 2]>,
    /// The bounds of the ratios of ours to the other's: CPU per byte, and throughput if there is a target for it.
    bounds: Vec<Bound>,
}

/// The results of one turn.
#[derive(Clone, Copy)]
struct Fetched {
    /// Bits per second.
    rate: f64,
    /// CPU seconds of the server per gigabyte.
    cost: f64,
}

fn bench(settings: &Settings) -> Result<(), String> {
    let thalweg = |options: &str| Tool::Thalweg { binary: settings.binary.clone(), options: options.to_owned() };
    let ours = || ("thalweg", thalweg("--law system"));
    let mut contests = [
        Contest {
            over: "plain TCP",
            secret: None,
            contestants: [ours(), ("nginx, sendfile", Tool::Nginx)],
            turns: Vec::new(),
            bounds: vec![Bound::AtMost(3.0), Bound::AtLeast(1.0 / 3.0)],
        },
        Contest {
            over: "TLS",
            secret: Some(Secret::make()?),
            contestants: [ours(), ("nginx", Tool::Nginx)],
            turns: Vec::new(),
            bounds: vec![Bound::AtMost(1.5)],
        },
    ];
    let bytes = settings.pick(4, 1) << 30;
    let folder = Scrap::folder(VIDEO, bytes)?;
    for round in 0..settings.pick(7, 3) {
        for contest in &mut contests {
            contest.turns.push(contest.turn(round, folder.path())?);
        }
    }
    let measured = settings.pick(Duration::from_secs(30), Duration::from_secs(10));
    let paced = ("thalweg, paced", thalweg("--law paced"));
    let played = [play(&paced, folder.path(), measured)?, play(&contests[0].contestants[1], folder.path(), measured)?];

    let text = format!(
        "One file of {} GiB, which is in memory, is sent to one client on loopback, which reads and discards it, 1 MiB \
         a call. CPU is user and system time of the server's only process, the kernel's work for this process \
         included. Both servers use the system's congestion control. TLS is 1.3 with AES-128-GCM, by rustls with \
         ring and by OpenSSL. Contestants take turns; medians, ratios of the turns of one round.\n\n\
         Then {COUNT} players at a time of a video of 3.6 Mb/s. Each takes ten seconds of it at once and then 5/4 of \
         its rate; rates and CPU over {} s after 10 s, stalls from the first request on. `thalweg serve` paces, as \
         it does where the kernel has no law for videos; with nginx only the players pace.",
        bytes >> 30,
        measured.as_secs()
    );
    let mut lines: Vec<String> = contests.iter().flat_map(Contest::lines).collect();
    lines.push(paced.1.lines(false));
    section("Videos over HTTP", &text, &lines);
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
    /// Fetches the file from both servers, in an order that alternates from round to round.
    fn turn(&self, round: usize, folder: &Path) -> Result<[Fetched; 2], String> {
        let [ours, theirs] = [0, 1].map(|place| &self.contestants[place]);
        if round.is_multiple_of(2) {
            Ok([self.fetch(ours, folder)?, self.fetch(theirs, folder)?])
        } else {
            let theirs = self.fetch(theirs, folder)?;
            Ok([self.fetch(ours, folder)?, theirs])
        }
    }

    fn rows(&self) -> [[String; 4]; 2] {
        [0, 1].map(|place| {
            let typical = |value: fn(&Fetched) -> f64| median(self.turns.iter().map(|turn| value(&turn[place])));
            let (rate, cost) = (typical(|turn| turn.rate), typical(|turn| turn.cost));
            [self.contestants[place].0.into(), self.over.into(), Unit::Megabits.write(rate), format!("{cost:.3}")]
        })
    }

    fn lines(&self) -> Vec<String> {
        self.contestants.iter().map(|(_, tool)| tool.lines(self.secret.is_some())).collect()
    }

    fn results(&self) -> Vec<(Target, f64)> {
        let ratio =
            |value: fn(&Fetched) -> f64| median(self.turns.iter().map(|[ours, theirs]| value(ours) / value(theirs)));
        let measured = [("CPU a byte", ratio(|turn| turn.cost)), ("throughput", ratio(|turn| turn.rate))];
        let target = |what: &str, bound| Target {
            what: format!("{what} of thalweg serve / nginx's, {}", self.over),
            bound,
            unit: Unit::Ratio,
        };
        measured.into_iter().zip(&self.bounds).map(|((what, ratio), bound)| (target(what, *bound), ratio)).collect()
    }

    fn fetch(&self, (name, tool): &(&str, Tool), folder: &Path) -> Result<Fetched, String> {
        let mut site = tool.start(folder, self.secret.as_ref())?;
        let failed = |error| format!("{name}: the video does not come: {error}");
        let fetched = match &self.secret {
            None => measure(&site, http::plain(site.address).map_err(failed)?),
            Some(secret) => measure(&site, http::tls(site.address, &secret.client).map_err(failed)?),
        };
        let fetched = fetched.map_err(failed)?;
        site.program.check()?;
        eprintln!("serve: {name}, {}: {}, {:.3} CPU s/GB", self.over, Unit::Megabits.write(fetched.rate), fetched.cost);
        Ok(fetched)
    }
}

fn measure<S: Read + Write>(site: &Site, mut client: Client<S>) -> io::Result<Fetched> {
    let (start, cpu) = (Instant::now(), site.program.cpu());
    let bytes = client.fetch(VIDEO)? as f64;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), site.program.cpu() - cpu);
    Ok(Fetched { rate: bytes * 8.0 / elapsed, cost: cpu.as_secs_f64() / (bytes / 1e9) })
}

//! TCP Stream in the kernel: what it costs beside reno, and 500 players of films under it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use thalweg_bench::cable::Ends;
use thalweg_bench::connection::{Carrier, Transport};
use thalweg_bench::flow::Flow;
use thalweg_bench::job::Job;
use thalweg_bench::players::{COUNT, play, table as players_table};
use thalweg_bench::program::line;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::site::{FILM, Tool};
use thalweg_bench::statistics::median;

/// What the kernel calls the law here.
const NAME: &str = "thalweg_bench";
/// Who carries bulk.
const LAWS: [&str; 2] = [NAME, "reno"];
/// What passes before counts nothing.
const WARM_UP: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    report("kernel", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let (free, film) = (Control::new(settings, "--rate 1000gbit"), Control::new(settings, "--rate 3.6mbit"));
    let seconds = settings.pick(Duration::from_secs(5), Duration::from_secs(2));
    let turns =
        free.during(|| (0..settings.pick(11, 5)).map(|round| turn(round, seconds)).collect::<Result<Vec<_>, _>>())?;
    let folder = Scrap::folder(FILM, 64 << 20)?;
    let measured = settings.pick(Duration::from_secs(30), Duration::from_secs(10));
    let tool = Tool::Thalweg { binary: settings.binary.clone(), options: format!("--name {NAME}") };
    let played = [film.during(|| play(&("thalweg, TCP Stream", tool.clone()), folder.path(), measured))?];

    let text = format!(
        "What the law costs as a program of the kernel's (eBPF): one TCP connection that never runs out of data on loopback, with \
         a playback rate so high that the ceiling of the loss window is out of the way, beside the kernel's own reno. They take \
         turns, and turns in going first; medians of {} rounds of {} s, the ratio of the turns of one round.\n\n\
         Then {COUNT} players at a time of a film of 3.6 Mb/s from `thalweg serve` under the law. Each takes ten seconds of it at \
         once and then 5/4 of its rate; rates and CPU over {} s after 10 s, stalls from the first request on.",
        turns.len(),
        seconds.as_secs(),
        measured.as_secs()
    );
    section(
        "TCP Stream in the kernel",
        &text,
        &[line(&free.command("load")), line(&film.command("load")), tool.lines()],
    );
    let rows = [0, 1].map(|place| {
        let rate = median(turns.iter().map(|turn| turn[place]));
        [["TCP Stream", "reno"][place].to_owned(), Unit::Megabits.write(rate)]
    });
    table(["bulk on loopback", "throughput"], &rows);
    println!("{}", players_table(&played));
    let what = "throughput on loopback of TCP Stream in the kernel / reno's".into();
    let target = Target { what, bound: Bound::AtLeast(0.9), unit: Unit::Ratio };
    let mut results = vec![(target, median(turns.iter().map(|[ours, reno]| ours / reno)))];
    results.extend(played[0].1.targets("TCP Stream"));
    verdicts(&results);
    Ok(())
}

/// The law in the kernel, for a while.
struct Control {
    binary: PathBuf,
    options: &'static str,
}

impl Control {
    fn new(settings: &Settings, options: &'static str) -> Control {
        Control { binary: settings.binary.clone(), options }
    }

    /// Has it loaded during `work`, whatever comes of it.
    fn during<T>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        // A run that was killed has left it behind.
        let _ = self.command("unload").output();
        Job::run(self.command("load"))?;
        let done = work();
        let unloaded = Job::run(self.command("unload"));
        let done = done?;
        unloaded.map(|_| done)
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["kernel", verb, "--name", NAME]);
        command.args(self.options.split(' ').filter(|_| verb == "load"));
        command
    }
}

/// What both carried, in bits a second; whoever went second goes first the next time.
fn turn(round: usize, measured: Duration) -> Result<[f64; 2], String> {
    let [ours, reno] = LAWS;
    if round.is_multiple_of(2) {
        Ok([carry(ours, measured)?, carry(reno, measured)?])
    } else {
        let reno = carry(reno, measured)?;
        Ok([carry(ours, measured)?, reno])
    }
}

fn carry(law: &'static str, measured: Duration) -> Result<f64, String> {
    let ends = Ends::loopback();
    let flow = Flow::start(Carrier::start(&Transport::Kernel(law), &ends)?.connect()?);
    thread::sleep(WARM_UP);
    let (start, bytes) = (Instant::now(), flow.bytes());
    thread::sleep(measured);
    let rate = (flow.bytes() - bytes) as f64 * 8.0 / start.elapsed().as_secs_f64();
    eprintln!("kernel: {law}: {}", Unit::Megabits.write(rate));
    Ok(rate)
}

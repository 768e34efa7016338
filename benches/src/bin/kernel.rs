//! TCP Stream in the kernel: its throughput compared with reno's, and 500 video players under it.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{io, mem, thread};

use thalweg_bench::cable::Ends;
use thalweg_bench::carrier::{Carrier, Transport};
use thalweg_bench::flow::Flow;
use thalweg_bench::job::Job;
use thalweg_bench::players::{COUNT, play, table as players_table};
use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::site::{Tool, VIDEO};
use thalweg_bench::statistics::median;

/// The name under which the law is loaded into the kernel.
const NAME: &str = "thalweg_bench";
/// The congestion controls of the bulk transfers.
const LAWS: [&str; 2] = [NAME, "reno"];
/// The receive buffer that limits both laws to the same window, in bytes.
const HELD: i32 = 1 << 20;
/// The time before the measured interval.
const WARM_UP: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    report("kernel", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let (free, video) = (Control::new(settings, "--rate 1000gbit"), Control::new(settings, "--rate 3.6mbit"));
    let seconds = settings.pick(Duration::from_secs(3), Duration::from_secs(1));
    let rounds = settings.pick(9, 5);
    let turns = |hold| (0..rounds).map(|round| turn(round, hold, seconds)).collect::<Result<Vec<[f64; 2]>, String>>();
    let bulk = || Ok([on_one_processor(|| turns(Some(HELD)))?, turns(None)?]);
    let bulk = free.during(bulk)?;
    let folder = Scrap::folder(VIDEO, 64 << 20)?;
    let measured = settings.pick(Duration::from_secs(30), Duration::from_secs(10));
    let tool = Tool::Thalweg { binary: settings.binary.clone(), options: format!("--name {NAME}") };
    let played = [video.during(|| play(&("thalweg, TCP Stream", tool.clone()), folder.path(), measured))?];

    let text = format!(
        "The cost of the law as a program in the kernel (eBPF): one TCP connection with unlimited data on loopback, in \
         turns with the kernel's own reno, which is first in every other round. Values are medians of {rounds} rounds of \
         {} s, the ratio is of the turns of one round. The first line compares the costs of the laws and not their \
         windows: both ends are on one processor, and the receiver has a buffer of {} MiB, which is smaller than \
         reno's window would become. The second line is loopback without these limits. There the ceiling of the law \
         limits the window at any rate: with 1000gbit and the shortest round trips of loopback, a microsecond, the \
         ceiling is two segments. Reordered segments affect each law differently.\n\n\
         Then {COUNT} players at a time of a video of 3.6 Mb/s from `thalweg serve` under the law. Each takes ten seconds of it at \
         once and then 5/4 of its rate; rates and CPU over {} s after 10 s, stalls from the first request on.",
        seconds.as_secs(),
        HELD >> 20,
        measured.as_secs()
    );
    section(
        "TCP Stream in the kernel",
        &text,
        &[command_line(&free.command("load")), command_line(&video.command("load")), tool.lines(false)],
    );
    let ratio = |turns: &[[f64; 2]]| median(turns.iter().map(|[ours, reno]| ours / reno));
    let row = |(name, turns): (&str, &Vec<[f64; 2]>)| {
        let [ours, reno] = [0, 1].map(|place| Unit::Megabits.write(median(turns.iter().map(|turn| turn[place]))));
        [name.to_owned(), ours, reno, format!("{:.3}", ratio(turns))]
    };
    let names = ["one window, one processor", "as it is"];
    let rows: Vec<[String; 4]> = names.into_iter().zip(&bulk).map(row).collect();
    table(["bulk on loopback", "TCP Stream", "reno", "ratio"], &rows);
    println!("{}", players_table(&played));
    let what = "throughput on loopback of TCP Stream in the kernel / reno's, one window".into();
    let target = Target { what, bound: Bound::AtLeast(0.9), unit: Unit::Ratio };
    let mut results = vec![(target, ratio(&bulk[0]))];
    results.extend(played[0].1.targets("TCP Stream"));
    verdicts(&results);
    Ok(())
}

/// Loads the law into the kernel temporarily.
struct Control {
    binary: PathBuf,
    options: &'static str,
}

impl Control {
    fn new(settings: &Settings, options: &'static str) -> Control {
        Control { binary: settings.binary.clone(), options }
    }

    /// Runs `work` with the law loaded; unloads it even if `work` fails.
    fn during<T>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        // A run that was killed may have left the law loaded.
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

/// Runs `work` in a thread that is pinned to one processor, as are the threads that it starts.
fn on_one_processor<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let pinned = || {
        // SAFETY: the set is a local of the right type and size, and all zeros are the empty one.
        let result = unsafe {
            let mut one: libc::cpu_set_t = mem::zeroed();
            libc::CPU_SET(0, &mut one);
            libc::sched_setaffinity(0, size_of_val(&one), &raw const one)
        };
        match result {
            0 => work(),
            _ => Err(format!("cannot stay on one processor: {}", io::Error::last_os_error())),
        }
    };
    thread::scope(|scope| scope.spawn(pinned).join().expect("no panic"))
}

/// Runs both laws, in an order that alternates from round to round; returns their rates in bits per second.
fn turn(round: usize, hold: Option<i32>, measured: Duration) -> Result<[f64; 2], String> {
    let [ours, reno] = LAWS;
    if round.is_multiple_of(2) {
        Ok([carry(ours, hold, measured)?, carry(reno, hold, measured)?])
    } else {
        let reno = carry(reno, hold, measured)?;
        Ok([carry(ours, hold, measured)?, reno])
    }
}

fn carry(law: &'static str, hold: Option<i32>, measured: Duration) -> Result<f64, String> {
    let ends = Ends::loopback();
    let mut carrier = Carrier::start(&Transport::Kernel(law), &ends)?;
    hold.map_or(Ok(()), |bytes| carrier.hold(bytes))?;
    let flow = Flow::start(carrier.connect()?);
    thread::sleep(WARM_UP);
    let (start, bytes) = (Instant::now(), flow.bytes());
    thread::sleep(measured);
    let rate = (flow.bytes() - bytes) as f64 * 8.0 / start.elapsed().as_secs_f64();
    eprintln!("kernel: {law}: {}", Unit::Megabits.write(rate));
    Ok(rate)
}

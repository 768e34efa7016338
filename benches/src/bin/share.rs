//! The CPU time and memory of one `thalweg share` beside as many `thalweg send` and `srt-live-transmit`.

use std::fmt::Write;
use std::net::{SocketAddr, UdpSocket};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use thalweg_bench::contestant::Contestant;
use thalweg_bench::program::Program;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::source::PAYLOAD;
use thalweg_bench::statistics::median;
use thalweg_bench::udp::free_address;

/// The streams, and the media bits per second of each.
const STREAMS: usize = 16;
const RATE: f64 = 6e6;
/// The time in which receivers answer and laws begin.
const WARM_UP: Duration = Duration::from_secs(3);

/// The senders of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Share,
    Send,
    Srt,
}

/// The results of a turn.
struct Outcome {
    /// Cores that all senders took together.
    cores: f64,
    /// The memory of the first sender, in bytes.
    memory: f64,
}

fn main() -> ExitCode {
    report("share", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let ways = [(Way::Share, "thalweg share"), (Way::Send, "16 thalweg send"), (Way::Srt, "16 srt-live-transmit")];
    let mut outcomes: [Vec<Outcome>; 3] = Default::default();
    let mut alone = Vec::new();
    for _ in 0..settings.pick(5, 1) {
        for ((way, name), outcomes) in ways.iter().zip(&mut outcomes) {
            let outcome = turn(settings, *way, STREAMS)?;
            eprintln!("share: {name}: {:.3} cores", outcome.cores);
            outcomes.push(outcome);
        }
        alone.push(turn(settings, Way::Share, 1)?.memory);
    }
    let text = format!(
        "{STREAMS} streams of {} each on loopback, without repair: user and system time of the senders alone, in cores, and the peak of \
         a sender's resident memory. The programs run in turns; values are medians of all rounds, ratios are of one round.",
        Unit::Megabits.write(RATE)
    );
    section("Several streams from one process", &text, &[ours(settings).lines(), theirs().lines()]);
    let cores = |outcomes: &[Outcome]| median(outcomes.iter().map(|outcome| outcome.cores));
    let memory = |outcomes: &[Outcome]| median(outcomes.iter().map(|outcome| outcome.memory));
    let row = |((_, name), outcomes): (&(Way, &str), &Vec<Outcome>)| {
        [(*name).to_owned(), format!("{:.3}", cores(outcomes)), Unit::Megabytes.write(memory(outcomes))]
    };
    let rows: Vec<_> = ways.iter().zip(&outcomes).map(row).collect();
    table(["senders", "cores", "memory of one"], &rows);
    let [share, send, _] = &outcomes;
    let ratio = median(share.iter().zip(send).map(|(share, send)| share.cores / send.cores));
    let alone = median(alone);
    let further = (memory(share) - alone) / (STREAMS - 1) as f64;
    let target = |what: &str, bound, unit| Target { what: what.into(), bound, unit };
    verdicts(&[
        (target("CPU of share / that of 16 send", Bound::AtMost(1.0), Unit::Ratio), ratio),
        (target("memory of share with one stream", Bound::AtMost(30e6), Unit::Megabytes), alone),
        (target("memory of each further stream", Bound::AtMost(6e6), Unit::Megabytes), further),
    ]);
    Ok(())
}

fn ours(settings: &Settings) -> Contestant {
    Contestant::thalweg("thalweg send", &settings.binary, "--repair none --rate gca", "90ms")
}

fn theirs() -> Contestant {
    Contestant::srt("srt-live-transmit", "")
}

/// Runs `streams` streams, and measures their senders.
fn turn(settings: &Settings, way: Way, streams: usize) -> Result<Outcome, String> {
    let free = |_| free_address().map_err(|error| format!("no free port: {error}"));
    let addresses = |_| (0..streams).map(free).collect::<Result<Vec<SocketAddr>, String>>();
    let (inputs, stations) = (addresses(())?, addresses(())?);
    // Nobody reads the output.
    let output = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let output = output.map_err(|error| format!("no free port: {error}"))?;
    let contestant = if way == Way::Srt { theirs() } else { ours(settings) };
    let receivers = stations.iter().map(|listen| Program::start(contestant.receiver(*listen, output)));
    let receivers = receivers.collect::<Result<Vec<_>, _>>()?;
    let file = Scrap::write(&configuration(&inputs, &stations))?;
    let mut senders = if way == Way::Share {
        let mut command = Command::new(&settings.binary);
        command.arg("share").arg(file.path());
        vec![Program::start(command)?]
    } else {
        let pairs = inputs.iter().zip(&stations);
        pairs.map(|(input, to)| Program::start(contestant.sender(*input, *to))).collect::<Result<_, _>>()?
    };
    let measured = settings.pick(Duration::from_secs(8), Duration::from_secs(2));
    let over = AtomicBool::new(false);
    let cores = thread::scope(|threads| {
        let source = threads.spawn(|| play(&inputs, &over));
        let cpu = || senders.iter().map(Program::cpu).sum::<Duration>();
        thread::sleep(WARM_UP);
        let (before, start) = (cpu(), Instant::now());
        thread::sleep(measured);
        let cores = (cpu() - before).as_secs_f64() / start.elapsed().as_secs_f64();
        over.store(true, Ordering::Relaxed);
        source.join().map_err(|_| "the source failed".to_owned())??;
        Ok::<f64, String>(cores)
    })?;
    senders.iter_mut().try_for_each(Program::check)?;
    drop(receivers);
    let memory = senders[0].peak_memory().unwrap_or_default() as f64;
    Ok(Outcome { cores, memory })
}

fn configuration(inputs: &[SocketAddr], stations: &[SocketAddr]) -> String {
    let mut text = "latency = \"90ms\"\nrepair = \"none\"\n".to_owned();
    for (nth, (input, to)) in inputs.iter().zip(stations).enumerate() {
        let _ = write!(
            text,
            "[[stream]]\nname = \"{nth}\"\ninput = \"udp://{input}\"\nto = \"{to}\"\nneed = \"6mbit\"\nmost = \"20mbit\"\n"
        );
    }
    text
}

/// Sends [`RATE`] to each input.
fn play(inputs: &[SocketAddr], over: &AtomicBool) -> Result<(), String> {
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let (payload, start, mut sent) = ([0x47; PAYLOAD], Instant::now(), 0u64);
    while !over.load(Ordering::Relaxed) {
        let due = (start.elapsed().as_secs_f64() * RATE / 8.0 / PAYLOAD as f64) as u64;
        for _ in sent..due {
            for input in inputs {
                // A program that has not started yet refuses.
                let _ = socket.send_to(&payload, input);
            }
        }
        sent = due;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

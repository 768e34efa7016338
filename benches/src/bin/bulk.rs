//! Encrypted bulk transfers over loopback: throughput, CPU and memory, beside kcptun; and the memory of idle
//! connections.

use std::net::TcpStream;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_bench::cable::Ends;
use thalweg_bench::carrier::{Carrier, Transport};
use thalweg_bench::flow::Flow;
use thalweg_bench::forwarder::Forwarder;
use thalweg_bench::program::{Program, allow_files};
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::statistics::median;

/// kcptun's options, with windows and buffers large enough that it does not wait for acknowledgements.
const KCPTUN: &str = "-mode fast3 --crypt aes-128 --nocomp --sndwnd 4096 --rcvwnd 4096 --smuxver 2 \
                      --smuxbuf 16777216 --streambuf 8388608";

/// The indices of the contestants that are compared.
const OURS: usize = 0;
const KCP: usize = 1;

/// The number of idle connections.
const IDLE: usize = 1000;

/// The time before the measured interval.
const WARM_UP: Duration = Duration::from_secs(2);

/// The time for a program to release the memory that it used to open connections.
const SETTLE: Duration = Duration::from_secs(5);

/// A forwarder with its name.
type Contestant = (&'static str, Forwarder);

fn main() -> ExitCode {
    report("bulk", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    // Both ends of each connection are in this process; each program has one more socket per connection.
    allow_files(4 * IDLE as u64)?;
    let key = Scrap::key(&settings.binary)?;
    let contestants: [Contestant; 3] = [
        ("thalweg", Forwarder::thalweg(&settings.binary, key.path(), "")),
        ("kcptun, AES-128", Forwarder::kcptun(KCPTUN)),
        ("kcptun, AES-128, no repair", Forwarder::kcptun(&format!("{KCPTUN} --ds 0 --ps 0"))),
    ];
    let mut bulks: Vec<Vec<Bulk>> = vec![Vec::new(); contestants.len()];
    for _ in 0..settings.pick(3, 1) {
        for (contestant, bulks) in contestants.iter().zip(&mut bulks) {
            bulks.push(carry(contestant, settings.pick(Duration::from_secs(10), Duration::from_secs(3)))?);
        }
    }
    let idle: Vec<[f64; 2]> = contestants.iter().map(idle).collect::<Result<_, String>>()?;
    let text = format!(
        "One TCP connection with unlimited data into the client, and one out of the server, all on loopback without an \
         emulated path: the writer, the reader and both programs share the cores. CPU is user and system time of both \
         programs per gigabyte that was read. The programs run in turns; values are medians of all rounds. The memory \
         of an idle connection, one that has carried a byte, is the growth of a program's resident memory with {IDLE} \
         such connections, divided by {IDLE}."
    );
    let lines: Vec<String> = contestants.iter().map(|(_, forwarder)| forwarder.lines()).collect();
    section("Bulk through a tunnel", &text, &lines);
    let row = |((contestant, bulks), idle): ((&Contestant, &Vec<Bulk>), &[f64; 2])| row(contestant.0, bulks, idle);
    let rows: Vec<[String; 7]> = contestants.iter().zip(&bulks).zip(&idle).map(row).collect();
    let head = [
        "contestant",
        "throughput",
        "CPU s / GB",
        "memory, server",
        "memory, client",
        "idle connection, server",
        "idle connection, client",
    ];
    table(head, &rows);
    let rate = median(bulks[OURS].iter().map(|bulk| bulk.rate));
    let cost = median(bulks[OURS].iter().zip(&bulks[KCP]).map(|(ours, theirs)| ours.cost / theirs.cost));
    let target = |what: &str, bound, unit| Target { what: what.into(), bound, unit };
    verdicts(&[
        (target("bulk through thalweg tunnel", Bound::AtLeast(2e9), Unit::Megabits), rate),
        (target("CPU of bulk / kcptun's", Bound::AtMost(0.25), Unit::Ratio), cost),
        (
            target("memory of an idle connection", Bound::AtMost(32.0 * 1024.0), Unit::Kibibytes),
            idle[OURS][0].max(idle[OURS][1]),
        ),
    ]);
    Ok(())
}

fn row(name: &str, bulks: &[Bulk], idle: &[f64; 2]) -> [String; 7] {
    let typical = |value: fn(&Bulk) -> f64| median(bulks.iter().map(value));
    [
        name.to_owned(),
        Unit::Megabits.write(typical(|bulk| bulk.rate)),
        format!("{:.2}", typical(|bulk| bulk.cost)),
        Unit::Megabytes.write(typical(|bulk| bulk.memory[0])),
        Unit::Megabytes.write(typical(|bulk| bulk.memory[1])),
        Unit::Kibibytes.write(idle[0]),
        Unit::Kibibytes.write(idle[1]),
    ]
}

/// One bulk transfer.
#[derive(Clone, Debug)]
struct Bulk {
    /// Bits read per second.
    rate: f64,
    /// CPU seconds of both programs per gigabyte.
    cost: f64,
    /// The peak resident memory of server and client, in bytes.
    memory: [f64; 2],
}

fn carry((name, forwarder): &Contestant, measured: Duration) -> Result<Bulk, String> {
    let failed = |error| format!("{name}: {error}\n{}", forwarder.lines());
    let ends = Ends::loopback();
    let mut carrier = Carrier::start(&Transport::Forwarded(forwarder.clone()), &ends).map_err(failed)?;
    let flow = Flow::start(carrier.connect().map_err(failed)?);
    let cpu = |carrier: &Carrier<'_>| carrier.programs.iter().map(Program::cpu).sum::<Duration>();
    thread::sleep(WARM_UP);
    let (start, bytes, before) = (Instant::now(), flow.bytes(), cpu(&carrier));
    thread::sleep(measured);
    let (elapsed, bytes, after) = (start.elapsed(), flow.bytes() - bytes, cpu(&carrier));
    let memory = [0, 1].map(|i| carrier.programs[i].peak_memory().map_or(f64::NAN, |bytes| bytes as f64));
    carrier.check().map_err(failed)?;
    let bulk = Bulk {
        rate: bytes as f64 * 8.0 / elapsed.as_secs_f64(),
        cost: (after - before).as_secs_f64() / (bytes as f64 / 1e9),
        memory,
    };
    eprintln!("bulk: {name}: {}, {:.2} CPU s/GB", Unit::Megabits.write(bulk.rate), bulk.cost);
    Ok(bulk)
}

/// The bytes that server and client keep for each idle connection.
fn idle((name, forwarder): &Contestant) -> Result<[f64; 2], String> {
    let failed = |error| format!("{name}: {error}\n{}", forwarder.lines());
    let ends = Ends::loopback();
    let mut carrier = Carrier::start(&Transport::Forwarded(forwarder.clone()), &ends).map_err(failed)?;
    let memory = |carrier: &Carrier<'_>| [0, 1].map(|i| carrier.programs[i].memory().map_or(f64::NAN, |is| is as f64));
    // The first connection establishes the association.
    let mut connections: Vec<(TcpStream, TcpStream)> = vec![carrier.connect_tcp().map_err(failed)?];
    thread::sleep(SETTLE);
    let before = memory(&carrier);
    for _ in 0..IDLE {
        connections.push(carrier.connect_tcp().map_err(failed)?);
    }
    thread::sleep(SETTLE);
    let after = memory(&carrier);
    carrier.check().map_err(failed)?;
    let grown = [0, 1].map(|i| (after[i] - before[i]) / IDLE as f64);
    eprintln!("bulk: {name}: {} an idle connection", grown.map(|bytes| Unit::Kibibytes.write(bytes)).join(", "));
    Ok(grown)
}

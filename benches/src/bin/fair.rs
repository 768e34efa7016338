//! One bulk transfer of each rate law beside two CUBIC flows of the kernel, through one bottleneck.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_bench::cable::{Cable, Link};
use thalweg_bench::connection::{Carrier, Transport};
use thalweg_bench::flow::Flow;
use thalweg_bench::forwarder::Forwarder;
use thalweg_bench::report::{Settings, Unit, main as report, section, table};
use thalweg_bench::scrap::Scrap;
use thalweg_net::testbed;

/// Megabits a second, and round trips in milliseconds.
const PATHS: [(u64, u64); 4] = [(20, 20), (20, 100), (50, 20), (50, 100)];

/// The kernel's flows.
const RIVALS: usize = 2;

/// A transport by its name.
type Contestant = (&'static str, Transport);

fn main() -> ExitCode {
    report("fair", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    if let Some(why) = testbed::missing() {
        return Err(why.into());
    }
    let key = Scrap::key(&settings.binary)?;
    let thalweg = |options| Forwarder::thalweg(&settings.binary, key.path(), options);
    let contestants: [Contestant; 5] = [
        ("thalweg, copa", Transport::Forwarded(thalweg("--rate copa"))),
        ("thalweg, cubic", Transport::Forwarded(thalweg("--rate cubic"))),
        ("thalweg, tfrc", Transport::Forwarded(thalweg("--rate tfrc"))),
        ("kernel TCP, cubic", Transport::Kernel("cubic")),
        ("kernel TCP, bbr", Transport::Kernel("bbr")),
    ];
    let plan = Plan {
        warm_up: Duration::from_secs(settings.pick(15, 5)),
        measured: Duration::from_secs(settings.pick(45, 10)),
    };
    let mut rows = Vec::new();
    for (megabits, rtt) in PATHS {
        let link = Link { megabits, rtt: Duration::from_millis(rtt), loss: 0.0 };
        for (name, transport) in &contestants {
            let rates = plan.run(settings, transport, &link).map_err(|error| format!("{name}: {error}"))?;
            rows.push(row(&link, name, &rates));
            eprintln!("fair: {}", rows[rows.len() - 1].join(", "));
        }
    }
    let text = format!(
        "One bulk transfer beside {RIVALS} of the kernel's TCP with CUBIC, through `thalweg emulate --tun`: one link with a \
         drop-tail queue of one bandwidth-delay product. Shares are those of the bytes that were read in {} s, after {} s \
         for all to find their place; a fair one is {:.0} %. The last column is what all of them read, of the link's rate.",
        plan.measured.as_secs(),
        plan.warm_up.as_secs(),
        100.0 / (RIVALS + 1) as f64
    );
    section("Beside two CUBIC flows", &text, &[thalweg("--rate copa").lines()]);
    table(["link", "contestant", "its share", "first CUBIC", "second CUBIC", "all, of the link"], &rows);
    Ok(())
}

/// How long it takes.
struct Plan {
    warm_up: Duration,
    measured: Duration,
}

impl Plan {
    /// Bits a second that each flow's reader got, the contestant's first.
    fn run(&self, settings: &Settings, transport: &Transport, link: &Link) -> Result<[f64; RIVALS + 1], String> {
        let mut cable = Cable::lay(&settings.binary, link, 1)?;
        let mut carrier = Carrier::start(transport, &cable.ends)?;
        let mut kernel = Carrier::start(&Transport::Kernel("cubic"), &cable.ends)?;
        let flows = [carrier.connect()?, kernel.connect()?, kernel.connect()?].map(Flow::start);
        thread::sleep(self.warm_up);
        let (start, before) = (Instant::now(), flows.each_ref().map(Flow::bytes));
        thread::sleep(self.measured);
        let (elapsed, after) = (start.elapsed().as_secs_f64(), flows.each_ref().map(Flow::bytes));
        carrier.check()?;
        drop((flows, kernel, carrier));
        cable.check()?;
        Ok(std::array::from_fn(|i| (after[i] - before[i]) as f64 * 8.0 / elapsed))
    }
}

fn row(link: &Link, name: &str, rates: &[f64; RIVALS + 1]) -> [String; 6] {
    let all: f64 = rates.iter().sum();
    let [own, first, second] = rates.map(|rate| Unit::Percent.write(rate / all));
    let path = format!("{} Mb/s, {} ms", link.megabits, link.rtt.as_millis());
    [path, name.to_owned(), own, first, second, Unit::Percent.write(all / (link.megabits as f64 * 1e6))]
}

//! One bulk transfer under each rate law beside two CUBIC flows of the kernel, through one bottleneck.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_bench::cable::{Cable, Link};
use thalweg_bench::carrier::{Carrier, Transport};
use thalweg_bench::flow::Flow;
use thalweg_bench::forwarder::Forwarder;
use thalweg_bench::report::{Settings, Unit, main as report, section, table};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::statistics::median;

/// Link rates in megabits per second, and round-trip times in milliseconds.
const PATHS: [(u64, u64); 4] = [(20, 20), (20, 100), (50, 20), (50, 100)];

/// The number of the kernel's flows.
const RIVALS: usize = 2;

/// A transport with its name.
type Contestant = (&'static str, Transport);

/// The bits per second that each flow's reader received in one run; the contestant's flow comes first.
type Rates = [f64; RIVALS + 1];

fn main() -> ExitCode {
    report("fair", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    if let Some(why) = thalweg_testbed::missing() {
        return Err(why.into());
    }
    let key = Scrap::key(&settings.binary)?;
    let plan = Plan {
        runs: settings.pick(3, 1),
        warm_up: Duration::from_secs(settings.pick(10, 5)),
        measured: Duration::from_secs(settings.pick(24, 10)),
    };
    let mut rows = Vec::new();
    for (megabits, rtt) in PATHS {
        let link = Link { megabits, rtt: Duration::from_millis(rtt), loss: 0.0 };
        let contestants = contestants(settings, &key, &link);
        let mut runs = vec![Vec::new(); contestants.len()];
        for _ in 0..plan.runs {
            for ((name, transport), runs) in contestants.iter().zip(&mut runs) {
                let rates = plan.run(settings, transport, &link).map_err(|error| format!("{name}: {error}"))?;
                eprintln!("fair: {}", row(&link, name, &[rates]).join(", "));
                runs.push(rates);
            }
        }
        rows.extend(contestants.iter().zip(&runs).map(|((name, _), runs)| row(&link, name, runs)));
    }
    let command = Forwarder::thalweg(&settings.binary, key.path(), "--rate copa").lines();
    section("Beside two CUBIC flows", &plan.text(), &[command]);
    let head =
        ["link", "contestant", "its share", "least", "greatest", "first CUBIC", "second CUBIC", "all, of the link"];
    table(head, &rows);
    Ok(())
}

fn contestants(settings: &Settings, key: &Scrap, link: &Link) -> [Contestant; 6] {
    let thalweg =
        |law: &str| Transport::Forwarded(Forwarder::thalweg(&settings.binary, key.path(), &format!("--rate {law}")));
    let fair = format!("fixed:{}kbit", link.megabits * 1000 / (RIVALS as u64 + 1));
    [
        ("thalweg, copa", thalweg("copa")),
        ("thalweg, cubic", thalweg("cubic")),
        ("thalweg, tfrc", thalweg("tfrc")),
        ("thalweg, fixed at a third", thalweg(&fair)),
        ("kernel TCP, cubic", Transport::Kernel("cubic")),
        ("kernel TCP, bbr", Transport::Kernel("bbr")),
    ]
}

/// The number of runs, and their durations.
struct Plan {
    runs: usize,
    warm_up: Duration,
    measured: Duration,
}

impl Plan {
    fn run(&self, settings: &Settings, transport: &Transport, link: &Link) -> Result<Rates, String> {
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

    fn text(&self) -> String {
        let Plan { runs, warm_up, measured } = self;
        let runs = if *runs == 1 {
            "One run".into()
        } else {
            format!("Medians of {runs} runs, in which contestants take turns")
        };
        format!(
            "One bulk transfer beside {RIVALS} of the kernel's TCP with CUBIC, through `thalweg emulate --tun`: one link with a \
             drop-tail queue of one bandwidth-delay product. Shares are those of the bytes that were read in {} s, after \
             {} s in which the flows settle; a fair share is {:.0} %. {runs}; least and greatest are of the transfer's \
             share. The last column is the sum of all flows, as a share of the link's rate. `fixed:` is given a third \
             of that rate, repair included.",
            measured.as_secs(),
            warm_up.as_secs(),
            100.0 / (RIVALS + 1) as f64
        )
    }
}

fn row(link: &Link, name: &str, runs: &[Rates]) -> [String; 8] {
    let all = |rates: &Rates| rates.iter().sum::<f64>();
    let share = |flow: usize| runs.iter().map(move |rates| rates[flow] / all(rates));
    let path = format!("{} Mb/s, {} ms", link.megabits, link.rtt.as_millis());
    let numbers = [
        median(share(0)),
        share(0).fold(f64::INFINITY, f64::min),
        share(0).fold(0.0, f64::max),
        median(share(1)),
        median(share(2)),
        median(runs.iter().map(|rates| all(rates) / (link.megabits as f64 * 1e6))),
    ];
    let [own, least, greatest, first, second, of_link] = numbers.map(|number| Unit::Percent.write(number));
    [path, name.to_owned(), own, least, greatest, first, second, of_link]
}

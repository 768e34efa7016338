//! Bursts of messages over lossy paths: the delay of the messages, and the bytes on the wire, beside the kernel's TCP,
//! kcptun and QUIC.

use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use thalweg_bench::bursts::{BURST, Bursts, EVERY, MESSAGE, TIMEOUT};
use thalweg_bench::cable::{Cable, Link};
use thalweg_bench::carrier::{Carrier, Transport};
use thalweg_bench::forwarder::Forwarder;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::statistics::quantile;

/// Megabits per second: enough to send a burst within 2 ms.
const RATE: u64 = 50;

/// Round-trip times in milliseconds, and shares lost in each direction.
const PATHS: [(u64, f64); 4] = [(150, 0.05), (150, 0.15), (400, 0.05), (400, 0.15)];

/// kcptun's mode for games; its default repair is 3 packets for 10. Compression is off: it makes noise a fifth larger,
/// in a third more packets.
const KCPTUN: &str = "-mode fast3 --nocomp";

/// A lower limit than the default 0.5, to show the effect of less repair.
const TIGHTER: &str = "--max-overhead 0.3";

/// The indices of the contestants that have targets.
const FIXED: usize = 0;
const CUBIC: usize = 1;
const BBR: usize = 2;
const KCP: usize = 3;

/// A transport with its name.
type Contestant = (&'static str, Transport);

fn main() -> ExitCode {
    report("burst", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    if let Some(why) = thalweg_testbed::missing() {
        return Err(why.into());
    }
    let key = Scrap::key(&settings.binary)?;
    let thalweg = |options: &str| Forwarder::thalweg(&settings.binary, key.path(), options);
    let forwarders = [thalweg(&format!("--rate fixed:{RATE}mbit")), Forwarder::kcptun(KCPTUN)];
    let lines = forwarders.each_ref().map(Forwarder::lines);
    let contestants = contestants(forwarders, thalweg);
    let bursts = Bursts { warm_up: 20, measured: settings.pick(400, 100) };
    let seeds = settings.pick(3, 1);
    let (mut rows, mut results) = (Vec::new(), Vec::new());
    for (rtt, loss) in PATHS {
        let link = Link { megabits: RATE, rtt: Duration::from_millis(rtt), loss };
        let outcomes = side_by_side(settings, &contestants, &link, bursts, seeds)?;
        for ((name, _), outcome) in contestants.iter().zip(&outcomes) {
            rows.push(outcome.row(&link, name));
            eprintln!("burst: {}", rows[rows.len() - 1].join(", "));
        }
        results.extend(verdict(&link, &outcomes));
    }
    section("Bursts through losses", &text(bursts, seeds), &lines);
    table(["path", "contestant", "p50", "p95", "p99", "bytes on the wire / payload", "forth", "back"], &rows);
    verdicts(&results);
    Ok(())
}

fn contestants([fixed, kcptun]: [Forwarder; 2], thalweg: impl Fn(&str) -> Forwarder) -> [Contestant; 8] {
    [
        ("thalweg, fixed", Transport::Forwarded(fixed)),
        ("kernel TCP, cubic", Transport::Kernel("cubic")),
        ("kernel TCP, bbr", Transport::Kernel("bbr")),
        ("kcptun, fast3", Transport::Forwarded(kcptun)),
        ("QUIC, quinn", Transport::Quic),
        ("thalweg, fixed, less repair", Transport::Forwarded(thalweg(&format!("--rate fixed:{RATE}mbit {TIGHTER}")))),
        ("thalweg, copa", Transport::Forwarded(thalweg("--rate copa"))),
        ("thalweg, tfrc", Transport::Forwarded(thalweg("--rate tfrc"))),
    ]
}

/// The targets for `thalweg, fixed` (the link's rate) on a path, with the measured values.
fn verdict(link: &Link, outcomes: &[Outcome]) -> [(Target, f64); 3] {
    let p99 = |place: usize| outcomes[place].late(0.99);
    let kernel = if p99(BBR) <= p99(CUBIC) { BBR } else { CUBIC };
    let law = if kernel == BBR { "bbr" } else { "cubic" };
    // A ratio to an infinite delay is 0.
    let never = if p99(kernel).is_finite() { "" } else { ", which never came" };
    let target = |what: &str, most| {
        let what = format!("{what}, {}", link.named());
        Target { what, bound: Bound::AtMost(most), unit: Unit::Ratio }
    };
    [
        (target(&format!("p99 of thalweg, fixed / kernel {law}'s{never}"), 0.5), p99(FIXED) / p99(kernel)),
        (target("p99 of thalweg, fixed / kcptun's", 1.0), p99(FIXED) / p99(KCP)),
        (target("bytes of thalweg, fixed / kcptun's", 1.0), outcomes[FIXED].bytes() / outcomes[KCP].bytes()),
    ]
}

fn text(bursts: Bursts, seeds: u64) -> String {
    let (burst, every, timeout) = (BURST * MESSAGE, EVERY.as_millis(), TIMEOUT.as_secs());
    format!(
        "{BURST} messages of {MESSAGE} bytes at once every {every} ms over one connection, through `thalweg emulate \
         --tun`: a link of {RATE} Mb/s that is otherwise idle, half of the RTT each way, independent losses each way. \
         Delays are from when a burst is due until each message is read in order, {} bursts of {burst} bytes for each \
         of {seeds} seeds, after {} that do not count; a message that is not read {timeout} s after the last burst \
         counts as never read. Bytes on the wire are IP packets as both ends send them. Contestants run at the same \
         time, each over a path of its own with the same seeds. The kernel's TCP and quinn (0.11, one stream) have \
         their defaults, and TCP_NODELAY; forwarders stand between two local TCP connections, and kcptun does not \
         compress, because the random payload cannot be compressed. \
         Of the kernel's laws the one with the lower p99 is compared with. The other settings of `thalweg tunnel` have no target: other rates, and `{TIGHTER}`.",
        bursts.measured, bursts.warm_up
    )
}

/// The results of one contestant on one path.
struct Outcome {
    /// The delays of all messages, in seconds.
    delays: Vec<f64>,
    /// The bytes of IP packets per byte of payload, sent by the near end and by the far end.
    wire: [f64; 2],
}

impl Outcome {
    fn late(&self, q: f64) -> f64 {
        quantile(self.delays.iter().copied(), q)
    }

    /// The bytes of all IP packets per byte of payload.
    fn bytes(&self) -> f64 {
        self.wire.iter().sum()
    }

    fn row(&self, link: &Link, name: &str) -> [String; 8] {
        let late = |q| match self.late(q) {
            f64::INFINITY => "never".to_owned(),
            late => format!("{:.0} ms", late * 1e3),
        };
        let bytes = |bytes: f64| format!("{bytes:.2}");
        [
            link.named(),
            name.to_owned(),
            late(0.5),
            late(0.95),
            late(0.99),
            bytes(self.bytes()),
            bytes(self.wire[0]),
            bytes(self.wire[1]),
        ]
    }
}

/// Runs all contestants at the same time; returns the results of each over all seeds.
fn side_by_side(
    settings: &Settings,
    contestants: &[Contestant],
    link: &Link,
    bursts: Bursts,
    seeds: u64,
) -> Result<Vec<Outcome>, String> {
    let laying = Mutex::new(());
    let all = |(name, transport): &Contestant| {
        thread::scope(|scope| {
            let one = |seed| {
                run(settings, transport, link, seed, bursts, &laying).map_err(|error| format!("{name}: {error}"))
            };
            let runs: Vec<_> = (1..=seeds).map(|seed| scope.spawn(move || one(seed))).collect();
            let mut whole = Outcome { delays: Vec::new(), wire: [0.0; 2] };
            for run in runs {
                let outcome = run.join().expect("no panic")?;
                whole.delays.extend(outcome.delays);
                (0..2).for_each(|end| whole.wire[end] += outcome.wire[end] / seeds as f64);
            }
            Ok(whole)
        })
    };
    thread::scope(|scope| {
        let runs: Vec<_> = contestants.iter().map(|contestant| scope.spawn(|| all(contestant))).collect();
        runs.into_iter().map(|run| run.join().expect("no panic")).collect()
    })
}

fn run(
    settings: &Settings,
    transport: &Transport,
    link: &Link,
    seed: u64,
    bursts: Bursts,
    laying: &Mutex<()>,
) -> Result<Outcome, String> {
    let mut cable = {
        let _turn = laying.lock().expect("no panic");
        Cable::lay(&settings.binary, link, seed)?
    };
    let mut sent = Vec::new();
    let mut carrier = Carrier::start(transport, &cable.ends)?;
    let connection = carrier.connect()?;
    let delays = bursts.run(connection, || {
        sent.push(cable.sent()?);
        Ok(())
    })?;
    carrier.check()?;
    drop(carrier);
    cable.check()?;
    let payload = (bursts.measured * BURST * MESSAGE) as f64;
    Ok(Outcome { delays, wire: [0, 1].map(|end| (sent[1][end] - sent[0][end]) as f64 / payload) })
}

//! The same records on every machine: the records of a small scenario must have the digest that is written down here.
//!
//! Other tests run twice and compare, which says nothing about another processor, compiler or version of `libm`. This
//! test fails if any of them changes a result. It also fails when a law, a dialect of TCP or an element of a path is
//! changed on purpose. Then:
//!
//! 1. Find the reason. If no change was intended, it is a fault: look for the fault, do not write a new digest.
//! 2. Check that the tests against papers, RFCs, ns-3 and theory hold with the change, and that this test fails in the
//!    digests alone: its assertions on the link come first.
//! 3. Write the digests that it prints, in the commit that changes the results, and state there what changed and why.
//!
//! A new probe or quantity changes nothing here, since the values that count are named.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::experiment::{Place, Recorder, Run};
use thalweg_lab::node::watched::{Entry, Event};
use thalweg_lab::scenario::Blueprint;

/// Every law and every distribution of random numbers: they use logarithms, roots and powers.
const SCENARIO: &str = r#"
run = { duration = "4s", warmup = "1s" }
access = { rate = "1gbit", near = ["1ms", "9ms"], far = "1ms" }

[[hop]]
forward = [
    { kind = "drop_tail", rate = "24mbit", queue = 40 },
    { kind = "gilbert_elliott", p = 0.001, r = 0.2, loss_bad = 0.5 },
    { kind = "jitter", distribution = { exponential = "300us" }, keep_order = true },
    { kind = "wire", delay = "8ms" },
]
backward = [{ kind = "wire", delay = "8ms" }]

[[flow]]
name = "newreno"
kind = "tcp"
like = "rfc"

[[flow]]
name = "cubic"
kind = "tcp"
tcp = "cubic"

[[flow]]
name = "linux"
kind = "tcp"
tcp = "linux-reno"
like = "linux"
delayed_ack = false

[[flow]]
name = "vegas"
kind = "tcp"
tcp = "vegas"

[[flow]]
name = "copa"
kind = "tcp"
tcp = "copa"

[[flow]]
name = "film"
kind = "tcp"
tcp = "tcp-stream"
playback = "2mbit"

[[flow]]
kind = "transfers"
arrivals = 5
mean = 10
shape = 1.5

[[flow]]
name = "geneva"
kind = "stream"
rate = "4mbit"
scheme = "geneva"
state = "real"
geneva = { fwnd_min = 0.5, fwnd_max = 3 } # the paper's constants are for 30 Mb/s

[[flow]]
name = "live"
kind = "stream"
scheme = "live"
rate = "2mbit"

[[flow]]
kind = "tfrc"
rate = "2mbit"

[[flow]]
kind = "poisson"
rate = "1mbit"
packet = 700

[[flow]]
kind = "on_off"
rate = "2mbit"
packet = 1000
on = "100ms"
off = "300ms"

[[flow]]
kind = "video"
rate = "1mbit"
payload = 1200
"#;

/// The link of the scenario: a queue of 40 packets before 24 Mb/s.
const QUEUE: i64 = 40;
const BYTES_PER_SECOND: f64 = 3e6;

/// The digests of every packet at the hop, and of the laws' inner values.
const PACKETS: u64 = 0xebf4_4613_602e_1f9f;
const VALUES: u64 = 0x05d1_3bc7_fd2b_f249;

/// Inner values that are real numbers.
const NAMES: [&str; 17] = [
    "cwnd", "ssthresh", "srtt", "rto", "w_max", "k", "w_est", "diff", "base_rtt", "d_q", "v", "lwnd", "ertt", "w", "f",
    "x", "p",
];

/// FNV-1a of 64 bits (G. Fowler et al., draft-eastlake-fnv).
struct Digest(u64);

impl Digest {
    fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    fn take(&mut self, bytes: &[u8]) {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, step);
    }

    fn number(&mut self, number: u64) {
        self.take(&number.to_le_bytes());
    }

    /// There are many kinds of NaN, and the processor decides which one results.
    fn real(&mut self, value: f64) {
        self.number(if value.is_nan() { u64::MAX } else { value.to_bits() });
    }
}

/// The link of the scenario, as its packets show it.
#[derive(Default)]
struct Link {
    inside: i64,
    longest: i64,
    carried: Bytes,
}

impl Link {
    fn see(&mut self, entry: &Entry) {
        match entry.event {
            Event::Came => self.inside += 1,
            Event::Left => {
                self.inside -= 1;
                self.carried += entry.packet.size;
            }
            Event::Dropped => {}
        }
        self.longest = self.longest.max(self.inside);
    }
}

#[test]
fn the_records_of_a_small_scenario_are_those_of_every_machine() {
    let blueprint = Blueprint::parse("digest.toml", SCENARIO, &[], &mut |file| Err(format!("no {file}")));
    let experiment = blueprint.and_then(|blueprint| blueprint.experiment(7)).unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(&experiment, 7).expect("possible");
    run.network_mut().watch(0);
    let (mut recorder, mut now, mut link) = (Recorder::new(&run), Time::ZERO, Link::default());
    let (mut packets, mut values) = (Digest::new(), Digest::new());
    while now < run.end() {
        now += Span::from_millis(100);
        run.until(now);
        let [forward, backward] = run.network_mut().take_log(0);
        forward.iter().for_each(|entry| link.see(entry));
        for entry in forward.iter().chain(&backward) {
            [entry.at.as_nanos(), entry.event as u64, entry.packet.flow.into(), entry.packet.size.0]
                .into_iter()
                .for_each(|number| packets.number(number));
        }
        recorder.look(&run, &mut |place, name, value| {
            if let (Place::Flow(flow, _), true) = (place, NAMES.contains(&name)) {
                values.number(flow.into());
                values.take(name.as_bytes());
                values.real(value);
            }
        });
    }
    let seconds = run.end().as_secs_f64();
    let outcome = run.finish().expect("in = out + dropped + queued");
    // Properties that no correct change can alter: the link is full at most, and these flows leave it nearly so; its
    // queue holds its limit at most, beside the packet on the link.
    let share = link.carried.0 as f64 / (BYTES_PER_SECOND * seconds);
    assert!((0.8..=1.0).contains(&share), "{share} of the link's rate");
    assert_eq!(link.longest, QUEUE + 1);
    let goodput = outcome.value("tcp_goodput_mbps");
    assert!((1.0..24.0).contains(&goodput), "{goodput} Mb/s");
    let seen = format!("{:#018x} {:#018x}", packets.0, values.0);
    assert_eq!(
        seen,
        format!("{PACKETS:#018x} {VALUES:#018x}"),
        "other records than were written down: read the head of this file"
    );
}

#[test]
fn the_digest_is_fnv_1a() {
    // Test vectors of its authors, isthe.com/chongo/tech/comp/fnv.
    for (text, expected) in [("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)] {
        let mut digest = Digest::new();
        digest.take(text.as_bytes());
        assert_eq!(digest.0, expected, "{text}");
    }
}

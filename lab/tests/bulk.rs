//! What it costs that windows of many originals are judged as a whole (`adaptive/bulk.rs`) and not reckoned: both judge the same
//! states of whole runs, in windows that are small enough for either.

use thalweg_core::law::schedule::adaptive::{Adaptive, Parameters};
use thalweg_core::law::schedule::{Choice, Decision, Schedule, View};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_lab::paper::fec_arq::slots::{self, Knowledge, Patience, Source};
use thalweg_lab::paper::fec_arq::ticks::{SLOT, seconds};
use thalweg_lab::paper::fec_arq::{Channel, Outcome};

/// Windows above are judged as a whole by the one law, up to 256 reckoned by the other.
const SMALL: usize = 64;
/// The largest window that is reckoned.
const LARGE: usize = 256;

/// Two laws that see the same; the first is obeyed.
#[derive(Debug)]
struct Pair {
    obeyed: Adaptive,
    asked: Adaptive,
    count: Count,
}

/// States in which one judged as a whole and the other reckoned.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    states: u32,
    /// Both sent a new original, both something of what was in doubt, or neither anything.
    same: u32,
}

impl Schedule for Pair {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        let (obeyed, asked) = (self.obeyed.choose(view), self.asked.choose(view));
        if (SMALL + 1..=LARGE).contains(&view.queue.n()) {
            self.count.states += 1;
            self.count.same += u32::from(kind(obeyed) == kind(asked));
        }
        obeyed
    }
}

impl Probe for Pair {
    fn probe(&self, _: &mut Visitor<'_>) {}
}

fn kind(decision: Decision) -> u8 {
    match decision.choice {
        Choice::New => 0,
        Choice::Repair { .. } | Choice::Resend { .. } => 1,
        Choice::Idle => 2,
    }
}

fn law(exact: usize) -> Adaptive {
    Adaptive::new(Parameters::default()).expect("the default").reckoning(exact)
}

/// Packets of a burst, slots from one to the next, bursts, the share that is lost, and the round trip in slots.
type Run = (usize, u64, u64, f64, u64);

fn run((burst, gap, bursts, eps, rtt): Run, obeyed: usize, asked: usize) -> (Outcome, Count) {
    let mut pair = Pair { obeyed: law(obeyed), asked: law(asked), count: Count::default() };
    let channel = Channel::Random { seed: 7, eps, rtt: rtt * SLOT };
    let source = Source { burst, gap: gap * SLOT, buffer: 1000, bursts };
    let outcome = slots::run(source, &channel, Patience::Overdue, Knowledge::Told, &mut pair);
    (outcome, pair.count)
}

/// What is in docs/controls.md: mostly the two agree, the median is the same within a tenth, and what is late is at most a round
/// trip later, since what no combination went ahead of is mended when it is known to be lost; for no more in vain.
#[test]
fn many_originals_judged_as_one_are_at_most_a_round_trip_later() {
    let runs: [Run; 6] = [
        (8, 10, 400, 0.01, 100),
        (8, 10, 400, 0.05, 100),
        (7, 10, 400, 0.15, 100),
        (9, 10, 400, 0.05, 100),
        (100, 160, 25, 0.01, 100),
        (100, 160, 25, 0.05, 100),
    ];
    for case in runs {
        let (exact, count) = run(case, LARGE, SMALL);
        let (rough, _) = run(case, SMALL, LARGE);
        let [exactly, roughly] = [&exact, &rough].map(|it| [0.5, 0.99].map(|share| it.percentile(share)));
        let [needed, spent] = [&exact, &rough].map(Outcome::overhead);
        let told = format!("{case:?}: {count:?}, s {exactly:?} {roughly:?}, U {needed:.3} {spent:.3}");
        println!("{told}");
        assert!(count.states > 2000 && f64::from(count.same) > 0.65 * f64::from(count.states), "{told}");
        let trip = seconds(case.4 * SLOT);
        assert!(roughly[0] <= exactly[0] * 1.1 && roughly[1] <= exactly[1] + trip && spent <= needed + 0.01, "{told}");
    }
}

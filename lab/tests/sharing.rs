//! Streams that share a path by their needs, under the group of `thalweg share`.

use std::path::Path;

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Experiment, Outcome, Run};
use thalweg_lab::scenario::Blueprint;

/// The scenario of GCA's paper with these parameters, for a minute.
fn cell(settings: &[(&str, &str)]) -> Experiment {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/papers/gca.toml");
    let set = [settings, &[("duration_s", "60")]].concat();
    let set: Vec<_> = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Blueprint::open(&file, &set).and_then(|cell| cell.experiment(1)).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(experiment: &Experiment) -> Outcome {
    Run::new(experiment, 1).expect("a possible run").finish().expect("in = out + dropped + queued")
}

/// The rates of the three clients and of the background, in Mb/s.
fn rates(outcome: &Outcome) -> [f64; 4] {
    let [a, b, c, d] = &outcome.flows[..] else { panic!("three clients and a background") };
    [a, b, c, d].map(|flow| outcome.mbps(flow.delivered()))
}

/// Under TFRC a television, a laptop and a phone get alike, and so the phone is satisfied alone. With measured parameters
/// each gets the same share of what it needs, as 9 : 6 : 3, and the bulk transfer nearly what it had.
#[test]
fn three_screens_in_a_cell_are_satisfied_alike() {
    for slot in ["20us", "9us"] {
        let alike = outcome(&cell(&[("slot", slot)]));
        let by_need = outcome(&cell(&[("slot", slot), ("coupling", "measured")]));
        let spread = |outcome: &Outcome| outcome.value("satisfaction_spread");
        assert!(spread(&alike) > 0.15 && spread(&by_need) < 0.1, "{slot}: {} {}", spread(&alike), spread(&by_need));
        let ([one, _, three, left], before) = (rates(&by_need), rates(&alike)[3]);
        assert!((2.7..3.3).contains(&(one / three)), "{slot}: {one} {three}");
        assert!(left > 0.7 * before, "{slot}: {left} of {before}");
    }
}

/// RFC 8699 couples the rates themselves, with needs as priorities.
#[test]
fn coupled_rates_satisfy_three_screens_alike() {
    let coupled = outcome(&cell(&[("coupling", "rfc8699")]));
    assert!(coupled.value("satisfaction_spread") < 0.1, "{}", coupled.value("satisfaction_spread"));
}

/// With parameters from needs alone the greediest stream sees the fewest loss events, and gets more than its share.
#[test]
fn faster_stream_sees_fewer_loss_events() {
    let experiment = cell(&[("coupling", "fixed")]);
    let mut run = Run::new(&experiment, 1).expect("a possible run");
    let mut sums = [0.0; 3];
    for second in 20..60 {
        run.until(Time::ZERO + Span::from_secs(second));
        for (flow, sum) in (0..).zip(&mut sums) {
            *sum += run.network().gca(flow).expect("a GCA flow").p;
        }
    }
    assert!(sums[0] < sums[1] && sums[1] < sums[2], "{sums:?}");
    let [one, _, three, _] = rates(&run.finish().expect("conservation"));
    assert!(one / three > 3.3, "{one} {three}");
}

#[test]
fn shared_run_does_not_depend_on_how_it_is_cut() {
    for coupling in ["measured", "rfc8699"] {
        let experiment = cell(&[("coupling", coupling)]);
        let mut cut = Run::new(&experiment, 1).expect("a possible run");
        (1..=2_000).for_each(|piece| cut.until(Time::ZERO + Span::from_micros(10_007 * piece)));
        assert_eq!(cut.finish().expect("conservation"), outcome(&experiment), "{coupling}");
    }
}

/// A run of a minute, without hops and flows.
const FRAME: &str = "\
[run]
duration = '60s'
warmup = '20s'
[access]
rate = '1gbit'
near = '5ms'
far = '5ms'
";

const LINK: &str = "\
[[hop]]
rate = '6mbit'
queue = 30
delay = '10ms'
";

fn linked(text: &str) -> Result<Experiment, String> {
    described(&format!("{FRAME}{LINK}{text}"))
}

fn described(text: &str) -> Result<Experiment, String> {
    let blueprint = Blueprint::parse("share.toml", text, &[], &mut |_| Err("no files".into()));
    blueprint.and_then(|blueprint| blueprint.experiment(1)).map_err(|error| error.to_string())
}

fn stream(need: &str, keys: &str) -> String {
    format!("[[flow]]\nname = 'needs {need}'\nrate = '6mbit'\nneed = '{need}mbit'\n{keys}\n")
}

/// The sessions of `thalweg share` themselves: two streams on a link that holds half of what they need.
#[test]
fn live_sessions_share_by_need() {
    let live = "kind = 'stream'\nscheme = 'live-none'\nrate_law = 'gca'\npacket = 1200";
    let [alone, together] = ["none", "measured"].map(|coupling| {
        let text = format!("[share]\ncoupling = '{coupling}'\n") + &stream("6", live) + &stream("3", live);
        outcome(&linked(&text).expect("a possible experiment")).value("satisfaction_spread")
    });
    assert!(alone > 0.3 && together < 0.1, "{alone} {together}");
}

/// A phone behind 0.3 Mb/s of its own, two streams that share 8 Mb/s. RFC 8699 takes the bottleneck for granted, and gives
/// the phone its share of all rates, most of which is lost. With measured parameters its own law keeps it to its path.
#[test]
fn stream_with_a_bottleneck_of_its_own_keeps_to_its_path_with_measured_parameters_alone() {
    let hop = |rate: &str, queue: u32| format!("[[hop]]\nrate = '{rate}'\nqueue = {queue}\ndelay = '5ms'\n");
    let flow = |name: &str, need: u32, hops: &str| {
        let keys = format!("kind = 'tfrc'\npacket = 1052\nrate = '{need}mbit'\nneed = '{need}mbit'\nhops = {hops}");
        format!("[[flow]]\nname = '{name}'\n{keys}\n")
    };
    let [measured, coupled] = ["measured", "rfc8699"].map(|coupling| {
        let text = FRAME.to_owned()
            + &hop("0.3mbit", 10)
            + &hop("8mbit", 40)
            + &format!("[share]\ncoupling = '{coupling}'\n")
            + &flow("tv", 9, "2")
            + &flow("laptop", 6, "2")
            + &flow("phone", 3, "[1, 2]");
        let phone = outcome(&described(&text).expect("a possible experiment")).flows.pop().expect("the phone").offered;
        phone.dropped as f64 / phone.packets as f64
    });
    assert!(measured < 0.1 && coupled > 0.3, "lost of the phone's packets: {measured}, {coupled}");
}

#[test]
fn coupling_that_cannot_be_is_refused() {
    let (tfrc, share) = ("kind = 'tfrc'", "[share]\ncoupling = 'measured'\n");
    let cbr = "kind = 'cbr'\npacket = 1000";
    let live = "kind = 'stream'\nscheme = 'live'\nalpha = 2";
    for (text, expected) in [
        (format!("[share]\ncoupling = 'fair'\n{}", stream("6", tfrc)), "fixed, measured or rfc8699, or none"),
        (format!("[share]\ncoupling = 'fixed'\nnorm = 'all'\n{}", stream("6", tfrc)), "sum, max or min"),
        (format!("{share}{}", stream("6", cbr)), "but no GCA law"),
        (format!("{share}{}", stream("7", tfrc)), "at most its media rate"),
        (format!("{share}[[flow]]\nkind = 'tfrc'\nrate = '6mbit'\n"), "no flow has a 'need'"),
        (format!("{share}{}", stream("1", "kind = 'tfrc'\ncount = 33")), "33 flows with a 'need', expected at most 32"),
        (stream("0", tfrc), "a need of 0bit, expected one above zero"),
        (stream("6", "kind = 'tfrc'\nalpha = 0"), "alpha must be at least 0.01 and at most 16"),
        (stream("6", live), "'alpha' needs kind = \"tfrc\""),
    ] {
        let error = linked(&text).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

//! Experiments in TOML: their content, and their error messages.

mod refusals;

use std::path::{Path as FilePath, PathBuf};

use thalweg_core::law::redundancy::{Law, fixed::Fixed, none};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{Experiment, Kind, Outcome, Run};
use thalweg_lab::network::Hop;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::scenario::{Blueprint, Error, Value};
use thalweg_lab::stream::scheme::Scheme;
use thalweg_lab::tcp::Recovery;

fn scenarios() -> PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

fn settings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn shipped(file: &str, set: &[(&str, &str)]) -> Blueprint {
    Blueprint::open(&scenarios().join(file), &settings(set)).unwrap_or_else(|error| panic!("{error}"))
}

fn parse(text: &str, set: &[(&str, &str)]) -> Result<Blueprint, Error> {
    Blueprint::parse("lab.toml", text, &settings(set), &mut |_| Err("cannot be read: there are no files here".into()))
}

fn experiment(blueprint: &Blueprint, seed: u64) -> Experiment {
    blueprint.experiment(seed).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(blueprint: &Blueprint, seed: u64) -> Outcome {
    let run = Run::new(&experiment(blueprint, seed), seed).expect("a possible run");
    run.finish().expect("in = out + dropped + queued")
}

/// A whole file except for its flows.
const FRAME: &str = "\
[run]
duration = '2s'
[access]
rate = '1gbit'
near = '1ms'
far = '1ms'
[[hop]]
rate = '10mbit'
queue = 20
delay = '3ms'
";

/// A path file, and the recording that it names: of ten packets the fourth was lost.
fn path_files(name: &str) -> Result<String, String> {
    let direction =
        "[[forward.element]]\nkind = 'recorded'\nfile = 'line.csv'\nindex = 'near'\nsent = 'at'\ndelay = 'ms'\n";
    match name {
        "paths/line.toml" => Ok(format!("seed = 1\n[forward]\n{direction}lost = 'lost'\n[reverse]\n")),
        "paths/crowded.toml" => {
            let link = "[[forward.element]]\nkind = 'wire'\ndelay = '1ms'\n";
            let cbr = "[[forward.traffic]]\nkind = 'cbr'\nbefore = 'wire'\nrate = '1mbit'\npacket = 500\n";
            Ok(format!("seed = 1\n[forward]\n{link}{cbr}[reverse]\n"))
        }
        "paths/line.csv" => {
            let rows = (0..10).map(|nth| format!("{},20,{}\n", nth * 10, u8::from(nth == 3)));
            Ok("at,ms,lost\n".to_owned() + &rows.collect::<String>())
        }
        _ => Err("cannot be read: no such file".into()),
    }
}

#[test]
fn a_hop_can_be_a_path_file_of_emulate() {
    let text = |file: &str| {
        let flow = "[[flow]]\nkind = 'cbr'\nrate = '80kbit'\npacket = 100\naccess = { rate = '1gbit', near = '0s', far = '0s' }";
        format!("[run]\nduration = '10s'\n[[hop]]\npath = '{file}'\n{flow}\n")
    };
    let parse = |file: &str| Blueprint::parse("lab.toml", &text(file), &[], &mut |name| path_files(name));
    let flow = outcome(&parse("paths/line.toml").expect("a path"), 1).flows[0].clone();
    assert_eq!((flow.offered.packets, flow.offered.dropped), (1000, 100));
    for (file, why) in [
        ("paths/none.toml", "lab.toml:4: 'paths/none.toml' cannot be read: no such file"),
        (
            "paths/crowded.toml",
            "lab.toml:4: 'paths/crowded.toml' has cross traffic, which is a [[flow]] of an experiment",
        ),
    ] {
        let seen = parse(file).expect_err(why).to_string();
        assert!(seen.starts_with(why), "{seen}");
    }
}

#[test]
fn every_shipped_scenario_describes_an_experiment() {
    for folder in ["lab", "papers"] {
        for entry in scenarios().join(folder).read_dir().expect(folder) {
            let path = entry.expect("an entry").path();
            let blueprint = Blueprint::open(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert!(!blueprint.about().is_empty(), "{}", path.display());
            Run::new(&experiment(&blueprint, 1), 1).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        }
    }
}

#[test]
fn the_manual_shows_the_example_that_is_tested() {
    let read = |file: &str| std::fs::read_to_string(scenarios().join(file)).expect(file);
    assert!(read("../docs/lab.md").contains(&read("lab/example.toml")));
}

#[test]
fn the_example_carries_something_of_every_flow() {
    let example = shipped("lab/example.toml", &[]);
    let experiment = experiment(&example, 1);
    let outcome = outcome(&example, 1);
    for (index, group) in experiment.groups.iter().enumerate() {
        let delivered: u64 =
            outcome.flows.iter().filter(|flow| flow.group == index).map(|flow| flow.delivered().0).sum();
        assert!(delivered > 0, "{} delivers nothing", group.name);
    }
}

/// Rivals of one law share the link evenly, and Vegas yields to laws that fill the queue (J. Mo, R. La, V. Anantharam, J. Walrand,
/// INFOCOM 1999).
#[test]
fn rivals_share_a_link_by_their_laws() {
    let share = |tcp: &str, seed: u64| {
        let set = [("tcp", tcp), ("duration_s", "80")];
        let outcome = outcome(&shipped("lab/rivals.toml", &set), seed);
        let of = |group: usize| -> u64 {
            outcome.flows.iter().filter(|flow| flow.group == group).map(|flow| flow.delivered().0).sum()
        };
        // 50 Mb/s for 60 s, less headers and what is lost.
        assert!((0.85..1.0).contains(&((of(0) + of(1)) as f64 / 375e6)), "{tcp}: {} {}", of(0), of(1));
        of(0) as f64 / (of(0) + of(1)) as f64
    };
    // Which of two equal groups is ahead after a minute is chance.
    let mean = |tcp| (1..=8).map(|seed| share(tcp, seed)).sum::<f64>() / 8.0;
    let (even, yielding) = (mean("cubic"), mean("vegas"));
    assert!((0.35..0.65).contains(&even) && yielding < 0.35, "{even} {yielding}");
}

#[test]
fn parameters_change_what_is_built() {
    let base = experiment(&shipped("papers/geneva-s1.toml", &[]), 1);
    // G-S1 at 10 ms: BDP / 1500 bytes = 833.3 packets, and 10 ms = 2 (3 + 1 + 1) ms.
    let link = |queue, delay| Hop::link(Rate::from_mbps(1_000), Limit::Packets(queue), Span::from_millis(delay));
    assert_eq!(base.hops, [link(833, 3)]);
    assert_eq!(base.groups.iter().map(|group| group.count).collect::<Vec<_>>(), [100, 10]);
    let set = [("n_tcp", "700"), ("rtt_ms", "100"), ("tcp", "cubic"), ("delayed_ack", "false"), ("min_rto_s", "1")];
    let other = experiment(&shipped("papers/geneva-s1.toml", &set), 1);
    // 8333 packets, which the paper limits to 2048.
    assert_eq!(other.hops, [link(2_048, 48)]);
    assert_eq!(other.groups[0].count, 700);
    let Kind::Tcp(tcp) = &other.groups[0].kind else { panic!("{:?}", other.groups[0]) };
    assert_eq!(
        (tcp.law.to_string(), tcp.delayed_ack, tcp.timeouts.least),
        ("cubic".to_owned(), None, Span::from_secs(1))
    );
    for (law, prr, expected) in [
        ("newreno", "auto", Recovery::Sack),
        ("linux-reno", "auto", Recovery::SackPrr),
        ("newreno", "true", Recovery::SackPrr),
        ("linux-reno", "false", Recovery::Sack),
    ] {
        let groups = experiment(&shipped("papers/geneva-s1.toml", &[("tcp", law), ("prr", prr)]), 1).groups;
        let Kind::Tcp(tcp) = &groups[0].kind else { panic!("{:?}", groups[0]) };
        assert_eq!(tcp.recovery, expected, "{law}, prr {prr}");
    }
    for (value, queue) in [("0", 833), ("auto", 833), ("50", 50)] {
        let queued = experiment(&shipped("papers/geneva-s1.toml", &[("queue_packets", value)]), 1);
        assert_eq!(queued.hops, [link(queue, 3)], "{value}");
    }
}

#[test]
fn a_parameter_switches_the_scheme() {
    let kind = |scheme| experiment(&shipped("papers/geneva-s1.toml", &[("scheme", scheme)]), 1).groups[1].kind.clone();
    let stream = |scheme| if let Kind::Stream(stream) = kind(scheme) { stream.scheme } else { panic!("{scheme}") };
    assert_eq!(stream("static12"), Scheme::blocks(Fixed::new(12)));
    assert_eq!(stream("none"), Scheme::blocks(none::None));
    assert_eq!(stream("udp"), Scheme::Udp);
    // 33 packets of 1500 bytes every 10 ms.
    assert_eq!(stream("cbr"), Scheme::Cbr(Rate::from_bps(39_600_000)));
    assert_eq!(stream("cbr12"), Scheme::Cbr(Rate::from_bps(44_400_000)));
    assert!(
        matches!(stream("geneva"), Scheme::Blocks(Law::Geneva(_)))
            && matches!(stream("dp-fec"), Scheme::Blocks(Law::DpFec(_)))
    );
    let repair = |scheme| if let Kind::Live(live) = kind(scheme) { live.repair } else { panic!("{scheme}") };
    assert_eq!(repair("live-static8"), Fixed::new(8).into());
    assert_eq!(repair("live-none"), none::None.into());
    assert!(matches!(repair("live"), Law::Geneva(_)));
    let Kind::Tfrc(media, None) = kind("tfrc") else { panic!("tfrc") };
    assert_eq!((media.rate, media.packet), (Rate::from_mbps(30), Bytes(1500)));
}

#[test]
fn parameters_keep_their_order_and_know_whether_they_were_set() {
    let text = format!("[parameters]\nz = 1\na = '= z + 1'\nwords = 'x'\n{FRAME}[[flow]]\nkind = 'tcp'\n");
    let seen = |set: &[(&str, &str)]| -> Vec<(String, Value, bool)> {
        let blueprint = parse(&text, set).expect("parameters");
        let each = blueprint.parameters().iter();
        each.map(|parameter| (parameter.name.clone(), parameter.value.clone(), parameter.set)).collect()
    };
    let words = ("words".to_owned(), Value::Text("x".into()), false);
    let number = |name: &str, value, set| (name.to_owned(), Value::Number(value), set);
    assert_eq!(seen(&[]), [number("z", 1.0, false), number("a", 2.0, false), words.clone()]);
    assert_eq!(seen(&[("z", "4")]), [number("z", 4.0, true), number("a", 5.0, false), words.clone()]);
    assert_eq!(seen(&[("a", "9"), ("z", "4")]), [number("z", 4.0, true), number("a", 9.0, true), words]);
}

#[test]
fn settings_that_do_not_fit_are_errors_of_the_settings() {
    let text = format!("[parameters]\nn = 1\nyes = true\n{FRAME}");
    for (set, expected) in [
        (("m", "1"), "lab.toml: unknown parameter 'm', expected one of n, yes"),
        (("n", "many"), "lab.toml: n = 'many', expected a number, such as 1"),
        (("n", "inf"), "lab.toml: n = 'inf', expected a number"),
        (("yes", "1"), "lab.toml: yes = '1', expected true or false, such as true"),
    ] {
        let error = parse(&text, &[set]).expect_err(expected);
        assert!(error.to_string().starts_with(expected) && error.is_of_settings(), "{error}");
    }
    let error = parse(FRAME, &[("n", "1")]).expect_err("there are none").to_string();
    assert!(error.starts_with("lab.toml: unknown parameter 'n'"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let example = shipped("lab/example.toml", &[]);
    let first = outcome(&example, 1);
    assert_eq!(outcome(&example, 1), first);
    assert_ne!(outcome(&example, 2), first);
}

#[test]
fn looking_at_a_run_does_not_change_it() {
    let example = shipped("lab/example.toml", &[]);
    let mut watched = Run::new(&experiment(&example, 3), 3).expect("a possible run");
    let (mut now, mut shown) = (Time::ZERO, 0);
    while now < watched.end() {
        now += Span::from_millis(137);
        watched.until(now);
        watched.probe(0, &mut |_, _| shown += 1);
    }
    assert!(shown > 0);
    assert_eq!(watched.finish().expect("in = out + dropped + queued"), outcome(&example, 3));
}

#[test]
fn flows_of_one_section_draw_apart() {
    let text = format!("{FRAME}[[flow]]\nkind = 'poisson'\nrate = '1mbit'\npacket = 500\ncount = 2\n");
    let groups = experiment(&parse(&text, &[]).expect("two sources"), 1).groups;
    assert_eq!(groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["poisson/1", "poisson/2"]);
    assert_ne!(groups[0].kind, groups[1].kind);
}

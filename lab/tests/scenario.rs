//! Scenario files: their content, and their error messages.

use std::path::{Path as FilePath, PathBuf};

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::packet::Packet;
use thalweg_lab::path::Path;
use thalweg_lab::scenario::{Error, Scenario};

fn scenarios() -> PathBuf {
    FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

/// A file that a shipped scenario names. Recordings are not part of Thalweg and are searched in ../shared/data, too.
fn load(name: &str) -> Result<String, String> {
    let Some(recording) = name.strip_prefix("recordings/") else {
        return std::fs::read_to_string(scenarios().join(name)).map_err(|error| error.to_string());
    };
    let brought = std::fs::read_to_string(scenarios().join(name));
    let shared = || std::fs::read_to_string(scenarios().join("../../shared/data/net").join(recording));
    brought.or_else(|_| shared()).map_err(|_| NO_RECORDING.to_owned())
}

const NO_RECORDING: &str = "this recording is not here";

fn parse(text: &str) -> Result<Scenario, Error> {
    Scenario::parse("path.toml", text, None, &mut |_| Err("cannot be read: there are no files here".into()))
}

fn complaint(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

/// Sends `count` packets, one every `gap`; returns the packets delivered, with their times.
fn story(path: &mut Path, count: u32, gap: Span) -> Vec<(Time, Packet)> {
    let mut out = Vec::new();
    let mut now = Time::ZERO;
    for flow in 0..count {
        path.accept(now, Packet::datagram(flow, vec![0; 1_300]));
        now += gap;
        while let Some(at) = path.next().filter(|at| *at <= now) {
            out.extend(path.poll(at).map(|packet| (at, packet)));
        }
    }
    check::conservation(path).expect("in = out + dropped + queued");
    out
}

/// Sends `count` packets of which only the `size` matters.
fn flood(path: &mut Path, count: u32, size: Bytes, gap: Span) {
    let mut now = Time::ZERO;
    for flow in 0..count {
        path.accept(now, Packet::length(flow, size));
        now += gap;
        while path.poll(now).is_some() {}
    }
    check::conservation(path).expect("in = out + dropped + queued");
}

#[test]
fn every_shipped_scenario_can_be_read_and_carries_packets() {
    for entry in scenarios().read_dir().expect("scenarios").map(|entry| entry.expect("entry").path()) {
        if entry.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let name = entry.display().to_string();
        let text = std::fs::read_to_string(&entry).expect("a scenario");
        let mut scenario = match Scenario::parse(&name, &text, None, &mut load) {
            Ok(scenario) => scenario,
            Err(error) if error.to_string().contains(NO_RECORDING) => {
                println!("skipped: {error}");
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        for path in [&mut scenario.forward, &mut scenario.reverse] {
            let out = story(path, 2_000, Span::from_millis(4));
            assert!(out.len() > 1_800, "{}: {} of 2000 were delivered", entry.display(), out.len());
        }
    }
}

#[test]
fn the_manual_shows_the_example_that_is_tested() {
    let read = |file: &str| std::fs::read_to_string(scenarios().join(file)).expect(file);
    assert!(read("../docs/emulate.md").contains(&read("emulate-example.toml")));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let run = |seed| {
        let mut scenario = Scenario::open(&scenarios().join("emulate-example.toml"), Some(seed)).expect("the example");
        (story(&mut scenario.forward, 5_000, Span::from_micros(400)), scenario)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
}

#[test]
fn the_demo_loses_what_its_comment_says() {
    // The loss in the channel and in the queue, of packets of 1328 bytes (on the wire) every `gap`, for five minutes.
    let lost = |gap| {
        let mut demo = Scenario::open(&scenarios().join("demo.toml"), None).expect("the demo").forward;
        flood(&mut demo, 875_000, Bytes(1328), gap);
        ["gilbert_elliott", "bottleneck"].map(|name| {
            let account = demo.accounts().find(|account| account.name == name).expect("an element of the demo");
            account.tally.dropped.of_ends as f64 / 875e3
        })
    };
    // 31 Mb/s. pi = p / (p + r) = 0.05 in the bad state, in which 0.3 are lost; the lag-one correlation of the states
    // is 0.99895, so the standard error of the mean of 875 000 is 0.3 sqrt(0.05 0.95 / 875 000 * 1.99895 / 0.00105).
    let [channel, queue] = lost(Span::from_nanos(342_700));
    assert!((channel - 0.015).abs() < 3.0 * 0.00305, "the channel loses {channel}");
    assert!(queue < 0.0005, "the queue loses {queue}");
    // 40 Mb/s. Bursts of more than the 135 ms in which the queue fills are 32 % of all; in the 120 ms that remain of
    // them on average, of every 1620 ms, 8 of 68 Mb/s are lost: 0.3 %.
    let [_, queue] = lost(Span::from_nanos(265_600));
    assert!(queue > 0.001 && queue < 0.006, "the queue loses {queue}");
}

#[test]
fn one_more_element_changes_nothing_in_the_draws_of_the_others() {
    let loss = "[[forward.element]]\nkind = \"loss\"\nrate = 0.3\n";
    let jitter = "[[forward.element]]\nkind = \"jitter\"\ndistribution = { uniform = \"1us\" }\n";
    let survivors = |elements: &str| {
        let mut scenario = parse(&format!("seed = 5\n[forward]\n{elements}[reverse]\n")).expect(elements);
        let out = story(&mut scenario.forward, 500, Span::from_millis(1));
        out.into_iter().map(|(_, packet)| packet.flow).collect::<Vec<_>>()
    };
    let alone = survivors(loss);
    assert!(alone.len() < 500);
    assert_eq!(survivors(&format!("{jitter}{loss}")), alone);
    assert_eq!(survivors(&format!("{loss}{jitter}")), alone);
}

#[test]
fn directions_and_names_have_draws_of_their_own() {
    let loss = |direction, name| format!("[[{direction}.element]]\nkind = \"loss\"\nname = \"{name}\"\nrate = 0.5\n");
    let text = format!("seed = 5\n{}{}", loss("forward", "a"), loss("reverse", "a"));
    let mut scenario = parse(&text).expect("two directions");
    let mut renamed = parse(&text.replace("\"a\"", "\"b\"")).expect("two directions");
    let flows = |path: &mut Path| -> Vec<u32> {
        story(path, 100, Span::from_millis(1)).into_iter().map(|(_, packet)| packet.flow).collect()
    };
    let forward = flows(&mut scenario.forward);
    assert_ne!(forward, flows(&mut scenario.reverse));
    assert_ne!(forward, flows(&mut renamed.forward));
}

#[test]
fn cross_traffic_takes_its_share_of_the_link_and_leaves() {
    let text = r#"
        seed = 1
        [forward]
        element = [{ kind = "drop_tail", rate = "12mbit", queue = 10 }]
        traffic = [{ kind = "cbr", before = "drop_tail", rate = "6mbit", packet = 1500 }]
        [reverse]
    "#;
    let mut scenario = parse(text).expect("inline tables are tables");
    // 1500 bytes a millisecond fill the link alone; the excess is lost, by this flow or by the cross traffic.
    flood(&mut scenario.forward, 10_000, Bytes(1500), Span::from_millis(1));
    let account = scenario.forward.accounts().next().expect("one element");
    let lost = account.tally.dropped;
    // The link carries 10 000 packets of the 15 000 that arrive.
    assert!(lost.total().abs_diff(5_000) <= 11, "{lost:?}");
    assert!(lost.of_ends > 0);
    assert!(scenario.forward.delivered() < 10_000);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let with = |lines: &str| complaint(&format!("seed = 1\n[reverse]\n[[forward.element]]\n{lines}\n"));
    let cases = [
        (complaint(""), "path.toml:1: missing 'seed'"),
        (complaint("seed = 1\n[forward]\n"), "path.toml:1: missing [reverse]"),
        (complaint("[run]\n"), "path.toml:1: an experiment for `thalweg lab`"),
        (complaint("seed = -1\n"), "path.toml:1: invalid value: integer `-1`, expected a whole number from 0"),
        (complaint("seed = 1\nforward = 3\n"), "path.toml:2: expected a table, found integer"),
        (
            complaint("seed = 1\n[forward]\n[reverse]\n[sideways]\n"),
            "path.toml:4: unknown 'sideways', expected seed, [forward], [reverse] or [wifi]",
        ),
        (complaint("seed = \n"), "path.toml:1: "),
        (with("delay = \"20ms\""), "path.toml:3: missing 'kind'"),
        (with("kind = \"wires\""), "path.toml:4: no element of kind 'wires', expected wire, drop_tail"),
        (with("kind = \"wire\""), "path.toml:3: missing field `delay`"),
        (with("kind = \"wire\"\ndelay = \"20\""), "path.toml:5: '20' is not a duration such as 90ms"),
        (
            with("kind = \"wire\"\ndelay = 20"),
            "path.toml:5: invalid type: integer `20`, expected a string with a number",
        ),
        (
            with("kind = \"wire\"\ndelay = \"1s\"\nloss = 1"),
            "path.toml:6: unknown field `loss`, expected one of `delay`, `kind`, `name`",
        ),
        (
            with("kind = \"loss\"\nrate = 1.5"),
            "path.toml:5: invalid value: floating point `1.5`, expected a share from",
        ),
        (
            with("kind = \"drop_tail\"\nrate = \"1mbit\"\nqueue = -1"),
            "path.toml:6: invalid value: integer `-1`, expected",
        ),
        (with("kind = \"drop_tail\"\nrate = \"0bit\"\nqueue = 1"), "path.toml:3: the rate of a link"),
        (
            with("kind = \"trace_link\"\ntrace = \"x.up\"\nqueue = 9"),
            "path.toml:5: 'x.up' cannot be read: there are no files here",
        ),
        (
            with("kind = \"tap\"\nkeep = 1\n[[forward.element]]\nkind = \"tap\"\nkeep = 1"),
            "path.toml:6: a second element named 'tap'",
        ),
        (
            with(
                "kind = \"tap\"\nkeep = 1\n[[forward.traffic]]\nkind = \"cbr\"\nrate = \"1mbit\"\npacket = 99\nbefore = \"x\"",
            ),
            "path.toml:6: no element is named 'x'",
        ),
    ];
    for (seen, expected) in cases {
        assert!(seen.starts_with(expected), "expected: {expected}\n    seen: {seen}");
        assert!(!seen.contains('\n'), "{seen}");
    }
}

#[test]
fn errors_of_stations_do() {
    let station = |name: &str, more: &str| format!("[[wifi.station]]\nname = '{name}'\nrate = '6mbit'\n{more}\n");
    let cell = |stations: &[String]| {
        complaint(&format!("seed = 1\n[forward]\n[reverse]\n[wifi]\nslot = '9us'\nqueue = 9\n{}", stations.concat()))
    };
    let two = "address = '10.0.0.2'";
    for (seen, expected) in [
        (cell(&[station("a", "address = 'here'")]), "path.toml:10: 'here' is no IP address such as 10.77.0.2"),
        (cell(&[station("a", two), station("b", two)]), "path.toml:14: a second station with the address 10.0.0.2"),
        (cell(&[station("a", two), station("b", "")]), "path.toml:4: some stations have an 'address' and others"),
        (
            cell(&[station("a", &format!("{two}\ncount = 2"))]),
            "path.toml:10: several stations have no common 'address'",
        ),
    ] {
        assert!(seen.starts_with(expected) && !seen.contains('\n'), "expected: {expected}\n    seen: {seen}");
    }
}

#[test]
fn refusal_of_a_distribution_shows_how_one_is_written() {
    let example = "{ exponential = \"500us\" }";
    for (text, expected) in [
        ("\"uniform\"", "invalid type: string \"uniform\", expected one distribution with its time, as in {"),
        ("{ uniform = \"1ms\", exponential = \"1ms\" }", "jitter has one of uniform, exponential and normal"),
        ("{}", "jitter has one of uniform, exponential and normal"),
        ("{ pareto = \"1ms\" }", "unknown field `pareto`, expected one of `uniform`, `exponential`, `normal`"),
        ("{ normal = \"1ms\" }", "invalid type: string \"1ms\", expected both times, as in { mean = \"2ms\""),
    ] {
        let jitter = format!("kind = \"jitter\"\ndistribution = {text}");
        let seen = complaint(&format!("seed = 1\n[reverse]\n[[forward.element]]\n{jitter}\n"));
        assert!(seen.starts_with(&format!("path.toml:5: {expected}")) && !seen.contains('\n'), "{seen}");
        assert!(!seen.contains("as in { exp") || seen.ends_with(example), "{seen}");
    }
}

#[test]
fn impossible_traffic_is_refused_with_its_line() {
    let complain = |kind: &str, keys: &str| {
        let text = format!(
            "seed = 1\n[reverse]\n[[forward.element]]\nkind = \"tap\"\nkeep = 1\n[[forward.traffic]]\nbefore = \"tap\"\n\
             kind = \"{kind}\"\n{keys}\n"
        );
        let mut file = |_: &str| Ok("type,bytes\nI,900\nX,800\n".to_owned());
        Scenario::parse("path.toml", &text, None, &mut file).expect_err(keys).to_string()
    };
    let rate = "rate = \"1mbit\"\npayload = 1310";
    let cases = [
        ("poisons", "", "8: no traffic of kind 'poisons', expected on_off, cbr, poisson, video or video_trace"),
        ("poisson", "rate = \"0bit\"\npacket = 99", "6: the rate of traffic"),
        ("poisson", "rate = \"9gbit\"\npacket = 99", "6: more than a million packets a second"),
        ("poisson", "rate = \"1mbit\"\npacket = 99\non = 3", "11: unknown field `on`"),
        ("video", "rate = \"1mbit\"\npayload = 0", "6: 'payload' must be above 0"),
        ("video", "rate = \"0bit\"\npayload = 9", "6: the rate of traffic"),
        (
            "video",
            &format!("{rate}\nfps = 0"),
            "11: invalid value: floating point `0.0`, expected frames a second from",
        ),
        ("video", &format!("{rate}\ngop = \"IBD\""), "11: 'IBD', expected frames of a group"),
        ("video", &format!("{rate}\ngop = \"PBB\""), "6: a group starts with an I"),
        ("video", &format!("{rate}\nshape = \"flat\""), "11: unknown variant `flat`, expected"),
        (
            "video_trace",
            "file = \"f\"\npayload = 9\nfps = 24",
            "9: 'f' line 3: 'X', expected a type of frame: I, P or B",
        ),
    ];
    for (kind, keys, expected) in cases {
        let seen = complain(kind, keys);
        assert!(seen.starts_with(&format!("path.toml:{expected}")), "expected: {expected}\n    seen: {seen}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Scenario::open(FilePath::new("no/such.toml"), None).expect_err("there is none").to_string();
    assert!(error.starts_with("no/such.toml: cannot be read: no such file"), "{error}");
}

//! Wi-Fi cells in networks: scenarios whose flows cross one.

use std::path::Path;

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Outcome, Run, StationOutcome};
use thalweg_lab::node::watched::Event;
use thalweg_lab::node::wifi::LinkCounters;
use thalweg_lab::scenario::Blueprint;

/// A cell without a wire, and the stations and flows of a test.
const FRAME: &str = "\
[run]
duration = '21s'
warmup = '1s'
[access]
rate = '1gbit'
near = '1ms'
far = '0s'
[[hop]]
kind = 'wifi'
slot = '9us'
queue = 50
";

fn run(text: &str) -> Run {
    let blueprint = Blueprint::parse("wifi.toml", &format!("{FRAME}{text}"), &[], &mut |_| Err("no files".into()));
    let experiment = blueprint.and_then(|blueprint| blueprint.experiment(1)).unwrap_or_else(|error| panic!("{error}"));
    Run::new(&experiment, 1).expect("a possible run")
}

fn outcome(text: &str) -> Outcome {
    run(text).finish().expect("in = out + dropped + queued")
}

fn mbps(link: &LinkCounters, window: Span) -> f64 {
    link.bytes.0 as f64 * 8e-6 / window.as_secs_f64()
}

fn station(name: &str, rate: &str) -> String {
    format!("[[hop.station]]\nname = '{name}'\nrate = '{rate}'\n")
}

fn flow(name: &str, lines: &str) -> String {
    format!("[[flow]]\nname = '{name}'\n{lines}\n")
}

/// ns-3.37 has 24.67 Mb/s of payload with 1024 bytes, and 29.67 with 1500, with beacons. Flow n is for station n.
#[test]
fn the_shipped_cell_carries_what_ns_3_carries() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/lab/ns3-wifi.toml");
    for (payload, theirs) in [(1024, 24.67), (1500, 29.67)] {
        let set = [("payload", payload.to_string()), ("duration_s", "21".to_owned())];
        let set = set.map(|(name, value)| (name.to_owned(), value));
        let experiment = Blueprint::open(&file, &set).and_then(|cell| cell.experiment(1)).expect("the scenario");
        let outcome = Run::new(&experiment, 1).expect("a possible run").finish().expect("conservation");
        assert_eq!(outcome.stations.len(), 4);
        let carried: f64 = outcome.stations.iter().map(|station| mbps(&station.down, outcome.window)).sum();
        let goodput = carried * f64::from(payload) / f64::from(payload + 28);
        assert!((goodput / theirs - 1.0).abs() < 0.02, "{payload} bytes: {goodput}, ns-3 {theirs}");
        for (station, flow) in outcome.stations.iter().zip(&outcome.flows) {
            assert!(station.down.delivered.abs_diff(flow.offered.packets - flow.offered.dropped) <= 501, "{station:?}");
            assert_eq!(station.up, LinkCounters::default(), "a flow without feedback");
        }
    }
}

/// The access point and a station that both always have a packet: each gets the same number, so 4 Mb/s of the one take
/// from the other. Both are saturated; a lane for each direction would carry twice as much.
#[test]
fn both_directions_share_the_medium() {
    let cbr = |way: &str| format!("kind = 'cbr'\nrate = '40mbit'\npacket = 1052\nstation = 'a'\nway = '{way}'");
    let text = station("a", "54mbit") + &flow("down", &cbr("forward")) + &flow("up", &cbr("backward"));
    let outcome = outcome(&text);
    let StationOutcome { down, up, .. } = &outcome.stations[0];
    let ratio = down.delivered as f64 / up.delivered as f64;
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    // Bianchi's refined model has 25.49 Mb/s of payload for two saturated contenders: node/wifi/tests/bianchi.rs.
    let payload = (mbps(down, outcome.window) + mbps(up, outcome.window)) * 1024.0 / 1052.0;
    assert!((payload / 25.49 - 1.0).abs() < 0.02, "{payload}");
    // Both were offered 40 Mb/s and lost the rest, in their own direction.
    for (flow, link) in outcome.flows.iter().zip([down, up]) {
        assert_eq!(flow.offered.dropped, link.offered.dropped);
        assert!(flow.offered.dropped * 2 > flow.offered.packets, "{flow:?}");
        // A full queue of 50 packets, each of which waits for 50 of either direction: 33 ms at 3000 packets a second.
        let through = flow.offered.packets - flow.offered.dropped;
        let waited = flow.waited.expect("a cell has queues").as_secs_f64() / through as f64;
        assert!((0.028..0.036).contains(&waited), "{waited}");
    }
}

/// A download alone, then beside a station at 6 Mb/s that receives 2 Mb/s, a third of the medium's time: 238 packets of
/// 1052 bytes take 1480 + 10 + 50 + 28 us and half a window each.
#[test]
fn a_slow_station_takes_the_medium_from_a_fast_one() {
    let tcp = flow("download", "kind = 'tcp'\ntcp = 'cubic'\nstation = 'fast'");
    let alone = outcome(&(station("fast", "54mbit") + &tcp));
    let slow = flow("slow", "kind = 'cbr'\nrate = '2mbit'\npacket = 1052\nstation = 'slow'");
    let beside = outcome(&(station("fast", "54mbit") + &station("slow", "6mbit") + &tcp + &slow));
    let goodput = |outcome: &Outcome| outcome.value("tcp_goodput_mbps");
    let share = goodput(&beside) / goodput(&alone);
    assert!((0.55..0.7).contains(&share), "{share}: {} of {}", goodput(&beside), goodput(&alone));
    // The acknowledgements of TCP cross the medium, too: one for two segments.
    let fast = &alone.stations[0];
    let acks = fast.up.delivered as f64 / fast.down.delivered as f64;
    assert!((0.45..0.6).contains(&acks), "{acks}");
    assert!((18.0..26.0).contains(&goodput(&alone)), "{}", goodput(&alone));
}

/// Three flows on two stations of one name: the third has the first station again.
#[test]
fn flows_of_one_group_take_the_stations_in_turns() {
    let stations = "[[hop.station]]\nname = 'many'\nrate = '54mbit'\ncount = 2\n";
    let cbr = "kind = 'cbr'\nrate = '1mbit'\npacket = 500\ncount = 3\nstation = 'many'";
    let outcome = outcome(&(stations.to_owned() + &flow("load", cbr)));
    let names: Vec<&str> = outcome.stations.iter().map(|station| station.name.as_str()).collect();
    assert_eq!(names, ["many/1", "many/2"]);
    // 250 packets a second each.
    let delivered = |station: usize| outcome.stations[station].down.delivered;
    assert!(delivered(0).abs_diff(10_000) < 5 && delivered(1).abs_diff(5_000) < 5, "{outcome:?}");
}

#[test]
fn a_watched_cell_shows_both_directions() {
    let tcp = flow("download", "kind = 'tcp'\nstation = 'a'");
    let mut run = run(&(station("a", "54mbit") + &tcp));
    run.network_mut().watch(0);
    run.until(Time::ZERO + Span::from_secs(2));
    let [forward, backward] = run.network_mut().take_log(0);
    let left = |log: &[thalweg_lab::node::watched::Entry]| {
        log.iter().filter(|entry| entry.event == Event::Left).map(|entry| entry.packet.size.0).collect::<Vec<u64>>()
    };
    let (segments, acks) = (left(&forward), left(&backward));
    assert!(segments.len() > 1_000 && segments.iter().all(|size| *size == 1_500), "{}", segments.len());
    assert!(acks.len() > 500 && acks.iter().all(|size| *size == 40), "{}", acks.len());
}

/// The same seed gives the same results, however the run is cut.
#[test]
fn a_run_through_a_cell_does_not_depend_on_how_it_is_cut() {
    let text = || {
        let tcp = flow("upload", "kind = 'tcp'\nstation = 'a'\nway = 'backward'");
        station("a", "54mbit") + &station("b", "12mbit") + &tcp + &flow("down", "kind = 'tcp'\nstation = 'b'")
    };
    let whole = outcome(&text());
    let mut cut = run(&text());
    (1..=2_000).for_each(|piece| cut.until(Time::ZERO + Span::from_micros(10_007 * piece)));
    assert_eq!(cut.finish().expect("conservation"), whole);
}

//! Laws of one's own in scenarios, by name.

use thalweg_lab::experiment::Kind;
use thalweg_lab::own::{Repair, Window};
use thalweg_lab::scenario::{Blueprint, Laws};
use thalweg_lab::stream::scheme::Scheme;
use thalweg_lab::tcp;

use super::{Repaired, Scripted, dumbbell, repairs, windows};

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
[[flow]]
";

fn parse(flow: &str, laws: &Laws) -> Result<Blueprint, String> {
    let text = format!("{FRAME}{flow}\n");
    let blueprint = Blueprint::parse_with("own.toml", &text, &[], &mut |file| Err(format!("no {file}")), laws);
    blueprint.map_err(|error| error.to_string())
}

fn window(name: &str) -> Window {
    Window::new(name, |_| Ok(Box::new(Scripted::default())))
}

fn repair(name: &str) -> Repair {
    Repair::new(name, |_| Ok(Box::new(Repaired { now: 0.0, repair: |_| Ok(8.0) })))
}

#[test]
fn an_experiment_with_a_law_stays_a_plain_value() {
    let laws = Laws::new(vec![window("mine")], vec![repair("mine")]).expect("two kinds");
    let set = [("tcp", "mine"), ("scheme", "mine")];
    let experiment = dumbbell(&laws, &set, 1);
    let (Kind::Tcp(tcp), Kind::Stream(stream)) = (&experiment.groups[0].kind, &experiment.groups[1].kind) else {
        panic!("{experiment:?}")
    };
    assert!(matches!(&tcp.law, tcp::Law::Own(law) if law.name() == "mine") && tcp.law.to_string() == "mine");
    assert!(matches!(&stream.scheme, Scheme::Own(law) if law.name() == "mine"));
    assert_eq!(dumbbell(&laws, &set, 1), experiment);
    assert_eq!(experiment.clone(), experiment);
    // Another constructor of the same name is another law.
    let others = Laws::new(vec![window("mine")], vec![repair("mine")]).expect("two kinds");
    assert_ne!(others, laws);
    assert_ne!(dumbbell(&others, &set, 1), experiment);
}

#[test]
fn transfers_have_laws_too() {
    let flow = "kind = 'transfers'\narrivals = 10\nmean = 5\ntcp = 'mine'";
    let experiment = parse(flow, &windows(vec![window("mine")])).expect("a scenario").experiment(1).expect("possible");
    assert!(matches!(&experiment.groups[0].kind, Kind::Transfers(tcp, _) if matches!(tcp.law, tcp::Law::Own(_))));
}

#[test]
fn unknown_laws_are_refused_with_the_names_of_all() {
    let stream = "kind = 'stream'\nrate = '1mbit'\nscheme = 'best'";
    for (flow, place) in [
        ("kind = 'tcp'\ntcp = 'best'", "own.toml:13: tcp: 'best' is not "),
        (stream, "own.toml:14: no scheme 'best', "),
    ] {
        let alone = parse(flow, &Laws::default()).expect_err("no such law");
        assert!(alone.starts_with(place) && !alone.contains("of your own"), "{alone}");
        let laws = Laws::new(vec![window("a"), window("b.c")], vec![repair("a"), repair("b.c")]).expect("names");
        assert_eq!(parse(flow, &laws).expect_err("no such law"), format!("{alone}; laws of your own: a, b.c"));
    }
    let constants = "kind = 'stream'\nrate = '1mbit'\nscheme = 'mine'\nconstants = { k = 1 }";
    let why = parse(constants, &repairs(vec![repair("mine")])).expect_err("constants");
    assert_eq!(why, "own.toml:15: 'mine' has no constants in a scenario");
}

#[test]
fn names_that_a_scenario_could_not_use_are_refused() {
    for name in ["newreno", "cubic", "tcp-stream", "clamp"] {
        let why = Laws::new(vec![window(name)], Vec::new()).expect_err(name).to_string();
        assert_eq!(why, format!("'{name}': a built-in law has this name; choose another one"));
    }
    for name in
        ["geneva", "none", "static", "static8", "static9999", "udp", "tfrc", "cbr", "cbr12", "live", "live-mine"]
    {
        let why = Laws::new(Vec::new(), vec![repair(name)]).expect_err(name).to_string();
        assert_eq!(why, format!("'{name}': a built-in law has this name; choose another one"));
    }
    for name in ["", "auto", "a b", "a:b", "= 1", "\u{e4}", &"x".repeat(65)] {
        let why = Laws::new(vec![window(name)], Vec::new()).expect_err(name).to_string();
        assert!(why.starts_with(&format!("'{name}': not the name of a law, expected ")), "{why}");
    }
    let why =
        Laws::new(vec![window("mine"), window("other"), window("mine")], Vec::new()).expect_err("two of one name");
    assert!(why.to_string().starts_with("'mine': two laws have this name"), "{why}");
    assert!(Laws::new(vec![window("geneva"), window("x".repeat(64).as_str())], vec![repair("newreno")]).is_ok());
}

#[test]
fn a_blueprint_keeps_its_laws() {
    let laws = windows(vec![Scripted::default().law()]);
    let blueprint = parse("kind = 'tcp'\ntcp = 'mine'", &laws).expect("a scenario");
    assert_eq!(blueprint.laws(), &laws);
    assert!(blueprint.clone().experiment(7).is_ok());
}

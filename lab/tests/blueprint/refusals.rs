//! Experiments that are refused, and the error messages.

use std::path::Path as FilePath;

use thalweg_lab::scenario::Blueprint;

use crate::blueprint::{FRAME, parse};

/// Checks that each text is refused with an error of one line that begins as expected.
fn refused(cases: &[(String, &str)]) {
    let wrong = cases.iter().filter_map(|(text, expected)| {
        let seen = parse(text, &[]).expect_err(expected).to_string();
        let right = seen.starts_with(expected) && !seen.contains('\n');
        (!right).then(|| format!("expected: {expected}\n    seen: {seen}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file with one flow, which begins at line 12.
fn flow(lines: &str) -> String {
    format!("{FRAME}[[flow]]\n{lines}\n")
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let hop = |lines: &str| format!("[run]\nduration = '1s'\n[[hop]]\n{lines}\n");
    refused(&[
        (String::new(), "lab.toml:1: missing [run]"),
        ("seed = 1\n[forward]\n".into(), "lab.toml:1: a path for `thalweg emulate`"),
        ("[run]\nduration = '1s'\n".into(), "lab.toml:1: missing [[hop]]"),
        ("[run]\n[[hop]]\n".into(), "lab.toml:1: missing field `duration`"),
        (format!("{FRAME}[extra]\n"), "lab.toml:11: unknown 'extra', expected about, [parameters], [run], [[hop]]"),
        (hop("rate = '-1mbit'\nqueue = 1\ndelay = '1ms'"), "lab.toml:4: '-1mbit' is not a rate such as 40mbit"),
        (hop("rate = '0mbit'\nqueue = 1\ndelay = '1ms'"), "lab.toml:3: the rate of a link"),
        (hop("rate = '1mbit'\nqueue = 1"), "lab.toml:3: missing field `delay`"),
        (hop("rate = '1mbit'\nqueue = 1\nrate = '2mbit'"), "lab.toml:6: 'rate' is given twice"),
        (hop("rate = '1mbit'\nqueue = 1\ndelay = 3"), "lab.toml:6: invalid type: integer `3`, expected a string with"),
        (hop("[[hop.forward]]\nkind = 'tap'\nkeep = 1"), "lab.toml:3: missing [[hop.backward]]"),
        (
            hop("rate = '1mbit'\n[[hop.forward]]\nkind = 'tap'\nkeep = 1"),
            "lab.toml:4: unknown 'rate', expected [[hop.forward]] and [[hop.backward]], or",
        ),
        (
            hop(
                "[[hop.forward]]\nkind = 'trace_link'\ntrace = 'x'\nqueue = 1\n[[hop.backward]]\nkind = 'tap'\nkeep = 1",
            ),
            "lab.toml:6: 'x' cannot be read: there are no files here",
        ),
    ]);
}

#[test]
fn errors_of_cells_do() {
    let hop = |lines: &str| format!("[run]\nduration = '1s'\n[[hop]]\n{lines}\n");
    let cell = |slot: &str, station: &str| {
        hop(&format!("kind = 'wifi'\nslot = '{slot}'\nqueue = 50\n[[hop.station]]\nname = 'tv'\n{station}"))
    };
    let tv = "[[hop]]\nkind = 'wifi'\nslot = '20us'\nqueue = 50\n[[hop.station]]\nname = 'tv'\nrate = '54mbit'\n";
    refused(&[
        (hop("kind = 'lte'"), "lab.toml:4: no hop of kind 'lte', expected wifi, or no 'kind'"),
        (hop("kind = 'wifi'\nslot = '9us'"), "lab.toml:3: missing field `queue`"),
        (hop("kind = 'wifi'\nslot = '9us'\nqueue = 50"), "lab.toml:3: missing [[...station]]: a cell has"),
        (
            hop("kind = 'wifi'\nslot = '9us'\nqueue = 50\ndelay = '2ms'"),
            "lab.toml:7: unknown field `delay`, expected one",
        ),
        (
            hop("kind = 'wifi'\nslot = '9us'\nqueue = '75kB'"),
            "lab.toml:6: invalid type: string \"75kB\", expected a whole",
        ),
        (cell("10us", "rate = '54mbit'"), "lab.toml:5: expected a slot of \"20us\" or \"9us\""),
        (cell("9us", "rate = '7mbit'"), "lab.toml:9: 7mbit is no rate of 802.11g, expected 1, 2, 5.5, 6, 9, 11"),
        (cell("9us", "rate = '11mbit'"), "lab.toml:9: a station of 11mbit has no slots of 9us: set slot = \"20us\""),
        (cell("9us", "rate = '6mbit'\ncount = 0"), "lab.toml:10: 0 stations, expected 1 to 2007 in a cell"),
        (cell("9us", "rate = '6mbit'\ncount = 2008"), "lab.toml:10: 2008 stations, expected 1 to 2007 in a cell"),
        (
            cell("9us", "rate = '6mbit'\n[[hop.station]]\nname = 'tv'\nrate = '6mbit'"),
            "lab.toml:11: a second station named 'tv': give one of them another 'name'",
        ),
        (cell("9us", "rate = '6mbit'\n[[hop.station]]\nname = 'a/b'\nrate = '6mbit'"), "lab.toml:11: 'a/b' has a '/'"),
        (format!("{FRAME}{tv}{tv}"), "lab.toml:18: a second hop of kind 'wifi', expected one cell at most"),
        (
            format!("{FRAME}{tv}[[flow]]\nkind = 'tcp'\n"),
            "lab.toml:18: missing 'station': the flow crosses a cell, expected one of tv",
        ),
        (
            format!("{FRAME}{tv}[[flow]]\nkind = 'tcp'\nstation = 'pc'\n"),
            "lab.toml:20: no station named 'pc', expected one of tv",
        ),
        (
            format!("{FRAME}{tv}[[flow]]\nkind = 'tcp'\nhops = 1\nstation = 'tv'\n"),
            "lab.toml:21: 'station' needs a hop of kind 'wifi' among the flow's",
        ),
        (cell("9us", "rate = '6mbit'\naddress = '10.0.0.2'"), "lab.toml:3: a station of a hop has no 'address'"),
        (flow("kind = 'tcp'\nway = 'up'"), "lab.toml:13: unknown variant `up`, expected `forward` or `backward`"),
    ]);
}

#[test]
fn errors_of_flows_do() {
    refused(&[
        (flow("count = 1"), "lab.toml:11: missing 'kind'"),
        (
            flow("kind = 'udp'"),
            "lab.toml:12: no flow of kind 'udp', expected tcp, transfers, stream, tfrc, tunnel, stored, cbr",
        ),
        (flow("kind = 'tcp'\ncount = 1000000"), "lab.toml:13: 1000000 flows, expected at most 100000"),
        (flow("kind = 'tcp'\ncount = -1"), "lab.toml:13: invalid value: integer `-1`, expected a whole number"),
        (flow("kind = 'tcp'\nstart = ['2s', '1s']"), "lab.toml:13: expected two durations, the shorter one first"),
        (flow("kind = 'tcp'\nhops = 2"), "lab.toml:13: hops 2 to 2, expected numbers from 1 to 1"),
        (flow("kind = 'tcp'\nhops = [1, 0]"), "lab.toml:13: hops 1 to 0, expected numbers from 1 to 1"),
        (flow("kind = 'tcp'\ntcp = 'reno'"), "lab.toml:13: tcp: 'reno' is not copa, "),
        (flow("kind = 'tcp'\nsack = false\nprr = true"), "lab.toml:11: 'prr' requires 'sack'"),
        (
            flow("kind = 'tcp'\nprr = 'perhaps'"),
            "lab.toml:13: invalid value: string \"perhaps\", expected true, false or",
        ),
        (flow("kind = 'tcp'\nsack = 1"), "lab.toml:13: invalid type: integer `1`, expected true or false"),
        (flow("kind = 'tcp'\nmss = 0"), "lab.toml:13: 'mss' must be above 0"),
        (flow("kind = 'tcp'\ninitial_window = 0"), "lab.toml:13: initial_window: iw"),
        (flow("kind = 'tcp'\ndelayed_ack = 40"), "lab.toml:13: invalid type: integer `40`, expected true, false or a"),
        (flow("kind = 'tcp'\nspeed = 1"), "lab.toml:13: unknown field `speed`, expected one of `tcp`"),
        (flow("kind = 'tcp'\n[[flow]]\nkind = 'tcp'"), "lab.toml:13: a second flow named 'tcp'"),
        (flow("kind = 'transfers'\narrivals = 0\nmean = 10"), "lab.toml:13: arrivals a second is 0, expected above 0"),
        (flow("kind = 'transfers'\narrivals = 1"), "lab.toml:11: expected either 'mean', in packets, or 'rate'"),
        (flow("kind = 'tcp'\nhops = 'all'"), "lab.toml:13: expected the number of a hop, or of the first and the last"),
    ]);
}

#[test]
fn errors_of_arrivals_do() {
    let transfers = |lines: &str| flow(&format!("kind = 'transfers'\n{lines}"));
    refused(&[
        (
            transfers("mean = 10\narrivals = -1"),
            "lab.toml:14: arrivals a second is -1, expected above 0 and at most 1e6",
        ),
        (transfers("arrivals = nan\nmean = 10"), "lab.toml:13: arrivals a second is NaN, expected above 0"),
        (transfers("arrivals = 'some'\nmean = 10"), "lab.toml:13: invalid type: string \"some\", expected a number"),
        (transfers("arrivals = 1\nmean = 0.5"), "lab.toml:14: mean size is 0.5, expected 1 to 1e9 packets"),
        (transfers("arrivals = 1\nmean = 1e300"), "lab.toml:14: mean size is 1e300, expected 1 to 1e9 packets"),
        (transfers("arrivals = 1\n\nrate = '0bit'"), "lab.toml:15: mean size is 0, expected 1 to 1e9 packets"),
        (transfers("arrivals = 1\nmean = 9\nrate = '1mbit'"), "lab.toml:15: expected either 'mean', in packets, or"),
        (transfers("arrivals = 1\nmean = 9\nshape = 1"), "lab.toml:15: shape is 1, expected above 1 and finite"),
        (transfers("arrivals = 1\nmean = 9\nmost = 0"), "lab.toml:15: most is 0, expected at least 1 packet"),
        (transfers("arrivals = 1e6\nmean = 9"), "lab.toml:11: about 2000000 flows, expected at most 100000"),
    ]);
}

#[test]
fn refusal_of_an_unknown_key_lists_the_known_ones() {
    for (text, own, also) in [
        ("kind = 'tcp'\ncuont = 1", "`rebuffer`", "`kind`, `name`, `count`, `start`, `every`, `access`, `hops`"),
        ("kind = 'transfers'\narivals = 1\narrivals = 1", "`mss`", "`arrivals`, `mean`, `rate`, `shape`, `most`"),
        ("kind = 'cbr'\nrate = '1mbit'\npacket = 100\nevry = '1s'", "`packet`", "`count`, `start`, `every`"),
    ] {
        let seen = parse(&flow(text), &[]).expect_err(text).to_string();
        let unknown = seen.contains(": unknown field `") && seen.contains("`, expected one of `");
        assert!(unknown && seen.contains(own) && seen.contains(also), "{seen}");
    }
}

#[test]
fn errors_of_sources_do() {
    let stream = "kind = 'stream'\nrate = '3mbit'\n";
    refused(&[
        (flow(stream), "lab.toml:11: missing 'scheme'"),
        (flow(&format!("{stream}scheme = 'static'")), "lab.toml:14: no scheme 'static', expected "),
        (flow(&format!("{stream}scheme = 'static9999'")), "lab.toml:14: no scheme 'static9999'"),
        (flow(&format!("{stream}scheme = 'live-static201'")), "lab.toml:14: static:201 must have 1 to 200"),
        (flow(&format!("{stream}scheme = 'live'\nlatency = '1ms'")), "lab.toml:15: 'latency' is 1ms, expected 5ms to"),
        (flow(&format!("{stream}scheme = 'live'\nrate_law = 'bbr'")), "lab.toml:15: 'bbr' is not copa, "),
        (flow(&format!("{stream}scheme = 'geneva'\nrate_law = 'tfrc'")), "lab.toml:15: 'rate_law' needs scheme"),
        (flow(&format!("{stream}scheme = 'geneva'\nsyn = '1ms'")), "lab.toml:15: 'syn' is 1ms, expected 4ms"),
        (flow(&format!("{stream}scheme = 'geneva'\nstate = 'fluid'")), "lab.toml:15: state: 'fluid' is not integer"),
        (flow(&format!("{stream}scheme = 'geneva'\ngeneva = {{ speed = 1 }}")), "lab.toml:15: "),
        (flow("kind = 'tfrc'\nrate = '0bit'"), "lab.toml:13: the rate of media"),
        (
            flow(&format!("{stream}scheme = 'udp'\npacket = 27")),
            "lab.toml:15: a packet of 27 bytes, expected at least the 28",
        ),
        (
            flow(&format!("{stream}scheme = 'none'\nreports = 5")),
            "lab.toml:15: a packet of 5 bytes, expected at least the 28",
        ),
        (
            flow("kind = 'cbr'\nrate = '1mbit'\npacket = 10"),
            "lab.toml:14: a packet of 10 bytes, expected at least the 28",
        ),
        (
            flow(&format!("{stream}scheme = 'geneva'\ngeneva = {{ p_max = 0.001 }}")),
            "lab.toml:15: p_max = 0.001 must be",
        ),
        (
            flow(&format!("{stream}scheme = 'live'\npacket = 30")),
            "lab.toml:15: live packets of 30 bytes carry no media",
        ),
        (flow("kind = 'cbr'\nrate = '100gbit'\npacket = 100"), "lab.toml:11: more than a million packets a second"),
    ]);
}

#[test]
fn errors_of_parameters_and_expressions_do() {
    let with = |lines: &str| format!("[parameters]\n{lines}\n{FRAME}");
    refused(&[
        (with("2x = 1"), "lab.toml:2: '2x' is not a parameter name"),
        (with("x = [1]"), "lab.toml:2: expected a number, text, true or false, found array"),
        (with("x = nan"), "lab.toml:2: expected a finite number"),
        (with("x = '= y'\ny = 1"), "lab.toml:2: unknown parameter 'y'"),
        (with("x = '= 2 ms'"), "lab.toml:2: a parameter cannot have a unit"),
        (flow("kind = 'tcp'\ncount = '= 1 +'"), "lab.toml:13: expected a number, a name or '(', found the end"),
        (
            flow("kind = 'tcp'\ncount = '= 5 / 2'"),
            "lab.toml:13: invalid type: floating point `2.5`, expected a whole number",
        ),
        (flow("kind = 'tcp'\nstart = '= 1 parsec'"), "lab.toml:13: '1parsec' is not a duration such as 90ms"),
    ]);
}

#[test]
fn of_a_long_expression_the_beginning_is_shown() {
    let long = format!("= {}0", "1 + ".repeat(1_000));
    let seen =
        parse(&flow(&format!("kind = 'tcp'\ncount = '{long} + 0.5'")), &[]).expect_err("no whole number").to_string();
    assert!(seen.len() < 300 && seen.contains(", from '= 1 + 1 + ") && seen.ends_with("...'"), "{seen}");
}

#[test]
fn what_cannot_be_run_is_refused_before_it_runs() {
    let late = format!("{FRAME}[[flow]]\nkind = 'tcp'\n").replace("duration = '2s'", "duration = '2s'\nwarmup = '2s'");
    let alone = FRAME.replace("[access]\nrate = '1gbit'\nnear = '1ms'\nfar = '1ms'\n", "");
    let instant = FRAME.replace("'1ms'", "'0s'").replace("'3ms'", "'0s'");
    let start = |lines: &str| flow(&format!("kind = 'tcp'\n{lines}"));
    let long = start("").replace("'2s'", "'1000001s'");
    let many = "[[flow]]\nkind = 'tcp'\ncount = 99999\n[[flow]]\nname = 'more'\nkind = 'tcp'\ncount = 100000\n";
    for (text, expected) in [
        (late, "lab.toml:3: nothing is measured: the warm-up is 2s"),
        (FRAME.to_owned(), "lab.toml:1: missing [[flow]]"),
        (start("").replace("'2s'", "'0s'"), "lab.toml:2: nothing is measured: the warm-up is 0s"),
        (long, "lab.toml:2: a run of 1000001s, expected at most 1000000s"),
        (start("start = '3s'"), "lab.toml:13: a flow of 'tcp' starts at 3s or later"),
        (start("start = '1s'\ncount = 3\nevery = '1s'"), "lab.toml:15: a flow of 'tcp' starts at 3s or later"),
        (start("count = 100000\nevery = '500000s'"), "lab.toml:14: a flow of 'tcp' starts at "),
        (format!("{alone}[[flow]]\nkind = 'tcp'\n"), "lab.toml:7: missing 'access'"),
        (format!("{instant}[[flow]]\nkind = 'tcp'\n"), "lab.toml:11: the round trip is zero"),
        (format!("{FRAME}{many}"), "lab.toml:14: about 199999 flows, expected at most 100000"),
    ] {
        let seen = parse(&text, &[]).expect_err(expected).to_string();
        assert!(seen.starts_with(expected), "expected: {expected}\n    seen: {seen}");
    }
    // A source without feedback may be instant: there is no loop.
    parse(&format!("{instant}[[flow]]\nkind = 'poisson'\nrate = '1mbit'\npacket = 100\n"), &[]).expect("no circle");
}

/// Queues of access links are unlimited, and would grow for as long as the run lasts.
#[test]
fn a_source_is_no_faster_than_its_access_link() {
    let open =
        |kind: &str, rest: &str| flow(&format!("kind = '{kind}'\nrate = '= 500 * 2 + 1 mbit'\npacket = 1500\n{rest}"));
    let stream =
        |scheme: &str, rate: &str| flow(&format!("kind = 'stream'\nscheme = '{scheme}'\nrate = '{rate}'\nsyn = '1ms'"));
    let expected = "expected at most the 1gbit of its access links";
    for (text, begins) in [
        (open("cbr", ""), "lab.toml:13: a source of 1.001gbit"),
        (open("poisson", ""), "lab.toml:13: a source of 1.001gbit"),
        (open("on_off", "on = '1s'\noff = '0s'"), "lab.toml:13: a source of 1.001gbit"),
        (stream("udp", "9gbit"), "lab.toml:14: a source of 9gbit"),
        // 50 packets of 12 kbit in a millisecond are 600 Mb/s.
        (stream("static50", "401mbit"), "lab.toml:14: a source of 1.001gbit"),
        // Eight are GENEVA's minimum, 96 Mb/s.
        (stream("geneva", "905mbit"), "lab.toml:14: a source of 1.001gbit"),
        (stream("cbr8", "905mbit"), "lab.toml:14: a source of 1.001gbit"),
        (stream("tfrc", "2gbit"), "lab.toml:14: a source of 2gbit"),
        (stream("live", "2gbit"), "lab.toml:14: a source of 2gbit"),
    ] {
        let seen = parse(&text, &[]).expect_err(begins).to_string();
        assert!(seen.starts_with(begins) && seen.contains(expected), "{seen}");
    }
    for (scheme, rate) in [("udp", "1gbit"), ("static50", "400mbit"), ("geneva", "904mbit")] {
        parse(&stream(scheme, rate), &[]).expect("as fast as its link");
    }
    parse(&open("on_off", "on = '1s'\noff = '9s'"), &[]).expect("a tenth of it on average");
}

#[test]
fn without_a_flow_nothing_is_measured() {
    refused(&[
        (FRAME.to_owned(), "lab.toml:1: missing [[flow]]"),
        (flow("kind = 'tcp'\ncount = 0"), "lab.toml:1: no flow: every 'count' is 0"),
    ]);
    parse(&flow("kind = 'tcp'\ncount = 0\n[[flow]]\nkind = 'cbr'\nrate = '1mbit'\npacket = 28"), &[])
        .expect("one flow");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Blueprint::open(FilePath::new("no/such.toml"), &[]).expect_err("there is none").to_string();
    assert!(error.starts_with("no/such.toml: cannot be read: no such file"), "{error}");
}

#[test]
fn an_empty_trace_is_no_trace() {
    let hop =
        "[[hop.forward]]\nkind = 'trace_link'\ntrace = 'x'\nqueue = 1\n[[hop.backward]]\nkind = 'tap'\nkeep = 1\n";
    let text = format!("[run]\nduration = '1s'\n[[hop]]\n{hop}");
    let seen = Blueprint::parse("lab.toml", &text, &[], &mut |_| Ok(String::new())).expect_err("no line").to_string();
    assert!(seen.starts_with("lab.toml:6: 'x'") && seen.ends_with("is empty"), "{seen}");
}

#[test]
fn errors_of_tunnels_do() {
    let tunnel = |lines: &str| flow(&format!("kind = 'tunnel'\n{lines}"));
    let bulk = "traffic = { kind = 'bulk' }";
    let keyed = |line: &str| tunnel(&format!("{bulk}\n{line}"));
    refused(&[
        (tunnel("rate = 'copa'"), "lab.toml:11: missing 'traffic'"),
        (tunnel("traffic = 'bulk'"), "lab.toml:13: expected a table"),
        (tunnel("traffic = { kind = 'web' }"), "lab.toml:13: no traffic of kind 'web', expected bursts, bulk or log"),
        (tunnel("traffic = { kind = 'bulk', write = 5 }"), "lab.toml:13: writes of 5 bytes, expected 12 to"),
        (tunnel("traffic = { kind = 'bulk', size = 5 }"), "lab.toml:13: unknown"),
        (tunnel("traffic = { kind = 'bursts', burst = '10', every = '1s' }"), "lab.toml:13: '10', expected 1 to"),
        (tunnel("traffic = { kind = 'bursts', burst = '1kB', every = '0s' }"), "lab.toml:13: bursts every 0"),
        (tunnel("traffic = { kind = 'log', file = 'x.csv' }"), "lab.toml:13: 'x.csv' cannot be read"),
        (keyed("rate = 'bbr'"), "lab.toml:14: "),
        (keyed("rate = 'fixed:1bit'"), "lab.toml:14: rate in bit/s must be at least"),
        (keyed("rate = 'fixed:2gbit'"), "lab.toml:14: a source of 2gbit, expected at most the 1gbit"),
        (keyed("schedule = 'fec'"), "lab.toml:14: schedule: 'fec' is not adaptive, "),
        (keyed("cipher = 'rot13'"), "lab.toml:14: no cipher 'rot13', expected aes or none"),
        (keyed("scheme = 'geneva'"), "lab.toml:14: unknown field `scheme`, expected one of `rate`"),
    ]);
}

#[test]
fn errors_of_stored_videos_do() {
    let stored = |lines: &str| flow(&format!("kind = 'stored'\n{lines}"));
    let keyed = |line: &str| stored(&format!("video = {{ rate = '378kbit' }}\n{line}"));
    refused(&[
        (stored("control = 'r3cp'"), "lab.toml:11: missing 'video'"),
        (stored("video = { rate = '378kbit', payload = 0 }"), "lab.toml:13: 'payload' must be above 0"),
        (
            stored("video = { rate = '378kbit', payload = 1500 }"),
            "lab.toml:13: payload of 1500 bytes, expected at most",
        ),
        (stored("video = { rate = '0bit' }"), "lab.toml:13: "),
        (stored("video = { file = 'x.csv' }"), "lab.toml:13: 'x.csv' cannot be read"),
        (keyed("control = 'tcp'"), "lab.toml:14: control: 'tcp' is not r3cp+, r3cp, tfcc or none"),
        (keyed("predictor = 'kalman'"), "lab.toml:14: predictor: 'kalman' is not "),
        (keyed("constants = { speed = 1 }"), "lab.toml:14: unknown parameter 'speed'"),
        (keyed("constants = { p_low = 'low' }"), "lab.toml:14: p_low: 'low' is not a number"),
        (keyed("constants = { p_low = 0.5, p_high = 0.1 }"), "lab.toml:11: "),
        (keyed("rate = '1mbit'"), "lab.toml:14: unknown field `rate`, expected one of `control`"),
    ]);
}

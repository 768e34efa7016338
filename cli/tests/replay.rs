//! `thalweg replay` as a process: against a second computation of the same equations, and with bad input.
//!
//! The expected lines come from `replay/reference.py`, which uses nothing of Thalweg.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use serde_json::{Map, Value};

const LOG: &str = include_str!("replay/log.jsonl");

fn thalweg(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("replay").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn replay(arguments: &[&str], input: &str) -> Output {
    let mut child = thalweg(arguments).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    // A thread, since both pipes can be full; the child may end before it has read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    output
}

fn objects(lines: &str) -> Vec<Map<String, Value>> {
    lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// Compares every value of every line with the reference, to 11 digits.
fn agrees(arguments: &[&str], input: &str, expected: &str) {
    let output = replay(arguments, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (found, expected) = (objects(&String::from_utf8_lossy(&output.stdout)), objects(expected));
    assert_eq!(found.len(), expected.len());
    for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!(found.keys().eq(expected.keys()), "line {}: {found:?}", number + 1);
        for (name, value) in expected {
            assert!(is_same(&found[name], value), "line {}, {name}: {} is not {value}", number + 1, found[name]);
        }
    }
}

/// True if both values are the same at all depths, numbers to 11 digits.
fn is_same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= 1e-11 * b.abs().max(1e-3)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && b.iter().all(|(name, b)| is_same(&a[name], b)),
        (a, b) => a == b,
    }
}

/// Status and the one line on standard error.
fn complaint(arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let output = replay(arguments, input);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn geneva_matches_the_paper_in_both_states_and_other_constants() {
    agrees(&["geneva"], LOG, include_str!("replay/geneva.jsonl"));
    let real = ["geneva", "--set", "state=real", "--set", "k=20.833333333333332", "--set", "alpha=0.5"];
    agrees(&real, LOG, include_str!("replay/geneva-real-20.8.jsonl"));
    let wide = ["b=0.06", "p_max=0.04", "fwnd_min=2", "fwnd_max=200", "f=2"];
    let wide: Vec<&str> = ["geneva"].into_iter().chain(wide.into_iter().flat_map(|set| ["--set", set])).collect();
    agrees(&wide, LOG, include_str!("replay/geneva-wide.jsonl"));
}

#[test]
fn dp_fec_matches_the_reference_stand_in() {
    agrees(&["dp-fec"], LOG, include_str!("replay/dp-fec.jsonl"));
}

#[test]
fn static_repair_only_follows_its_settings() {
    let line = "{\"lost\":30,\"delivered\":3,\"srtt\":null}\n";
    agrees(&["static"], line, &format!("{{\"ipg\":{},\"repair\":8}}", 0.01 / 33.0));
    let twelve = ["static", "--set", "repair=12", "--set", "k=50"];
    agrees(&twelve, line, &format!("{{\"ipg\":{},\"repair\":12}}", 0.01 / 62.0));
}

#[test]
fn newreno_matches_rfc_5681() {
    let events = include_str!("replay/events.jsonl");
    agrees(&["newreno"], events, include_str!("replay/newreno.jsonl"));
    let other = ["newreno", "--set", "iw=10", "--set", "ssthresh=16.5"];
    agrees(&other, events, include_str!("replay/newreno-iw10-ssthresh16.5.jsonl"));
    let output = replay(&["newreno"], "{\"event\":\"ack\",\"rtt\":null,\"round_end\":false}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"cwnd\":3,\"ssthresh\":\"inf\"}\n");
}

#[test]
fn tcp_stream_matches_the_paper_with_either_thresholds() {
    let events = include_str!("replay/video.jsonl");
    agrees(&["tcp-stream"], events, include_str!("replay/tcp-stream.jsonl"));
    let vegas = ["rate=2.5e6", "mss=1460", "iw=10", "ssthresh=16.5", "thresholds=vegas", "on_loss=halve"];
    let vegas: Vec<&str> = ["tcp-stream"].into_iter().chain(vegas.into_iter().flat_map(|set| ["--set", set])).collect();
    agrees(&vegas, events, include_str!("replay/tcp-stream-vegas.jsonl"));
    let output = replay(&["tcp-stream"], "{\"event\":\"ack\",\"rtt\":0.1,\"round_end\":false}");
    let line = "{\"lwnd\":3,\"dwnd\":0,\"swnd\":3,\"send_window\":3,\"ssthresh\":\"inf\",\"delay_on\":false,\"diff\":null,\
                \"cap\":30,\"tau\":0.1}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), line);
    let (code, message) = complaint(&["tcp-stream"], "{\"event\":\"dup3\",\"flight\":3}");
    assert!(code == Some(1) && message.contains("flight"), "{message}");
}

#[test]
fn tfrc_equation_matches_rfc_5348() {
    agrees(&["tfrc-equation"], include_str!("replay/points.jsonl"), include_str!("replay/tfrc-equation.jsonl"));
    let output = replay(&["tfrc-equation"], "{\"s\":1024,\"rtt\":0.05,\"p\":0}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"x\":\"inf\"}\n");
}

#[test]
fn gca_matches_its_paper_and_shares_match_their_definition() {
    agrees(&["gca-equation"], include_str!("replay/gca-points.jsonl"), include_str!("replay/gca-equation.jsonl"));
    agrees(&["gca-inverse"], include_str!("replay/gca-rates.jsonl"), include_str!("replay/gca-inverse.jsonl"));
    agrees(&["gca-share"], include_str!("replay/gca-needs.jsonl"), include_str!("replay/gca-share.jsonl"));
    agrees(&["gca-link"], include_str!("replay/gca-links.jsonl"), include_str!("replay/gca-link.jsonl"));
    let lossless = "{\"s\":1024,\"rtt\":0.05,\"p\":0,\"alpha\":1,\"beta\":0.5}";
    assert_eq!(String::from_utf8_lossy(&replay(&["gca-equation"], lossless).stdout), "{\"x\":\"inf\"}\n");
}

#[test]
fn bad_lines_of_gca_name_the_key() {
    let point = "\"s\":1024,\"rtt\":0.05,\"alpha\":1,\"beta\":0.5";
    let flow = |change: (&str, &str)| {
        let flow = format!("{{{point},\"cap\":null}}").replace(change.0, change.1);
        format!("{{\"capacity\":2e6,\"flows\":[{flow}]}}")
    };
    for (law, bad, why) in [
        ("gca-equation", format!("{{{point}}}"), "missing field `p`"),
        ("gca-equation", format!("{{{point},\"p\":0.1}}").replace(":1,", ":0,"), "alpha must be above 0, not 0"),
        ("gca-equation", format!("{{{point},\"p\":0.1}}").replace("0.5", "1"), "beta must be above 0 and below 1"),
        ("gca-equation", format!("{{{point},\"p\":1.1}}"), "p must be 0 to 1, not 1.1"),
        ("gca-inverse", format!("{{{point},\"x\":-1}}"), "x must be 0 to"),
        ("gca-share", "{\"demand\":[]}".into(), "demand: no stream is given"),
        ("gca-share", "{\"demand\":[9e6,0]}".into(), "demand must be above 0"),
        ("gca-share", "{\"demand\":[9e6],\"norm\":\"mean\"}".into(), "norm: 'mean' is not sum, max or min"),
        ("gca-share", "{\"demand\":[9e6],\"rtt\":[0.1,0.1]}".into(), "demand has 1 streams, rtt 2"),
        ("gca-share", "{\"demand\":[9e6],\"p\":[0]}".into(), "p must be above 0"),
        ("gca-link", "{\"capacity\":2e6,\"flows\":[]}".into(), "flows: no flow is given"),
        ("gca-link", flow((":1,", ":-1,")), "alpha must be above 0, not -1"),
        ("gca-link", flow(("null", "0")), "cap must be above 0"),
        ("gca-link", flow(("1024", "0")), "s must be at least 1"),
        ("gca-link", flow(("cap", "most")), "`most`"),
    ] {
        let (code, message) = complaint(&[law], &bad);
        assert!(code == Some(1) && message.contains("line 1: ") && message.contains(why), "{bad}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn decodability_matches_enumeration_and_costs_match_the_paper() {
    let states = include_str!("replay/senders.jsonl");
    agrees(&["decodability"], states, include_str!("replay/decodability.jsonl"));
    let printed = ["decodability", "--set", "cost=printed", "--set", "kappa=0.2"];
    agrees(&printed, states, include_str!("replay/decodability-printed.jsonl"));
    let one_term = ["decodability", "--set", "cost=one-term"];
    agrees(&one_term, states, include_str!("replay/decodability-one-term.jsonl"));
    let (code, message) = complaint(
        &["decodability"],
        "{\"eps\":1,\"b\":1,\"d\":1,\"e\":1,\"received\":[],\
        \"in_flight\":[],\"overhead\":{\"useless\":0,\"received\":0,\"in_flight\":0,\"sum_p_useless\":0}}",
    );
    assert!(code == Some(1) && message.contains("line 1") && message.contains("eps must be"), "{message}");
}

#[test]
fn rls_matches_least_squares_and_its_baselines_their_definitions() {
    let series = include_str!("replay/series.jsonl");
    agrees(&["rls"], series, include_str!("replay/rls.jsonl"));
    let other = ["rls", "--set", "m=3", "--set", "theta=0.98", "--set", "p0=10"];
    agrees(&other, series, include_str!("replay/rls-m3.jsonl"));
    let values = "{\"x\":0.5}\n{\"x\":0.25}\n";
    agrees(&["last"], values, "{\"error\":0.5,\"prediction\":0.5}\n{\"error\":-0.25,\"prediction\":0.25}");
    let half = ["ewma", "--set", "alpha=0.5"];
    agrees(&half, values, "{\"error\":0.5,\"prediction\":0.5}\n{\"error\":-0.25,\"prediction\":0.375}");
}

#[test]
fn r3cp_matches_the_equations_and_table_1() {
    agrees(&["r3cp-rate"], include_str!("replay/flow-control.jsonl"), include_str!("replay/r3cp-rate.jsonl"));
    let cells = include_str!("replay/cells.jsonl");
    agrees(&["r3cp-table"], cells, include_str!("replay/r3cp-table.jsonl"));
    let other = ["inc_big=6", "inc_small=1", "dec_small=0.9", "dec_big=0.25", "lambda_max=60", "rho_min=5"];
    let other: Vec<&str> = ["r3cp-table"].into_iter().chain(other.into_iter().flat_map(|set| ["--set", set])).collect();
    agrees(&other, cells, include_str!("replay/r3cp-table-other.jsonl"));
    let received = ["r3cp-table", "--set", "base=throughput"];
    let expected = include_str!("replay/r3cp-table-throughput.jsonl");
    agrees(&received, include_str!("replay/cells-received.jsonl"), expected);
    let (code, message) = complaint(&received, cells);
    assert!(code == Some(1) && message.contains("line 1: base=throughput needs throughput"), "{message}");
}

#[test]
fn playback_labels_each_frame_by_its_references() {
    agrees(&["playback"], include_str!("replay/videos.jsonl"), include_str!("replay/playback.jsonl"));
    let output =
        replay(&["playback"], "{\"types\":\"IBP\",\"arrival\":[0.1,null,0.3],\"deadline\":[1,2,3],\"sent\":[1,0,1]}");
    let line = "{\"labels\":[\"playable\",\"skipped\",\"playable\"],\"playback\":0.6666666666666666}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), line);
}

#[test]
fn bad_lines_of_stored_video_are_named() {
    let point = |change: (&str, &str)| {
        let point = "{\"q\":1,\"zeta_in_q\":0,\"zeta_next\":0,\"rho_prev\":1,\"p\":0.5,\"d\":0.1,\"mu\":1,\"p_l\":1}";
        point.replace(change.0, change.1)
    };
    let cell = |change: (&str, &str)| {
        let cell = "{\"current\":\"loaded\",\"forecast\":\"loaded\",\"lambda\":1,\"rho_prev\":1,\"bank_open\":true}";
        cell.replace(change.0, change.1)
    };
    let video = |change: (&str, &str)| {
        let video = "{\"types\":\"IP\",\"arrival\":[0.1,null],\"deadline\":[1,2],\"sent\":[1,1]}";
        video.replace(change.0, change.1)
    };
    for (law, bad, why) in [
        ("rls", "{\"x\":null}".to_owned(), "null"),
        ("rls", "{\"x\":1e300}".to_owned(), "x must be -1000000000 to 1000000000"),
        ("ewma", "{\"y\":1}".to_owned(), "`y`"),
        ("last", "[1]".to_owned(), "an array"),
        ("r3cp-rate", point(("0.5", "1")), "p must be 0 to 0.999999, not 1"),
        ("r3cp-rate", point(("0.1", "0")), "d must be"),
        ("r3cp-rate", point(("\"mu\":1", "\"mu\":-1")), "mu must be 0 to"),
        ("r3cp-rate", point((",\"p_l\":1", "")), "`p_l`"),
        (
            "r3cp-table",
            cell(("\"current\":\"loaded\"", "\"current\":\"busy\"")),
            "current: state: 'busy' is not unloaded",
        ),
        ("r3cp-table", cell(("true", "1")), "boolean"),
        ("r3cp-table", cell(("\"rho_prev\":1", "\"rho_prev\":-1")), "rho_prev must be 0 to"),
        ("playback", video(("IP", "IPB")), "types has 3 frames, arrival 2"),
        ("playback", video(("IP", "IQ")), "types: 'Q' is not I, P or B (frame 1)"),
        ("playback", video(("[1,1]", "[1,2]")), "sent must be 0 or 1, not 2 (frame 1)"),
        ("playback", video(("[1,1]", "[1,true]")), "whole number"),
        ("playback", video(("[1,2]", "[1,null]")), "a number"),
    ] {
        let (code, message) = complaint(&[law], &bad);
        assert!(code == Some(1) && message.contains("line 1: ") && message.contains(why), "{bad}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn help_examples_can_be_pasted_into_a_shell() {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_thalweg"));
    for columns in ["80", "200"] {
        let mut help = Command::new(binary);
        let help = help.args(["replay", "--help"]).env("COLUMNS", columns).output().expect("the binary runs");
        let help = String::from_utf8(help.stdout).expect("text");
        let (_, examples) = help.split_once("Examples: ").expect("examples");
        let commands: Vec<&str> = examples.lines().filter(|line| line.starts_with("  ")).collect();
        let shell = Command::new("sh").args(["-ec", &commands.join("\n")]).env("PATH", path_with(binary)).output();
        let output = shell.expect("a shell");
        assert!(output.status.success() && output.stderr.is_empty(), "{commands:?}: {output:?}");
        assert_eq!(objects(&String::from_utf8_lossy(&output.stdout)).len(), 4, "{commands:?}");
    }
}

/// The search path for programs, with the folder of this one first.
fn path_with(binary: &std::path::Path) -> std::ffi::OsString {
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = binary.parent().map(Into::into).into_iter().chain(std::env::split_paths(&others));
    std::env::join_paths(folders).expect("folders")
}

#[test]
fn unknown_values_are_null() {
    let output = replay(&["geneva"], "{\"lost\":3,\"delivered\":30,\"srtt\":null}");
    let first = &objects(&String::from_utf8_lossy(&output.stdout))[0];
    assert!(first["ertt"].is_null() && first["w"].is_null() && first["w_before"].is_null());
    assert_eq!(first["f"].as_f64(), Some(8.0));
}

#[test]
fn bad_line_is_named_and_earlier_lines_are_answered() {
    let good = "{\"lost\":0,\"delivered\":33,\"srtt\":0.02}\n";
    for (bad, why) in [
        ("{\"lost\":1,", "EOF"),
        ("{\"lost\":-1,\"delivered\":2,\"srtt\":0.1}", "`-1`, expected a whole number, 0 or more"),
        ("{\"delivered\":2,\"srtt\":0.1}", "lost"),
        ("{\"lost\":1,\"delivered\":2}", "srtt"),
        ("{\"lost\":1,\"delivered\":2,\"srtt\":0.1,\"strr\":0.1}", "strr"),
        ("{\"lost\":1,\"delivered\":2,\"srtt\":-0.1}", "srtt"),
        ("\u{0}\u{1}", "column"),
        ("[1,32,0.02,null]", "one JSON object, found an array"),
        ("7", "one JSON object, found a number"),
        ("null", "one JSON object, found null"),
    ] {
        let output = replay(&["geneva"], &format!("{good}{good}{bad}\n{good}"));
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(message.contains("line 3") && message.contains(why), "{message}");
        assert_eq!((message.lines().count(), output.stdout.split(|&b| b == b'\n').count() - 1), (1, 2), "{message}");
    }
    for (bad, why) in [
        ("{\"event\":\"ack\",\"round_end\":true}", "line 2: event 'ack': missing field `rtt`\n"),
        ("{\"event\":\"ack\",\"rtt\":-1,\"round_end\":true}", "rtt must be"),
        ("{\"event\":\"dup2\"}", "dup2"),
        ("{\"event\":\"timeout\",\"flight\":-3}", "-3"),
        ("{\"event\":\"recovered\",\"rtt\":0.1}", "rtt"),
        ("{\"lost\":1}", "event"),
    ] {
        let (code, message) = complaint(&["newreno"], &format!("{{\"event\":\"dup3\"}}\n{bad}\n"));
        assert!(code == Some(1) && message.contains("line 2") && message.contains(why), "{message}");
    }
    for (bad, why) in [
        ("{\"s\":1024,\"rtt\":0.05}", "`p`"),
        ("{\"s\":0,\"rtt\":0.05,\"p\":0.1}", "s must be"),
        ("{\"s\":1024,\"rtt\":0,\"p\":0.1}", "rtt must be above 0"),
        ("{\"s\":1024,\"rtt\":0.05,\"p\":1.1}", "p must be 0 to 1"),
    ] {
        let (code, message) = complaint(&["tfrc-equation"], bad);
        assert!(code == Some(1) && message.contains("line 1") && message.contains(why), "{message}");
    }
    for (law, bad) in [("newreno", "[\"dup3\"]"), ("tfrc-equation", "[1024,0.05,0.1]"), ("decodability", "[0.1,1,5,6]")]
    {
        let (code, message) = complaint(&[law], bad);
        assert!(code == Some(1) && message.contains("line 1: ") && message.contains("an array"), "{message}");
    }
    let account = "{\"eps\":0.1,\"b\":1,\"d\":1,\"e\":1,\"received\":[],\"in_flight\":[],\"overhead\":[0,0,0,0.0]}";
    let (code, message) = complaint(&["decodability"], account);
    assert!(code == Some(1) && message.contains("overhead must be an object"), "{message}");
    let at = |t: f64| format!("{{\"lost\":0,\"delivered\":33,\"srtt\":0.02,\"t\":{t}}}\n");
    let (code, message) = complaint(&["dp-fec"], &[at(1.0), at(1.0), at(0.5)].concat());
    assert!(code == Some(1) && message.contains("line 3: t decreases, from 1 to 0.5 seconds"), "{message}");
    let (code, message) = complaint(&["dp-fec"], good);
    assert!(code == Some(1) && message.contains("needs t"), "{message}");
}

#[test]
fn usage_errors_exit_with_2() {
    for (arguments, why) in [
        (vec!["tcp"], "geneva"),
        (vec![], "LAW"),
        (vec!["geneva", "--set", "window=3"], "one of k, syn"),
        (vec!["geneva", "--set", "p_max=0.002"], "1.5 b^2"),
        (vec!["geneva", "--set", "k"], "NAME=VALUE"),
        (vec!["static", "--set", "repair=-1"], "repair"),
        (vec!["newreno", "--set", "iw=0"], "iw must be at least 1"),
        (vec!["tcp-stream", "--set", "thresholds=reno"], "paper or vegas"),
        (vec!["tcp-stream", "--set", "beta=4"], "one of rate, mss"),
        (vec!["newreno", "--set", "mss=1500"], "one of iw, ssthresh"),
        (vec!["tfrc-equation", "--set", "b=2"], "has none"),
        (vec!["gca-equation", "--set", "alpha=2"], "has none"),
        (vec!["gca-share", "--set", "norm=max"], "has none"),
        (vec!["playback", "--set", "fps=24"], "has none"),
        (vec!["rls", "--set", "m=2.5"], "whole number"),
        (vec!["rls", "--set", "theta=0"], "theta must be above 0"),
        (vec!["last", "--set", "m=1"], "has none"),
        (vec!["r3cp-table", "--set", "inc=1"], "one of p_low"),
        (vec!["r3cp-rate", "--set", "rho_min=1000"], "rho_min must be"),
    ] {
        let (code, message) = complaint(&arguments, "");
        assert_eq!(code, Some(2), "{arguments:?}: {message}");
        assert!(message.contains(why), "{arguments:?}: {message}");
    }
}

#[test]
fn empty_input_gives_empty_output() {
    for law in ["geneva", "static", "dp-fec", "newreno", "tfrc-equation", "rls", "r3cp-rate", "r3cp-table", "playback"]
    {
        let output = replay(&[law], "");
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    }
}

#[test]
fn closed_standard_output_is_no_failure() {
    let mut child = thalweg(&["geneva"]).spawn().expect("the binary starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || while stdin.write_all(LOG.as_bytes()).is_ok() {});
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn each_line_is_answered_before_the_next_is_read() {
    let mut child = thalweg(&["geneva"]).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
    for question in LOG.lines().take(3) {
        writeln!(stdin, "{question}").expect("the binary reads");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("the binary answers");
        assert_eq!(objects(&answer).len(), 1);
    }
    drop(stdin);
    assert!(child.wait().expect("the binary ends").success());
}

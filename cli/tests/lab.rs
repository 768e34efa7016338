//! `thalweg lab` as its users run it.

mod ends;
mod files;
mod grid;
mod sweep;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::run;

/// Settings of runs that are short enough for a test.
const SHORT: [&str; 6] = ["--set", "duration_s=5", "--set", "warmup_s=4", "--set", "n_tcp=3"];

fn lab(args: &[&str]) -> String {
    let args = [&["lab"], args].concat();
    let (code, stdout, stderr) = run(&args);
    assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    stdout
}

/// The last line of standard output, as JSON.
fn last(stdout: &str) -> Value {
    serde_json::from_str(stdout.lines().last().expect("a line")).expect("JSON")
}

/// A folder of a test's own, which is removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("thalweg-lab-{name}-{}", std::process::id())))
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The rows of a CSV file without quotes as maps from the header's names.
fn rows(csv: &str) -> Vec<Vec<(&str, &str)>> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &'_ str| line.split(',').count() == header.len();
    assert!(csv.lines().all(row), "every row has as many cells as the header");
    lines.map(|line| header.iter().copied().zip(line.split(',')).collect()).collect()
}

fn cell<'a>(row: &[(&str, &'a str)], name: &str) -> &'a str {
    row.iter().find(|(column, _)| *column == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// The values that do not depend on the machine.
fn without_cpu(mut value: Value) -> Value {
    let object = value.as_object_mut().expect("an object");
    object.retain(|name, _| !name.starts_with("cpu_s"));
    value
}

#[test]
fn last_line_has_the_means_and_the_value_of_every_seed() {
    // The last stream starts at 6 s.
    let times = ["--set", "duration_s=7", "--set", "warmup_s=6"];
    let set = ["--set", "queue_packets=auto", "--set", "scheme=static8", "--set", "delayed_ack=false"];
    let stdout =
        lab(&[&["run", "geneva-s1", "--seeds", "2", "--tpindex", "--json"], &SHORT[..], &times, &set].concat());
    let object = last(&stdout);
    let names = ["link_loss", "tcp_loss", "stream_loss", "tcp_goodput_mbps", "residual_loss", "bursty_events"];
    for name in names.into_iter().chain(["fwnd_mean", "tpindex", "packets", "cpu_s", "sim_s"]) {
        let each: Vec<f64> = serde_json::from_value(object[format!("{name}_per_seed")].clone()).expect(name);
        assert_eq!(each.len(), 2, "{name}");
        let mean = object[name].as_f64().expect(name);
        assert!((mean - (each[0] + each[1]) / 2.0).abs() <= 1e-9 * mean.abs(), "{name}: {mean} of {each:?}");
    }
    assert_eq!(object["fwnd_mean"], 8.0);
    assert_eq!(object["sim_s"], 7.0);
    assert_eq!(object["seeds"], serde_json::json!([1, 2]));
    assert_eq!(object["parameters"]["n_tcp"], 3);
    // Before the last line there is one for each run, of two seeds with each of the two schemes.
    assert_eq!(stdout.lines().count(), 5);
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let run = |name: &str, jobs: &str| {
        let folder = Folder::new(name);
        let files = ["--out", folder.path(), "--interval", "250ms", "--jobs", jobs, "--json", "--seeds", "3"];
        let stdout = lab(&[&["run", "example"], &files[..]].concat());
        let files = ["summary.csv", "summary.jsonl", "flows.csv", "intervals-geneva-2.csv"];
        let text = files.map(|file| folder.read(file)).concat();
        assert_eq!(rows(&folder.read("timing.csv")).len(), 3);
        (without_cpu(last(&stdout)), text)
    };
    let first = run("first", "1");
    assert_eq!(run("again", "1"), first);
    assert_eq!(run("parallel", "3"), first);
}

/// Compared with `flows.csv` of the same run, and with Jain's formula.
#[test]
fn each_group_of_flows_has_a_row_of_its_own() {
    let folder = Folder::new("groups");
    let args = ["run", "dumbbell", "--seeds", "1", "--out", folder.path()];
    let stdout = lab(&[&args, &SHORT[..]].concat());
    let (_, table) = stdout.split_once("\ngroup ").expect("a table of groups");
    let row = table.lines().find(|line| line.starts_with("tcp ")).expect("a row of TCP");
    let cells: Vec<f64> = row.split_whitespace().skip(1).map(|cell| cell.parse().expect("a number")).collect();
    let flows = folder.read("flows.csv");
    let flows = rows(&flows);
    let of = |name: &str| -> Vec<f64> {
        let tcp = flows.iter().filter(|flow| cell(flow, "group") == "tcp");
        tcp.map(|flow| cell(flow, name).parse().expect("a number")).collect()
    };
    let (bytes, sum) = (of("delivered_bytes"), |values: &[f64]| values.iter().sum::<f64>());
    let squares: Vec<f64> = bytes.iter().map(|bytes| bytes * bytes).collect();
    // One second is measured.
    let expected = [
        3.0,
        sum(&bytes) * 8e-6,
        sum(&of("dropped_packets")) / sum(&of("offered_packets")),
        sum(&bytes).powi(2) / (3.0 * sum(&squares)),
    ];
    for (cell, expected) in cells.iter().zip(expected) {
        assert!((cell - expected).abs() <= 1e-3 * expected, "{row}: {expected}");
    }
    // The queue holds one bandwidth-delay product, and so is empty after one delay, of 40 ms.
    assert!(cells.len() == 5 && (0.0..=40.0).contains(&cells[4]), "{row}");
    let stdout = lab(&[&["compare", "dumbbell", "--seeds", "2", "--schemes", "none,udp"], &SHORT[..]].concat());
    for row in ["none: tcp ", "none: stream ", "udp: tcp ", "udp: stream "] {
        assert!(stdout.lines().any(|line| line.starts_with(row)), "{row}: {stdout}");
    }
}

#[test]
fn measuring_before_all_flows_start_gives_a_warning() {
    let args = ["lab", "run", "dumbbell", "--seeds", "1", "--set", "warmup_s=1", "--set", "duration_s=4"];
    let (code, stdout, stderr) = run(&args);
    assert_eq!((code, stdout.is_empty()), (0, false), "{stderr}");
    assert!(stderr.starts_with("thalweg: lab: measuring begins at 1s") && stderr.lines().count() == 1, "{stderr}");
    assert!(stderr.contains("'tcp' may start as late as 2s"), "{stderr}");
}

#[test]
fn copied_scenario_runs_from_any_folder() {
    let folder = Folder::new("copy");
    fs::create_dir(&folder.0).expect("a folder");
    let file = folder.0.join("my.toml");
    fs::write(&file, lab(&["list", "trace"]).replace("30s", "6s")).expect("a file");
    lab(&["run", file.to_str().expect("UTF-8"), "--seeds", "1"]);
    let (code, _, stderr) = run(&["lab", "run", file.to_str().expect("UTF-8"), "--set", "trace=other.trace"]);
    assert!(code == 1 && stderr.contains("'other.trace' cannot be read: no such file"), "{stderr}");
}

#[test]
fn scenario_without_a_title_is_shown_by_its_file_name() {
    let folder = Folder::new("bare");
    fs::create_dir(&folder.0).expect("a folder");
    let file = folder.0.join("bare.toml");
    let text = "run = { duration = '2s' }\nhop = [{ rate = '1mbit', queue = 9, delay = '1ms' }]\n\
                access = { rate = '1gbit', near = '1ms', far = '1ms' }\n\
                flow = [{ kind = 'cbr', rate = '100kbit', packet = 100 }]\n";
    fs::write(&file, text).expect("a file");
    let name = file.to_str().expect("UTF-8");
    let stdout = lab(&["run", name, "--seeds", "1"]);
    let begins = format!("{name}\n1 seed, measured from 0 s to 2 s");
    assert!(stdout.starts_with(&begins) && !stdout.contains("tcp_goodput"), "{stdout}");
}

#[test]
fn comparison_reports_paired_differences() {
    let stdout = lab(&[&["compare", "dumbbell", "--schemes", "static8,cbr,tfrc", "--json"], &SHORT[..]].concat());
    let object = last(&stdout);
    assert_eq!(object["first"], "static8");
    assert_eq!((&object["parameters"]["n_tcp"], &object["parameters"]["scheme"]), (&Value::from(3), &Value::Null));
    // Eight repair packets a block are the rate of `cbr`: 39.6 Mb/s less the losses.
    let rate = |scheme: &str| object["schemes"][scheme]["stream_goodput_mbps"].as_f64().expect("a rate");
    assert!((rate("static8") - rate("cbr")).abs() < 2.0, "{} {}", rate("static8"), rate("cbr"));
    let difference = object["first_minus"]["cbr"]["stream_goodput_mbps"]["mean"].as_f64().expect("a difference");
    assert!((difference - (rate("static8") - rate("cbr"))).abs() < 1e-9, "{difference}");
    assert_eq!(object["schemes"]["tfrc"]["tpindex"], 1.0);
    let table = lab(&[&["compare", "dumbbell", "--schemes", "static8,udp", "--seeds", "2"], &SHORT[..]].concat());
    assert!(table.contains("static8 - udp") && table.contains("residual_loss"), "{table}");
}

#[test]
fn tfrc_compared_with_itself_runs_once() {
    let set = ["--set", "scheme=tfrc", "--seeds", "1", "--tpindex", "--json"];
    let stdout = lab(&[&["run", "dumbbell"], &SHORT[..], &set].concat());
    assert_eq!((stdout.lines().count(), last(&stdout)["tpindex"].as_f64()), (2, Some(1.0)));
}

#[test]
fn built_in_scenarios_are_listed_and_can_be_printed() {
    let list = lab(&["list"]);
    for name in [
        "dumbbell",
        "parking-lot",
        "rivals",
        "md1",
        "trace",
        "scaling",
        "gca",
        "geneva-s0",
        "geneva-s1",
        "geneva-s2",
        "geneva-s3",
        "r3cp-s1",
        "r3cp-s3",
        "r3cp-s4",
        "r3cp-s5",
        "r3cp-s6",
        "tcp-stream-s1",
        "tcp-stream-s2",
        "tcp-stream-pair",
    ] {
        assert!(list.contains(&format!("{name}: ")), "{list}");
    }
    assert!(list.contains("n_tcp=100"), "{list}");
    assert_eq!(lab(&["list", "dumbbell"]), include_str!("../../scenarios/lab/dumbbell.toml"));
}

#[test]
fn any_parameter_can_be_compared() {
    let over = ["compare", "dumbbell", "--over", "rtt_ms=10,100", "--seeds", "1", "--json"];
    let object = last(&lab(&[&over[..], &SHORT].concat()));
    assert_eq!((&object["first"], &object["parameters"]["rtt_ms"]), (&Value::from("10"), &Value::Null));
    let short = object["schemes"]["10"]["tcp_goodput_mbps"].as_f64().expect("a rate");
    let long = object["schemes"]["100"]["tcp_goodput_mbps"].as_f64().expect("a rate");
    // The throughput of TCP falls with the round trip.
    assert!(short > long && long > 0.0, "{short}, {long}");
}

#[test]
fn usage_errors_exit_with_2_and_failures_with_1() {
    for (args, code, expected) in [
        (&["run"][..], 2, "<SCENARIO>; see thalweg lab run --help"),
        (&["run", "dumbbell", "--set", "speed=1"], 2, "'speed', expected one of scheme, n_tcp"),
        (&["run", "dumbbell", "--set", "n_tcp=x"], 2, "n_tcp = 'x', expected a number"),
        (&["run", "md1", "--tpindex"], 2, "--tpindex needs a parameter 'scheme'"),
        (&["run", "md1", "--interval", "1s"], 2, "--out"),
        (&["run", "md1", "--seeds", "0"], 2, "--seeds"),
        (&["run", "md1", "--out", "/dev/null/x", "--trace", "--hop", "2"], 2, "--hop 2: the scenario has only 1"),
        (&["run", "md1", "--out", "/dev/null/x", "--hop", "1"], 2, "--hop: needs --trace or --pcap"),
        (&["compare", "dumbbell", "--schemes", "udp"], 2, "two or more"),
        (&["compare", "dumbbell", "--schemes", "udp,udp"], 2, "twice"),
        (&["compare", "dumbbell", "--over", "rtt_ms=10"], 2, "--over: needs two or more"),
        (&["compare", "dumbbell", "--over", "speed=1,2"], 2, "'speed', expected one of scheme, n_tcp"),
        (&["compare", "dumbbell", "--over", "n_tcp=1,2", "--set", "n_tcp=3"], 2, "--set n_tcp=3"),
        (&["compare", "dumbbell", "--over", "n_tcp=1,2", "--schemes", "udp,none"], 2, "cannot be used with"),
        (&["run", "no-such"], 1, "'no-such' is neither a file nor a built-in scenario; expected one of dumbbell"),
        (&["list", "no-such"], 1, "'no-such'; expected one of dumbbell"),
        (&["run", "dumbbell", "--set", "scheme=best"], 1, "lab/dumbbell.toml:43: no scheme 'best'"),
        (&["run", "dumbbell", "--set", "n_tcp=1000000"], 1, "1000000 flows, expected at most 100000"),
        (&["run", "dumbbell", "--set", "warmup_s=60"], 1, "nothing is measured"),
        (&["run", "md1", "--out", "/dev/null/x"], 1, "cannot write /dev/null/x: "),
        (&["compare", "dumbbell", "--schemes", "udp,cbr", "--set", "scheme=tfrc"], 2, "--set scheme=tfrc"),
        (&["run", "md1", "--out", "/dev/null/x", "--interval", "1ns"], 2, "--interval: must be at least 1ms"),
        (&["run", "dumbbell", "--set", "duration_s=1e9"], 1, "expected at most 1000000s"),
        (&["run", "dumbbell", "--set", "duration_s=1e12"], 1, "expected at most 1000000s"),
        (&["run", "dumbbell", "--set", "scheme=static999"], 1, "and 999 repair packets, expected at most 255"),
        (&["run", "geneva-s1", "--set", "rtt_ms=2"], 1, "from '= (rtt_ms / 2 - 2) ms'"),
        (
            &["run", "geneva-s1", "--set", "tcp_start_s=300", "--set", "warmup_s=1"],
            1,
            "a flow of 'stream' starts at 302s",
        ),
    ] {
        let args = [&["lab"], args].concat();
        let (actual, stdout, stderr) = run(&args);
        assert_eq!((actual, stdout.as_str()), (code, ""), "{args:?}: {stderr}");
        assert!(stderr.starts_with("thalweg: ") && stderr.contains(expected), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

//! `thalweg lab` as its users run it.

#[path = "../common/mod.rs"]
mod common;
mod ends;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::run;
use serde_json::Value;

/// Short enough for a test.
const SHORT: [&str; 6] = ["--set", "duration_s=5", "--set", "warmup_s=4", "--set", "n_tcp=3"];

fn lab(args: &[&str]) -> String {
    let args = [&["lab"], args].concat();
    let (code, stdout, stderr) = run(&args);
    assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
    stdout
}

/// The last line of standard output.
fn last(stdout: &str) -> Value {
    serde_json::from_str(stdout.lines().last().expect("a line")).expect("JSON")
}

/// A folder of its own that is gone in the end.
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

/// What does not depend on the machine.
fn without_cpu(mut value: Value) -> Value {
    let object = value.as_object_mut().expect("an object");
    object.retain(|name, _| !name.starts_with("cpu_s"));
    value
}

#[test]
fn the_last_line_has_the_means_and_every_seed() {
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
    // A line for each run with each of the two schemes, before it.
    assert_eq!(stdout.lines().count(), 5);
}

#[test]
fn the_same_seeds_give_the_same_bytes_whatever_the_number_of_threads() {
    let run = |name: &str, jobs: &str| {
        let folder = Folder::new(name);
        let files = ["--out", folder.path(), "--interval", "250ms", "--jobs", jobs, "--json", "--seeds", "3"];
        let stdout = lab(&[&["run", "example"], &files[..]].concat());
        let text = folder.read("flows.csv") + &folder.read("intervals-geneva-2.csv");
        (without_cpu(last(&stdout)), text)
    };
    let first = run("first", "1");
    assert_eq!(run("again", "1"), first);
    assert_eq!(run("parallel", "3"), first);
}

#[test]
fn files_can_be_read_and_agree() {
    let folder = Folder::new("files");
    let files = ["--out", folder.path(), "--interval", "1s", "--seeds", "2", "--seed", "7"];
    lab(&[&["compare", "dumbbell", "--schemes", "none,udp"], &files[..], &SHORT].concat());
    let (summary, flows) = (folder.read("summary.csv"), folder.read("flows.csv"));
    let (summary, flows) = (rows(&summary), rows(&flows));
    let runs: Vec<_> = summary.iter().map(|row| (cell(row, "scheme"), cell(row, "seed"))).collect();
    assert_eq!(runs, [("none", "7"), ("udp", "7"), ("none", "8"), ("udp", "8")]);
    for (row, line) in summary.iter().zip(folder.read("summary.jsonl").lines()) {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line["scheme"], cell(row, "scheme"));
        assert_eq!(line["packets"].as_f64(), cell(row, "packets").parse().ok());
        let of_run =
            |flow: &&Vec<_>| cell(flow, "scheme") == cell(row, "scheme") && cell(flow, "seed") == cell(row, "seed");
        let of_tcp = flows.iter().filter(of_run).filter(|flow| cell(flow, "kind") == "tcp");
        let bytes: Vec<f64> = of_tcp.map(|flow| cell(flow, "delivered_bytes").parse().expect("a number")).collect();
        assert_eq!(bytes.len(), 3);
        // One second is measured.
        let mbps: f64 = cell(row, "tcp_goodput_mbps").parse().expect("a number");
        assert!((mbps - 8e-6 * bytes.iter().sum::<f64>()).abs() < 1e-5, "{mbps}");
    }
    let lines: Vec<Value> =
        folder.read("flows.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), flows.len());
    for (row, line) in flows.iter().zip(&lines) {
        assert_eq!(line["group"], cell(row, "group"));
        let number = |name: &str| cell(row, name).parse::<f64>().ok();
        for name in ["seed", "flow", "offered_packets", "delivered_bytes", "timeouts", "repair_packets", "w_mean"] {
            assert_eq!(line[name].as_f64(), number(name), "{name}: {line}");
        }
    }
    let shown = folder.read("intervals-udp-8.jsonl");
    let first: Value = serde_json::from_str(shown.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["t_s"], 1.0);
    assert_eq!(shown.lines().count() + 1, folder.read("intervals-udp-8.csv").lines().count());
    let intervals = folder.read("intervals-udp-8.csv");
    let intervals = rows(&intervals);
    let windows = intervals.iter().filter(|row| cell(row, "probe") == "cwnd" && cell(row, "flow") == "0");
    let at: Vec<&str> = windows.map(|row| cell(row, "t_s")).collect();
    assert_eq!(at, ["1", "2", "3", "4", "5"]);
    // One second is measured, the last.
    for flow in &flows {
        let (number, is_ours) = (cell(flow, "flow"), cell(flow, "scheme") == "udp" && cell(flow, "seed") == "8");
        let of = |row: &&Vec<_>| cell(row, "flow") == number && cell(row, "t_s") == "5" && cell(row, "end") == "both";
        for row in intervals.iter().filter(of).filter(|_| is_ours) {
            assert_eq!(cell(row, "value"), cell(flow, cell(row, "probe")), "{number} {}", cell(row, "probe"));
        }
    }
    let hops = folder.read("hops-udp-8.csv");
    let waiting = |row: &&Vec<_>| cell(row, "probe") == "queue_packets" && cell(row, "way") == "forward";
    let hops = rows(&hops);
    let queues: Vec<f64> =
        hops.iter().filter(waiting).map(|row| cell(row, "value").parse().expect("a number")).collect();
    assert!(queues.len() == 5 && queues.iter().any(|queue| *queue > 0.0), "{queues:?}");
    assert_eq!(folder.read("hops-udp-8.jsonl").lines().count(), hops.len());
}

/// Names in the first cells of the rows of tables of a page of `docs/`, each with another cell of its row.
fn documented(page: &str, column: usize) -> BTreeSet<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let text = fs::read_to_string(file).expect("a page of the docs");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let named = |row: Vec<String>| {
        let names: Vec<String> = row[0].split(", ").map(|name| name.replace('`', "")).collect();
        names.into_iter().map(move |name| (name, row[column].clone()))
    };
    rows.filter(|row| row.len() > column).flat_map(named).collect()
}

#[test]
fn every_probe_is_in_the_docs_and_every_one_of_the_docs_is_shown() {
    let mut seen = BTreeSet::new();
    // Each command has a folder of its own: it would say what it removes of another's.
    let mut watch = |name: &str, command: &[&str], files: &[String]| {
        let folder = Folder::new(&format!("probes-{name}"));
        lab(&[command, &["--out", folder.path(), "--interval", "1s", "--seeds", "1"]].concat());
        let end = |row: &Vec<(&str, &str)>| match row.iter().find(|(column, _)| *column == "end") {
            Some((_, end)) => (*end).to_owned(),
            None => "hop".to_owned(),
        };
        for file in files {
            seen.extend(rows(&folder.read(file)).iter().map(|row| (cell(row, "probe").to_owned(), end(row))));
        }
    };
    let short = ["--set", "n_tcp=1", "--set", "duration_s=6", "--set", "warmup_s=3"];
    let schemes = ["geneva", "static8", "dp-fec", "udp", "tfrc", "live"];
    let files =
        schemes.map(|scheme| format!("intervals-{scheme}-1.csv")).into_iter().chain(["hops-geneva-1.csv".into()]);
    let all = schemes.join(",");
    let compare = [&["compare", "dumbbell", "--schemes", &all], &short[..]].concat();
    watch("schemes", &compare, &files.collect::<Vec<_>>());
    for tcp in ["linux-reno", "cubic", "vegas", "copa"] {
        let carrier = format!("tcp={tcp}");
        let run = [&["run", "dumbbell", "--set", &carrier], &short[..]].concat();
        watch(tcp, &run, &["intervals-geneva-1.csv".to_owned()]);
    }
    let film = ["run", "tcp-stream-s2", "--set", "duration_s=4", "--set", "background_s=0"];
    watch("film", &film, &["intervals-1.csv".to_owned()]);
    let known: BTreeSet<_> =
        documented("lab.md", 2).into_iter().filter(|(_, end)| END.contains(&end.as_str())).collect();
    // The sessions' own metrics are told of elsewhere.
    let metrics: BTreeSet<String> = documented("metrics.md", 1).into_iter().map(|(name, _)| name).collect();
    seen.retain(|(name, _)| !metrics.contains(name));
    assert_eq!(seen, known);
}

/// Where a probe is seen.
const END: [&str; 4] = ["both", "sender", "receiver", "hop"];

#[test]
fn a_trace_has_every_packet_and_a_capture_those_that_leave() {
    let folder = Folder::new("trace");
    // The trace has packets from the start: all are measured.
    let set = ["--set", "duration_s=3", "--set", "warmup_s=0", "--set", "n_tcp=20", "--seeds", "1"];
    let files = ["--out", folder.path(), "--trace", "--pcap", "--interval", "300ms"];
    lab(&[&["run", "dumbbell"], &set[..], &files].concat());
    let (trace, flows) = (folder.read("packets-geneva-1.csv"), folder.read("flows.csv"));
    let (trace, flows) = (rows(&trace), rows(&flows));
    let seen = |flow: &str, event: &str| {
        let of =
            |row: &&Vec<_>| cell(row, "flow") == flow && cell(row, "way") == "forward" && cell(row, "event") == event;
        trace.iter().filter(of).count()
    };
    let mut dropped = 0;
    for flow in &flows {
        let number = cell(flow, "flow");
        let count = |name| cell(flow, name).parse::<usize>().expect("a number");
        assert_eq!(seen(number, "came") + seen(number, "dropped"), count("offered_packets"), "{number}");
        assert_eq!(seen(number, "dropped"), count("dropped_packets"), "{number}");
        dropped += count("dropped_packets");
    }
    assert!(dropped > 0);
    let times: Vec<f64> = trace.iter().map(|row| cell(row, "t_s").parse().expect("a time")).collect();
    assert!(times.is_sorted());

    let capture = fs::read(folder.0.join("packets-geneva-1.pcap")).expect("a capture");
    let field = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().expect("four bytes"));
    assert_eq!([field(0), field(20)], [0xa1b2_3c4d, 101]);
    let left: Vec<_> = trace.iter().filter(|row| cell(row, "event") == "left").collect();
    let mut at = 24;
    for row in &left {
        let nanos = f64::from(field(at)) + f64::from(field(at + 4)) / 1e9;
        assert!((nanos - cell(row, "t_s").parse::<f64>().expect("a time")).abs() < 1e-9);
        assert_eq!(field(at + 12).to_string(), cell(row, "size_bytes"));
        at += 16 + field(at + 8) as usize;
    }
    assert_eq!((at, left.len() > 10_000), (capture.len(), true));
    let intervals = folder.read("intervals-geneva-1.csv");
    assert_eq!(
        rows(&intervals).iter().filter(|row| cell(row, "probe") == "cwnd" && cell(row, "flow") == "0").count(),
        10
    );
    tshark_agrees(&folder.0.join("packets-geneva-1.pcap"), left.len());
}

#[test]
fn any_hop_can_be_watched() {
    let watched = |hop: &[&str]| {
        let folder = Folder::new(&format!("hop{}", hop.len()));
        let files = ["--seeds", "1", "--out", folder.path(), "--trace"];
        let scenario = Folder::new(&format!("parking{}", hop.len()));
        fs::create_dir(&scenario.0).expect("a folder");
        let file = scenario.0.join("short.toml");
        let text = include_str!("../../../scenarios/lab/parking-lot.toml").replace("60s", "5s").replace("10s", "4s");
        fs::write(&file, text).expect("a file");
        lab(&[&["run", file.to_str().expect("UTF-8")], &files[..], hop].concat());
        let trace = folder.read("packets-1.csv");
        let flows: std::collections::BTreeSet<u32> =
            rows(&trace).iter().map(|row| cell(row, "flow").parse().expect("a number")).collect();
        flows.into_iter().collect::<Vec<_>>()
    };
    // The long path is flow 0, and each hop has three short ones of its own.
    assert_eq!(watched(&[]), [0, 1, 2, 3]);
    assert_eq!(watched(&["--hop", "3"]), [0, 7, 8, 9]);
}

#[test]
fn a_folder_holds_what_came_of_one_command() {
    let folder = Folder::new("reused");
    let left = || {
        let entries = fs::read_dir(&folder.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        names.sort();
        names
    };
    let fixed = ["flows.csv", "flows.jsonl", "notes-1.csv", "summary.csv", "summary.jsonl"];
    fs::create_dir(&folder.0).expect("a folder");
    fs::write(folder.0.join("notes-1.csv"), "mine").expect("a file");
    // Whose folder this is nobody knows before there is a summary in it.
    fs::write(folder.0.join("packets-9.csv"), "mine").expect("a file");
    let short = ["run", "md1", "--set", "duration_s=2", "--out", folder.path()];
    lab(&[&short[..], &["--seeds", "3", "--interval", "1s", "--trace", "--pcap"]].concat());
    assert_eq!(left().len(), fixed.len() + 1 + 3 * 6);
    let (code, _, stderr) = run(&[&["lab"], &short[..], &["--seeds", "1", "--interval", "1s"]].concat());
    assert_eq!((code, stderr.lines().count()), (0, 1), "{stderr}");
    assert!(
        stderr.starts_with("thalweg: lab: 15 files of single runs of an earlier command removed from "),
        "{stderr}"
    );
    let own = ["hops-1.csv", "hops-1.jsonl", "intervals-1.csv", "intervals-1.jsonl"];
    let mut expected = [&fixed[..], &own].concat();
    expected.sort_unstable();
    assert_eq!(left(), expected);
    // Whoever does the same again has the same again, and need not be told.
    lab(&[&short[..], &["--seeds", "1", "--interval", "1s"]].concat());
    assert_eq!(left(), expected);
}

#[test]
fn what_is_measured_before_its_flows_begin_is_told() {
    let args = ["lab", "run", "dumbbell", "--seeds", "1", "--set", "warmup_s=1", "--set", "duration_s=4"];
    let (code, stdout, stderr) = run(&args);
    assert_eq!((code, stdout.is_empty()), (0, false), "{stderr}");
    assert_eq!(stderr, "thalweg: lab: measuring begins at 1s, and a flow of 'tcp' may start as late as 2s\n");
}

#[test]
fn a_copy_of_a_scenario_runs_wherever_it_lies() {
    let folder = Folder::new("copy");
    fs::create_dir(&folder.0).expect("a folder");
    let file = folder.0.join("my.toml");
    fs::write(&file, lab(&["list", "trace"]).replace("30s", "6s")).expect("a file");
    lab(&["run", file.to_str().expect("UTF-8"), "--seeds", "1"]);
    let (code, _, stderr) = run(&["lab", "run", file.to_str().expect("UTF-8"), "--set", "trace=other.trace"]);
    assert!(code == 1 && stderr.contains("'other.trace' cannot be read: no such file"), "{stderr}");
}

#[test]
fn a_file_without_a_word_about_itself_has_its_name_alone() {
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

/// Where tshark is installed, it opens the capture, finds as many packets, and nothing wrong with their checksums.
fn tshark_agrees(capture: &Path, packets: usize) {
    if std::env::var_os("THALWEG_TEST_ALL").is_none() {
        println!("skipped: tshark is asked when THALWEG_TEST_ALL is set");
        return;
    }
    let ask = |filter: &str| {
        let checks = ["ip", "tcp", "udp"].map(|protocol| format!("{protocol}.check_checksum:TRUE"));
        let options = checks.iter().flat_map(|check| ["-o", check]);
        Command::new("tshark").arg("-r").arg(capture).args(options).args(["-Y", filter]).output()
    };
    let Ok(all) = ask("tcp or udp") else {
        println!("skipped: no tshark");
        return;
    };
    assert_eq!(all.stdout.iter().filter(|byte| **byte == b'\n').count(), packets);
    let bad = ask("ip.checksum.status == \"Bad\" or _ws.malformed").expect("it was there");
    assert!(bad.status.success() && bad.stdout.is_empty(), "{}", String::from_utf8_lossy(&bad.stdout));
}

#[test]
fn a_comparison_is_paired() {
    let stdout = lab(&[&["compare", "dumbbell", "--schemes", "static8,cbr,tfrc", "--json"], &SHORT[..]].concat());
    let object = last(&stdout);
    assert_eq!(object["first"], "static8");
    assert_eq!((&object["parameters"]["n_tcp"], &object["parameters"]["scheme"]), (&Value::from(3), &Value::Null));
    // Eight repair packets a block are the rate of `cbr`: 39.6 Mb/s but for what is lost.
    let rate = |scheme: &str| object["schemes"][scheme]["stream_goodput_mbps"].as_f64().expect("a rate");
    assert!((rate("static8") - rate("cbr")).abs() < 2.0, "{} {}", rate("static8"), rate("cbr"));
    let difference = object["first_minus"]["cbr"]["stream_goodput_mbps"]["mean"].as_f64().expect("a difference");
    assert!((difference - (rate("static8") - rate("cbr"))).abs() < 1e-9, "{difference}");
    assert_eq!(object["schemes"]["tfrc"]["tpindex"], 1.0);
    let table = lab(&[&["compare", "dumbbell", "--schemes", "static8,udp", "--seeds", "2"], &SHORT[..]].concat());
    assert!(table.contains("static8 - udp") && table.contains("residual_loss"), "{table}");
}

#[test]
fn tfrc_beside_itself_is_run_once() {
    let set = ["--set", "scheme=tfrc", "--seeds", "1", "--tpindex", "--json"];
    let stdout = lab(&[&["run", "dumbbell"], &SHORT[..], &set].concat());
    assert_eq!((stdout.lines().count(), last(&stdout)["tpindex"].as_f64()), (2, Some(1.0)));
}

#[test]
fn every_listed_scenario_can_be_named() {
    let list = lab(&["list"]);
    for name in [
        "dumbbell",
        "parking-lot",
        "md1",
        "trace",
        "scaling",
        "geneva-s0",
        "geneva-s1",
        "geneva-s2",
        "geneva-s3",
        "tcp-stream-s1",
        "tcp-stream-s2",
    ] {
        assert!(list.contains(&format!("{name}: ")), "{list}");
    }
    assert!(list.contains("n_tcp=100"), "{list}");
    assert_eq!(lab(&["list", "dumbbell"]), include_str!("../../../scenarios/lab/dumbbell.toml"));
}

#[test]
fn wrong_use_is_exit_2_and_what_does_not_work_exit_1() {
    for (args, code, expected) in [
        (&["run"][..], 2, "<SCENARIO>; see thalweg lab run --help"),
        (&["run", "dumbbell", "--set", "speed=1"], 2, "no parameter 'speed', known are scheme, n_tcp"),
        (&["run", "dumbbell", "--set", "n_tcp=x"], 2, "n_tcp = 'x', expected a number"),
        (&["run", "md1", "--tpindex"], 2, "--tpindex needs a parameter 'scheme'"),
        (&["run", "md1", "--interval", "1s"], 2, "--out"),
        (&["run", "md1", "--seeds", "0"], 2, "--seeds"),
        (&["run", "md1", "--out", "/dev/null/x", "--trace", "--hop", "2"], 2, "--hop is 2, and the scenario has 1"),
        (&["run", "md1", "--out", "/dev/null/x", "--hop", "1"], 2, "--hop is for --trace and --pcap"),
        (&["compare", "dumbbell", "--schemes", "udp"], 2, "two or more"),
        (&["compare", "dumbbell", "--schemes", "udp,udp"], 2, "twice"),
        (&["run", "no-such"], 1, "no file 'no-such', nor is it one of those that come with Thalweg: dumbbell"),
        (&["list", "no-such"], 1, "no scenario 'no-such', known are dumbbell"),
        (&["run", "dumbbell", "--set", "scheme=best"], 1, "no scheme 'best', expected geneva"),
        (&["run", "dumbbell", "--set", "n_tcp=1000000"], 1, "1000000 flows, 100000 are the most"),
        (&["run", "dumbbell", "--set", "warmup_s=60"], 1, "nothing is measured"),
        (&["run", "md1", "--out", "/dev/null/x"], 1, "cannot write /dev/null/x: "),
        (&["compare", "dumbbell", "--schemes", "udp,cbr", "--set", "scheme=tfrc"], 2, "--set scheme=tfrc"),
        (&["run", "md1", "--out", "/dev/null/x", "--interval", "1ns"], 2, "--interval is 1ms or more"),
        (&["run", "dumbbell", "--set", "duration_s=1e9"], 1, "1000000s are the most"),
        (&["run", "dumbbell", "--set", "duration_s=1e12"], 1, "1000000s are the most"),
        (&["run", "dumbbell", "--set", "scheme=static999"], 1, "and 999 repair packets, 255 are the most of one code"),
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

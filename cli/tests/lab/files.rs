//! The files that `--out` writes into a folder: tables, series, traces and captures.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::run;
use crate::lab::{Folder, SHORT, cell, lab, rows};

#[test]
fn output_files_are_readable_and_consistent() {
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

/// The names in the first column of the tables of a page of `docs/`, each with another cell of its row.
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
fn probes_are_exactly_the_documented_ones() {
    let mut seen = BTreeSet::new();
    // Each command has a folder of its own: in another's it would report the files that it removes.
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
    let video = ["run", "tcp-stream-s2", "--set", "duration_s=4", "--set", "background_s=0"];
    watch("video", &video, &["intervals-1.csv".to_owned()]);
    let known: BTreeSet<_> =
        documented("lab.md", 2).into_iter().filter(|(_, end)| END.contains(&end.as_str())).collect();
    // The sessions' own metrics are documented elsewhere. Some have the name of a probe.
    let metrics: BTreeSet<String> = documented("metrics.md", 1).into_iter().map(|(name, _)| name).collect();
    seen.retain(|probe| known.contains(probe) || !metrics.contains(&probe.0));
    assert_eq!(seen, known);
}

/// The places at which probes are seen.
const END: [&str; 4] = ["both", "sender", "receiver", "hop"];

#[test]
fn a_trace_has_every_packet_and_a_capture_those_that_leave() {
    let folder = Folder::new("trace");
    // The trace has packets from the start, so all of the run must be measured.
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
fn any_hop_can_be_traced() {
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
fn output_folder_holds_the_results_of_one_command() {
    let folder = Folder::new("reused");
    let left = || {
        let entries = fs::read_dir(&folder.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        names.sort();
        names
    };
    let fixed = ["flows.csv", "flows.jsonl", "notes-1.csv", "summary.csv", "summary.jsonl", "timing.csv"];
    fs::create_dir(&folder.0).expect("a folder");
    fs::write(folder.0.join("notes-1.csv"), "mine").expect("a file");
    // Without a summary in it the folder does not count as the lab's.
    fs::write(folder.0.join("packets-9.csv"), "mine").expect("a file");
    let short = ["run", "md1", "--set", "duration_s=2", "--out", folder.path()];
    lab(&[&short[..], &["--seeds", "3", "--interval", "1s", "--trace", "--pcap"]].concat());
    assert_eq!(left().len(), fixed.len() + 1 + 3 * 6);
    let (code, _, stderr) = run(&[&["lab"], &short[..], &["--seeds", "1", "--interval", "1s"]].concat());
    assert_eq!((code, stderr.lines().count()), (0, 1), "{stderr}");
    assert!(stderr.starts_with("thalweg: lab: removed 15 files ") && stderr.contains(folder.path()), "{stderr}");
    let own = ["hops-1.csv", "hops-1.jsonl", "intervals-1.csv", "intervals-1.jsonl"];
    let mut expected = [&fixed[..], &own].concat();
    expected.sort_unstable();
    assert_eq!(left(), expected);
    // The same command again writes the same files, and has nothing to report.
    lab(&[&short[..], &["--seeds", "1", "--interval", "1s"]].concat());
    assert_eq!(left(), expected);
}

/// Checks with tshark, if it is installed, that it opens the capture, finds as many packets, and no wrong checksum.
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

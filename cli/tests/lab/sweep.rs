//! Sweeps: the same parts in any order, on any number of threads, after any interruption.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{run, signal, wait_until};
use crate::lab::{Folder, lab, last};

/// Twelve runs of some 50 ms each.
const GRID: [&str; 10] =
    ["sweep", "md1", "--over", "load=0.5,0.8", "--over", "duration_s=100,150", "--seeds", "3", "--json", "--out"];

fn swept(folder: &Folder, more: &[&str]) -> Value {
    last(&lab(&[&GRID[..], &[folder.path()], more].concat()))
}

/// The names of the files in a folder.
fn names(folder: &Folder) -> BTreeSet<String> {
    let entries = fs::read_dir(&folder.0).expect("a folder");
    entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8")).collect()
}

#[test]
fn shards_in_any_order_are_the_whole_sweep() {
    let (whole, parts) = (Folder::new("sweep-whole"), Folder::new("sweep-shards"));
    let all = swept(&whole, &["--jobs", "2"]);
    assert_eq!((&all["runs"], &all["performed"], &all["kept"]), (&12.into(), &12.into(), &12.into()));
    for shard in ["4/4", "3/4", "2/4", "1/4"] {
        let one = swept(&parts, &["--jobs", "1", "--shard", shard]);
        assert_eq!(one["performed"], 3, "{shard}");
        assert_eq!(one["digest"].is_string(), shard == "1/4", "only a whole sweep has means: {one}");
    }
    let again = swept(&parts, &[]);
    assert_eq!((&again["before"], &again["performed"]), (&12.into(), &0.into()));
    assert_eq!((&again["digest"], &again["points"]), (&all["digest"], &all["points"]));
    assert_eq!(names(&parts), names(&whole));
}

/// The same seeds and settings, by `lab run`.
#[test]
fn a_part_has_the_lines_of_lab_run() {
    let (parts, files) = (Folder::new("sweep-part"), Folder::new("sweep-run"));
    let args = ["--seeds", "1", "--interval", "1s", "--out"];
    let grid = ["sweep", "dumbbell", "--over", "n_tcp=3", "--set", "duration_s=5", "--set", "warmup_s=4"];
    let object = last(&lab(&[&grid[..], &args, &[parts.path(), "--json"]].concat()));
    let same = ["run", "dumbbell", "--set", "n_tcp=3", "--set", "duration_s=5", "--set", "warmup_s=4"];
    let stdout = lab(&[&same[..], &args, &[files.path(), "--json"]].concat());
    let names = names(&parts);
    let part = parts.read(names.first().filter(|_| names.len() == 1).expect("one part"));
    let of = |kind: &str| -> Vec<Value> {
        let lines = part.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter_map(|line| line.get(kind).cloned()).collect()
    };
    for (kind, file) in [
        ("summary", "summary.jsonl"),
        ("flow", "flows.jsonl"),
        ("interval", "intervals-geneva-1.jsonl"),
        ("hop", "hops-geneva-1.jsonl"),
    ] {
        let lines = files.read(file);
        let expected: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(!expected.is_empty() && of(kind) == expected, "{kind}");
    }
    assert_eq!(object["points"][0]["means"]["tcp_goodput_mbps"], last(&stdout)["tcp_goodput_mbps"]);
}

fn start(folder: &Folder, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let command = command.arg("lab").args(GRID).arg(folder.path()).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

#[test]
fn a_killed_sweep_continues_with_the_runs_that_are_not_there() {
    let (whole, killed) = (Folder::new("sweep-unhurt"), Folder::new("sweep-killed"));
    let expected = swept(&whole, &[])["digest"].clone();
    // Each time a little later.
    for parts in [0, 1, 3, 6] {
        let mut child = start(&killed, &["--jobs", "2"]);
        let complete = || names(&killed).iter().filter(|name| name.ends_with(".jsonl")).count();
        wait_until("parts", || killed.0.exists() && complete() >= parts);
        child.kill().expect("a child");
        child.wait().expect("a child");
    }
    let there = names(&killed).iter().filter(|name| name.ends_with(".jsonl")).count();
    let rest = swept(&killed, &[]);
    assert_eq!((&rest["before"], &rest["performed"]), (&there.into(), &(12 - there).into()));
    assert_eq!(rest["digest"], expected);
    assert_eq!(names(&killed), names(&whole), "nothing of the killed processes is left");
}

#[test]
fn an_interrupted_sweep_keeps_its_runs_and_a_damaged_part_is_run_again() {
    let folder = Folder::new("sweep-stopped");
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    child.args(["lab", "sweep", "md1", "--over", "load=0.5,0.8", "--seeds", "5000", "--out", folder.path()]);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    wait_until("parts", || folder.0.exists() && names(&folder).len() > 3);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().expect("an end");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{stderr}");
    assert!(stderr.contains("interrupted by SIGINT: ") && stderr.contains("of 10000 runs"), "{stderr}");

    let folder = Folder::new("sweep-damaged");
    let expected = swept(&folder, &[]);
    let damaged = folder.0.join(names(&folder).first().expect("a part"));
    let text = fs::read_to_string(&damaged).expect("a part");
    fs::write(&damaged, &text[..text.len() - 40]).expect("space");
    let again = swept(&folder, &[]);
    assert_eq!((&again["performed"], &again["digest"]), (&1.into(), &expected["digest"]));
}

#[test]
fn the_table_has_a_row_for_each_point() {
    let folder = Folder::new("sweep-table");
    let grid = ["sweep", "md1", "--over", "load=0.5,0.8", "--set", "duration_s=5", "--seeds", "2", "--out"];
    let stdout = lab(&[&grid[..], &[folder.path()]].concat());
    assert!(stdout.starts_with("4 runs performed, 0 were there; "), "{stdout}");
    for row in ["load=0.5 ", "load=0.8 "] {
        assert!(stdout.lines().any(|line| line.starts_with(row)), "{row}: {stdout}");
    }
    let half = ["--shard", "1/2"];
    let stdout = lab(&[&grid[..], &[folder.path()], &half].concat());
    assert!(stdout.starts_with("0 runs performed, 2 were there; "), "{stdout}");
}

#[test]
fn usage_errors_of_a_sweep_are_one_line() {
    for (args, code, expected) in [
        (&["md1"][..], 2, "--over"),
        (&["md1", "--over", "load=0.5,0.5"], 2, "load: '0.5' is given twice"),
        (&["md1", "--over", "load=0.5", "--over", "load=0.8"], 2, "'load' is given twice"),
        (&["md1", "--over", "load=0.5", "--set", "load=0.8"], 2, "load = '0.8' is varied as well; leave it out"),
        (&["md1", "--over", "speed=1,2"], 2, "unknown parameter 'speed', expected one of"),
        (&["md1", "--over", "load=0.5,x"], 2, "load = 'x', expected a number"),
        (&["md1", "--over", "load=0.5", "--shard", "3/2"], 2, "expected K/N"),
        (&["md1", "--over", "load=0.5", "--interval", "1us"], 2, "an interval must be at least 1ms"),
        (&["no-such", "--over", "load=0.5"], 1, "'no-such' is neither a file nor a built-in scenario"),
        (&["md1", "--over", "load=0.5"], 1, "cannot write /dev/null/x: "),
    ] {
        let args = [&["lab", "sweep"], args, &["--out", "/dev/null/x"]].concat();
        let (actual, stdout, stderr) = run(&args);
        assert_eq!((actual, stdout.as_str()), (code, ""), "{args:?}: {stderr}");
        assert!(stderr.starts_with("thalweg: ") && stderr.contains(expected), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

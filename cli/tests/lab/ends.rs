//! How runs end that do not come to their own end: a full disk, Ctrl-C, readers that have had enough.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{run, signal, wait_until};
use crate::{Folder, last, rows};

/// Far more runs than any test waits for.
const ENDLESS: &str = "lab run md1 --seeds 100000 --jobs 2 --json --set duration_s=2";

fn start(args: &str, more: &[&str], stdout: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let command = command.args(args.split(' ')).args(more).stdout(stdout).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// Exit code, standard output and standard error of one that ends.
fn end(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The end of one that ends by itself.
fn soon(mut child: Child) -> (Option<i32>, String, String) {
    wait_until("end", || child.try_wait().expect("a child").is_some());
    end(child)
}

#[test]
fn a_full_disk_is_said_at_once() {
    let folder = Folder::new("full");
    fs::create_dir(&folder.0).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", folder.0.join("summary.csv")).expect("a link");
    let (code, stdout, stderr) = run(&["lab", "run", "md1", "--out", folder.path()]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("summary.csv: no space left on device"), "{stderr}");
    let full = File::options().write(true).open("/dev/full").expect("a device");
    let (code, _, stderr) = soon(start(ENDLESS, &[], full.into()));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.ends_with("cannot write standard output: no space left on device\n"), "{stderr}");
}

#[test]
fn each_seed_is_told_of_as_it_ends_in_the_order_of_seeds() {
    let mut child = start(ENDLESS, &[], Stdio::piped());
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    for seed in 1..=5 {
        let line: Value = serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON");
        assert_eq!((&line["seed"], line["sim_s"].as_f64()), (&seed.into(), Some(2.0)), "{line}");
    }
    // Whoever reads has had enough: that is no failure, and nothing is left to run for.
    drop(lines);
    let (code, _, stderr) = soon(child);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn files_are_wanted_by_more_than_who_reads_the_lines() {
    let folder = Folder::new("unread");
    let args = "lab compare dumbbell --schemes udp,none --seeds 3 --json --set duration_s=5 --set warmup_s=4 --set n_tcp=3 --out";
    let mut child = start(args, &[folder.path()], Stdio::piped());
    drop(child.stdout.take());
    let (code, _, stderr) = soon(child);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(rows(&folder.read("summary.csv")).len(), 6);
}

#[test]
fn an_interrupted_campaign_keeps_what_is_over() {
    let folder = Folder::new("interrupted");
    let child = start(ENDLESS, &["--out", folder.path()], Stdio::piped());
    // The first runs are in the file, and the last is far away.
    let kept = || fs::read_to_string(folder.0.join("summary.csv")).map_or(0, |text| text.lines().count());
    wait_until("runs that are over", || kept() > 3);
    signal(&child, Signal::INT);
    let (code, stdout, stderr) = end(child);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("interrupted by SIGINT: ") && stderr.contains("of 100000 runs"), "{stderr}");
    let object = last(&stdout);
    let seeds = object["seeds"].as_array().expect("seeds").len();
    assert!(seeds >= 3 && seeds == rows(&folder.read("summary.csv")).len(), "{seeds}");
    assert_eq!(stdout.lines().count(), seeds + 1, "a line for each, and the means");
}

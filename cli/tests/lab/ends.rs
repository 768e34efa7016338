//! Runs that do not reach their own end: a full disk, Ctrl-C, readers that close the pipe.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{run, signal, wait_until};
use crate::lab::{Folder, last, rows};

/// Far more runs than any test waits for.
const ENDLESS: &str = "lab run md1 --seeds 100000 --jobs 2 --json --set duration_s=2";

fn start(args: &str, more: &[&str], stdout: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let command = command.args(args.split(' ')).args(more).stdout(stdout).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// Exit code, standard output and standard error of a process, at its end.
fn end(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The same of a process that must end by itself.
fn end_in_time(mut child: Child) -> (Option<i32>, String, String) {
    wait_until("end", || child.try_wait().expect("a child").is_some());
    end(child)
}

#[test]
fn full_disk_is_reported_immediately() {
    let folder = Folder::new("full");
    fs::create_dir(&folder.0).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", folder.0.join("summary.csv")).expect("a link");
    let (code, stdout, stderr) = run(&["lab", "run", "md1", "--out", folder.path()]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("summary.csv: no space left on device"), "{stderr}");
    let full = File::options().write(true).open("/dev/full").expect("a device");
    let (code, _, stderr) = end_in_time(start(ENDLESS, &[], full.into()));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.ends_with("cannot write standard output: no space left on device\n"), "{stderr}");
}

#[test]
fn results_are_printed_as_seeds_finish_in_order_of_seeds() {
    let mut child = start(ENDLESS, &[], Stdio::piped());
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    for seed in 1..=5 {
        let line: Value = serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON");
        assert_eq!((&line["seed"], line["sim_s"].as_f64()), (&seed.into(), Some(2.0)), "{line}");
    }
    // The reader closes the pipe: that is no failure, and no output is left to run for.
    drop(lines);
    let (code, _, stderr) = end_in_time(child);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn files_are_written_after_standard_output_is_closed() {
    let folder = Folder::new("unread");
    let args = "lab compare dumbbell --schemes udp,none --seeds 3 --json --set duration_s=5 --set warmup_s=4 --set n_tcp=3 --out";
    let mut child = start(args, &[folder.path()], Stdio::piped());
    drop(child.stdout.take());
    let (code, _, stderr) = end_in_time(child);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(rows(&folder.read("summary.csv")).len(), 6);
}

#[test]
fn interrupted_campaign_keeps_finished_runs() {
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

/// A folder with a page and a text of an earlier evaluation, and the options that name them.
fn pages(name: &str) -> (Folder, [String; 6]) {
    let folder = Folder::new(name);
    fs::create_dir(&folder.0).expect("a folder");
    let path = |file: &str| folder.0.join(file).to_str().expect("UTF-8").to_owned();
    for file in ["page.html", "page.md"] {
        fs::write(path(file), "of an earlier evaluation").expect("room");
    }
    let options = ["--out", &path("page.html"), "--docs", &path("page.md"), "--keep", &path("kept")].map(str::to_owned);
    (folder, options)
}

#[test]
fn unwritable_page_is_reported_before_any_run() {
    let (folder, options) = pages("no-room");
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" lab reproduce fec-arq \"$@\"";
    let mut command = Command::new("sh");
    let command = command.args(["-c", limited, env!("CARGO_BIN_EXE_thalweg")]).args(options);
    let (code, _, stderr) =
        end_in_time(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell"));
    assert_eq!(code, Some(1));
    assert!(stderr.ends_with("page-provisional.html: file too large\n"), "{stderr}");
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 2, "nothing is left");
    assert_eq!(folder.read("page.html"), "of an earlier evaluation");
}

#[test]
fn interrupted_evaluation_is_marked_and_replaces_no_page() {
    let (folder, options) = pages("page");
    let options = options.each_ref().map(String::as_str);
    let child = start("lab reproduce fec-arq --jobs 1", &options, Stdio::piped());
    wait_until("a record", || fs::read_dir(folder.0.join("kept")).is_ok_and(|files| files.count() > 0));
    let meanwhile = folder.read("page-provisional.md");
    assert!(meanwhile.contains("This page is provisional"), "{}", meanwhile.trim_end());
    wait_until("a record", || folder.0.join("kept/0.toml").exists());
    signal(&child, Signal::INT);
    let (code, stdout, stderr) = end(child);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("page-interrupted.html after "), "{stdout}");
    let why = stderr.trim_end().strip_prefix("thalweg: lab: ").expect("why");
    assert!(why.starts_with("interrupted by SIGINT: ") && why.contains(" runs were completed"), "{why}");
    for ending in ["html", "md"] {
        assert_eq!(folder.read(&format!("page.{ending}")), "of an earlier evaluation");
        assert!(!folder.0.join(format!("page-provisional.{ending}")).exists());
        let page = folder.read(&format!("page-interrupted.{ending}"));
        let body = page.split_once("<h1>").map_or(page.as_str(), |(_, body)| body);
        let first = body.lines().take(3).collect::<Vec<_>>().join(" ");
        assert!(first.contains(", interrupted") && first.contains(&format!("This evaluation was {why}.")), "{first}");
    }
}

//! The measured part of ./demo, short: every number it promises is there, and the report is.

mod common;

use std::path::PathBuf;

use common::run;

#[test]
fn a_short_demo_knows_every_number_and_writes_its_report() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let place = |path: &str| root.join(path).display().to_string();
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("demo");
    let (input, scenario) = (place("assets/clip.ts"), place("scenarios/demo.toml"));
    let args = ["demo", "--seconds", "2", "--scheme", "geneva", "--input", &input, "--scenario", &scenario];
    let (code, stdout, stderr) = run(&[&args[..], &["--out", &out.display().to_string()]].concat());
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    // A metric whose name has changed would be unknown.
    assert!(stdout.contains("With GENEVA") && !stdout.contains("unknown"), "{stdout}");
    let report = std::fs::read_to_string(out.join("demo.html")).expect("the report was written");
    for drawn in ["Repair window", "W, the whole window", "Loss, second by second", "Rate on the wire", "Latency"] {
        assert!(report.contains(drawn), "{drawn}");
    }
}

#[test]
fn a_film_that_cannot_be_played_is_named_at_once() {
    let (code, stdout, stderr) = run(&["demo", "--input", "no/such.ts"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{stderr}");
    assert!(stderr.contains("no/such.ts: no such file or directory\n"), "{stderr}");
    let (code, stdout, stderr) = run(&["demo", "--scheme", "geneva,foo"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1), "{stderr}");
    assert!(stderr.contains("none, static:N or geneva"), "{stderr}");
}

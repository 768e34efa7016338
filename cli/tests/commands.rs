//! `./demo` as a script: what it hands on.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that does what `lines` say.
fn program(path: &Path, lines: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, format!("#!/bin/sh\n{lines}\n")).expect("a program");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("it may run");
}

#[test]
fn files_that_a_caller_names_are_those_of_the_callers_folder() {
    let stage = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("commands");
    // A compiler that has nothing to do, and a binary that says what it was asked for.
    program(&stage.join("bin/cargo"), "exit 0");
    program(&stage.join("bin/cc"), "exit 0");
    program(&stage.join("target/release/thalweg"), "pwd; for word; do echo \"$word\"; done");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    let path = format!("{}:{}", stage.join("bin").display(), std::env::var("PATH").expect("a PATH"));
    let demo = |args: &[&str]| {
        let mut command = Command::new(root.join("demo"));
        command.args(args).current_dir(&stage).env("PATH", &path).env("CARGO_TARGET_DIR", stage.join("target"));
        let output = command.output().expect("bash");
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).expect("text");
        let (built, rest) = said.split_once('\n').expect("how long the build took");
        assert!(built.starts_with("built in "), "{built}");
        rest.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (root, stage) = (root.display().to_string(), stage.display());
    // What is left out is the repository's own.
    assert_eq!(demo(&[]), [&*root, "demo"]);
    assert_eq!(
        demo(&["--input", "a film.ts", "--scenario=link.toml", "--seconds", "3", "--out", "/tmp/out"]),
        [
            &*root,
            "demo",
            "--input",
            &*format!("{stage}/a film.ts"),
            &*format!("--scenario={stage}/link.toml"),
            "--seconds",
            "3",
            "--out",
            "/tmp/out",
        ]
    );
    assert_eq!(demo(&["--input"]), [&*root, "demo", "--input"]);
}

//! `./demo` as a script: the arguments that it passes on.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An executable shell script of these lines.
fn program(path: &Path, lines: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, format!("#!/bin/sh\n{lines}\n")).expect("a program");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("it may run");
}

#[test]
fn demo_script_resolves_paths_in_the_callers_folder() {
    let stage = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("commands");
    // A compiler that has nothing to do, and a binary that prints its folder and its arguments.
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
    // Without arguments the defaults are the repository's own.
    assert_eq!(demo(&[]), [&*root, "demo"]);
    assert_eq!(
        demo(&["--input", "a video.ts", "--scenario=link.toml", "--seconds", "3", "--out", "/tmp/out"]),
        [
            &*root,
            "demo",
            "--input",
            &*format!("{stage}/a video.ts"),
            &*format!("--scenario={stage}/link.toml"),
            "--seconds",
            "3",
            "--out",
            "/tmp/out",
        ]
    );
    assert_eq!(demo(&["--input"]), [&*root, "demo", "--input"]);
}

//! `thalweg doctor` as a process: its output is for people or for programs, and never a failure.

use std::process::Command;

use serde_json::Value;

#[test]
fn json_has_a_grade_and_a_reason_for_every_check() {
    let output = Command::new(env!("CARGO_BIN_EXE_thalweg")).args(["doctor", "--json"]).output().expect("it starts");
    assert!(output.status.success() && output.stderr.is_empty());
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let checks = report["checks"].as_array().expect("a list of checks");
    let names: Vec<&str> = checks.iter().filter_map(|check| check["name"].as_str()).collect();
    for name in [
        "kernel",
        "gso",
        "gro",
        "receive_buffer",
        "send_buffer",
        "timer",
        "clock",
        "repair",
        "ipv6",
        "multicast",
        "tcp_stream",
    ] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    for check in checks {
        let grade = check["grade"].as_str().expect("a grade");
        assert!(["good", "poor", "unknown"].contains(&grade), "{check}");
        assert!(grade == "unknown" || check["meaning"].as_str().is_some_and(|text| !text.is_empty()), "{check}");
    }
}

#[test]
fn text_has_no_color_in_a_pipe_and_a_command_for_each_poor_check() {
    let doctor = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_thalweg")).arg("doctor").args(args).output().expect("it starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let (text, report) = (doctor(&[]), doctor(&["--json"]));
    assert!(text.contains("receive buffer") && !text.contains('\x1b'), "{text}");
    let report: Value = serde_json::from_str(&report).expect("one JSON object");
    let checks = report["checks"].as_array().expect("a list of checks");
    let fixes = checks.iter().flat_map(|check| check["fix"].as_array().expect("a list of commands"));
    let settings: Vec<&str> =
        fixes.filter_map(|fix| fix.as_str().expect("a command").strip_prefix("sudo sysctl -w ")).collect();
    for setting in &settings {
        assert!(text.contains(&format!("  sudo sysctl -w {setting}\n")), "{setting}: {text}");
        assert!(text.contains(&format!("'{setting}'")), "{setting} is not kept over a restart: {text}");
    }
    let buffers = checks.iter().filter(|check| check["name"].as_str().expect("a name").ends_with("_buffer"));
    let poor = buffers.filter(|check| check["grade"] == "poor").count();
    assert!(settings.len() >= poor, "{poor} buffers are poor: {text}");
    assert_eq!(text.contains("60-thalweg.conf"), !settings.is_empty(), "{text}");
}

#[test]
fn missing_kernel_feature_is_built_before_it_is_loaded() {
    let output = Command::new(env!("CARGO_BIN_EXE_thalweg")).args(["doctor", "--json"]).output().expect("it starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let checks = report["checks"].as_array().expect("a list of checks");
    let kernel_check = checks.iter().find(|check| check["name"] == "tcp_stream").expect("a check");
    let fixes: Vec<&str> = kernel_check["fix"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    // There are no fixes where the law is loaded, or cannot be loaded.
    assert!(fixes.is_empty() || fixes.last() == Some(&"sudo $(command -v thalweg) kernel load"), "{fixes:?}");
    let is_built = fixes.iter().any(|fix| fix.starts_with("cargo install --locked --path cli --features kernel"));
    assert_eq!(is_built, !fixes.is_empty() && !cfg!(feature = "kernel"), "{fixes:?}");
}

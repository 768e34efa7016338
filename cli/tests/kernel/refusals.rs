//! Refusals by the kernel, each reported in one line.

use std::process::Command;

use crate::cable::Yard;
use crate::common::{Running, run};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/gilbert.toml");

#[test]
fn a_name_that_is_taken_is_refused() {
    let Some(_yard) = Yard::enter() else { return };
    let pid = std::process::id();
    let (near, far, third) = (format!("a{pid}"), format!("b{pid}"), format!("c{pid}"));
    let first = Running::start(&["emulate", PATH, "--tun", &near, "--tun-to", &far]);
    first.event("listening");
    let cases = [
        (near.as_str(), format!("thalweg: emulate: TUN device {near}: in use by another program\n")),
        ("lo", "thalweg: emulate: TUN device lo: the device of this name is not a TUN device\n".into()),
    ];
    for (taken, message) in cases {
        let (code, _, text) = run(&["emulate", PATH, "--tun", taken, "--tun-to", &third]);
        assert_eq!((code, text), (1, message));
    }
}

#[test]
fn a_device_that_is_deleted_ends_the_emulator() {
    let Some(_yard) = Yard::enter() else { return };
    let pid = std::process::id();
    let (near, far) = (format!("d{pid}"), format!("e{pid}"));
    let mut emulator = Running::start(&["emulate", PATH, "--tun", &near, "--tun-to", &far]);
    emulator.event("listening");
    let deleted = Command::new("ip").args(["link", "delete", &far]).status().expect("iproute2");
    assert!(deleted.success());
    assert_eq!(emulator.end().code(), Some(1));
    assert_eq!(emulator.last_line(), format!("thalweg: emulate: TUN device {far}: the device was deleted"));
}

//! The kernel's own TCP through `thalweg emulate --tun`: two network namespaces, and a cable between them.
//!
//! The tests need root and /dev/net/tun, take real time, and run with `THALWEG_TEST_ALL=1` only. Those of TCP Stream in
//! the kernel also need the feature `kernel`, those of encoders `gstreamer`.

#[path = "../common/mod.rs"]
mod common;

mod browser;
mod bulk;
mod cable;
#[cfg(feature = "kernel")]
mod control;
mod dumbbell;
#[cfg(feature = "gstreamer")]
mod gca;
mod goodput;
#[cfg(feature = "kernel")]
mod nginx;
mod r3cp;
#[cfg(feature = "kernel")]
mod real;
mod refusals;
#[cfg(feature = "kernel")]
mod video;
#[cfg(feature = "kernel")]
mod video_beside;
#[cfg(feature = "kernel")]
mod video_default;
#[cfg(feature = "kernel")]
mod video_killed;
#[cfg(feature = "kernel")]
mod video_phases;
#[cfg(feature = "kernel")]
mod videos;
mod viewer;
mod wifi;

#[cfg(not(feature = "kernel"))]
#[test]
fn video_in_the_kernel() {
    println!("skipped: --features kernel builds it");
    let (code, _, line) = common::run(&["lab", "reproduce", "tcp-stream", "--real", "--out", "/dev/null"]);
    assert_eq!((code, line.lines().count()), (1, 1), "{line}");
    let (code, out, line) = common::run(&["kernel", "load"]);
    assert_eq!((code, out.as_str(), line.lines().count()), (1, "", 1));
    assert!(line.contains("apt-get install clang") && line.contains("--features kernel"), "{line}");
}

//! One stream for an hour of virtual time, alone in its process: its memory must not grow. Without THALWEG_TEST_ALL=1,
//! six minutes.

#[expect(dead_code, reason = "the stories need more of it")]
#[path = "../live"]
mod live {
    pub(crate) mod keys;
    pub(crate) mod props;
    pub(crate) mod story;
    pub(crate) mod tap;
}

use std::fs;

use live::props::{bursty, ms, receiver_config, sender_config, wire};
use live::story::Story;
use thalweg_core::units::{Bytes, Rate};

/// The maximum memory of one stream: both endpoints, and here the path between them, too.
const MOST: Bytes = Bytes(30 << 20);
/// The growth of a heap that its use alone may cause.
const NOISE: Bytes = Bytes(1 << 20);

/// The resident size of this process; none if the system does not report it.
fn resident() -> Option<Bytes> {
    let pages: u64 = fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()?;
    Some(Bytes(pages * 4096))
}

#[test]
fn memory_is_flat() {
    let minutes = if std::env::var_os("THALWEG_TEST_ALL").is_some() { 60 } else { 6 };
    let settled = 3;
    let mut story = Story::new(sender_config(), receiver_config(), bursty(ms(20), 1), wire(ms(20)));
    story.notes = false;
    story.until(500).play(Rate::from_mbps(30));
    let mut sizes = Vec::new();
    for minute in 1..=minutes {
        story.until(minute * 60_000);
        let Some(size) = resident() else {
            println!("skipped: this system has no /proc/self/statm");
            return;
        };
        sizes.push(size);
    }
    println!(
        "{} KiB after {settled} minutes, {} KiB after {minutes}",
        sizes[settled - 1].0 >> 10,
        sizes[sizes.len() - 1].0 >> 10
    );
    let late = sizes[settled..].iter().max().expect("more than three minutes");
    assert!(*late <= MOST, "{late:?}");
    assert!(late.0 <= sizes[settled - 1].0 + NOISE.0, "{sizes:?}");
    assert_eq!(story.receiver_metrics()["late_packets_total"], 0.0);
}

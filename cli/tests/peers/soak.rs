//! A minute at 30 Mb/s over a path that loses, reorders and duplicates: memory must not grow from its start to its end.

use std::time::Duration;

use serde_json::Value;

use crate::common::Running;
use crate::peers::stage::Stage;

const HARSH: &str = r#"
seed = 1
forward.element = [
    { kind = "gilbert_elliott", p = 0.005, r = 0.5, loss_bad = 1.0 },
    { kind = "duplicate", share = 0.01 },
    { kind = "wire", delay = "10ms" },
    { kind = "reorder", share = 0.05, by = "3ms" },
]
reverse.element = [{ kind = "wire", delay = "10ms" }]
"#;

/// The project's own clip, of 30 Mb/s.
const CLIP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/clip.ts");
/// The most memory that one stream may hold, in kilobytes.
const MOST: u64 = 30_000;
/// The most memory that a process may gain in 38 s, or 108 000 packets: forty bytes a packet. A machine that stalls for
/// a second makes it hold 3.75 MB more.
const GAIN: u64 = 4_000;

#[test]
fn memory_does_not_grow_over_a_minute_at_30_mbps() {
    let Some(stage) = Stage::enter(&[]) else { return };
    let mut recv = Running::start(&[
        "recv",
        "--listen",
        "127.0.0.1:0",
        "--latency",
        "500ms",
        "--output",
        "file:/dev/null",
        "--once",
    ]);
    let to = recv.address("listening", "address");
    let path = Running::start(&["emulate", &stage.write("harsh.toml", HARSH), "--listen", "127.0.0.1:0", "--to", &to]);
    let to = path.address("listening", "address");
    let input = format!("file:{CLIP}");
    let mut send = Running::start(&["send", "--input", &input, "--loop", "--to", &to, "--latency", "500ms"]);
    send.event("connected");

    let memory = || [resident(&send), resident(&recv)];
    std::thread::sleep(Duration::from_secs(20));
    let early = memory();
    std::thread::sleep(Duration::from_secs(38));
    let late = memory();
    println!("sender and receiver, kB resident: {early:?} after 20 s, {late:?} after 58 s");
    for (early, late) in early.into_iter().zip(late) {
        assert!(late < MOST && late < early + GAIN, "{early} kB have become {late}");
    }

    send.interrupt();
    let sent = last_figures(&send);
    let got = last_figures(&recv);
    send.succeeds();
    recv.succeeds();
    let count = |figures: &Value, name: &str| figures[name].as_u64().unwrap_or_else(|| panic!("{name}: {figures}"));
    // Every packet was delivered or given up; packets lost at the very end are in neither count.
    let known = count(&got, "media_packets_total") + count(&got, "residual_lost_packets_total");
    let left = count(&sent, "media_packets_total");
    assert!(known <= left && left - known < 100, "{left} were sent, {known} are known");
    assert!(count(&got, "duplicate_packets_total") > left / 200, "{got}");
    // A busy machine makes some late, but repair has recovered most of the packets that the path lost.
    let (lost, residual) = (count(&got, "lost_packets_total"), count(&got, "residual_lost_packets_total"));
    assert!(lost > left / 200 && residual < lost / 2, "{got}");
}

fn last_figures(stream: &Running) -> Value {
    stream.event("ended");
    stream.wait_for("its last figures", |value| value["event"].is_null())
}

/// Resident memory in kilobytes (proc_pid_status(5)).
fn resident(running: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the kernel tells");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

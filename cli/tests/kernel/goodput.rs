//! What the kernel's TCP gets out of a path whose capacity is known.

use std::time::Duration;

use crate::bulk::Bulk;
use crate::cable::Yard;

/// A bottleneck with a drop-tail queue, and the round trip around it.
struct Dumbbell {
    mbit: u32,
    rtt_ms: u32,
    /// Packets that wait in the queue.
    queue: u32,
    /// Share of packets lost at random in front of it.
    loss: f64,
}

impl Dumbbell {
    fn scenario(&self) -> String {
        let Dumbbell { mbit, queue, loss, .. } = self;
        let one_way = self.rtt_ms * 500;
        format!(
            r#"seed = 1
[forward]
[[forward.element]]
kind = "loss"
rate = {loss:?}
[[forward.element]]
kind = "drop_tail"
rate = "{mbit}mbit"
queue = {queue}
[[forward.element]]
kind = "wire"
delay = "{one_way}us"
[reverse]
[[reverse.element]]
kind = "wire"
delay = "{one_way}us"
"#
        )
    }
}

/// Of 1500 bytes on the link 1460 are TCP's payload.
const PAYLOAD: f64 = 1460.0 / 1500.0;

#[test]
fn one_cubic_flow_fills_most_of_an_empty_link_and_no_more_than_it_has() {
    let Some(yard) = Yard::enter() else { return };
    let dumbbell = Dumbbell { mbit: 20, rtt_ms: 20, queue: 50, loss: 0.0 };
    let cable = yard.lay(&dumbbell.scenario());
    let bulk = Bulk { flows: 1, control: "cubic", warm_up: Duration::from_secs(3), measured: Duration::from_secs(5) };
    let goodput: f64 = bulk.run(&cable).iter().sum();
    let end = cable.end();
    println!("one cubic flow, 20 Mb/s, RTT 20 ms: {:.2} Mb/s", goodput / 1e6);
    let capacity = 20e6 * PAYLOAD;
    // The measured seconds may begin behind a hole that is filled a moment later: a queue and a window at most.
    assert!(goodput <= capacity * 1.02, "{goodput}");
    assert!(goodput > capacity * 0.8, "{goodput}");
    let lost = &end["forward"]["elements"]["drop_tail"]["lost_packets_total"];
    assert!(lost.as_u64() > Some(0), "nothing else ends slow start: {end}");
    assert_eq!(end["reverse"]["refused_packets_total"], 0);
}

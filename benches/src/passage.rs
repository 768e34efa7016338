//! Losses of an emulated path: the counted ones, and those that follow from its seed.

use std::fs;
use std::path::Path;

use serde_json::Value;
use thalweg_core::time::{Span, Time};
use thalweg_lab::node::Node;
use thalweg_lab::packet::Packet;
use thalweg_lab::scenario::Scenario;

/// The counters of `thalweg emulate --json` for the direction from sender to receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The number of packets that arrived at the path.
    pub received: u64,
    /// The number of them that the path's elements lost.
    pub lost: u64,
    /// The number of packets, in both directions, that the emulator itself refused for lack of capacity.
    pub refused: u64,
}

impl Passage {
    /// Parses the last counters in a file of the emulator's output.
    pub fn read(file: &Path) -> Result<Passage, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let rows = text.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
        rows.filter_map(|row: Value| Passage::of(&row)).next().ok_or_else(|| format!("no counters in: {text}"))
    }

    fn of(row: &Value) -> Option<Passage> {
        let number = |pointer: &str| row.pointer(pointer)?.as_u64();
        let elements = row.pointer("/forward/elements")?.as_object()?;
        Some(Passage {
            received: number("/forward/received_packets_total")?,
            lost: elements.values().filter_map(|element| element.get("lost_packets_total")?.as_u64()).sum(),
            refused: number("/forward/refused_packets_total")? + number("/reverse/refused_packets_total")?,
        })
    }
}

/// The number of the first `packets` that a path without queues loses. Whether it loses the n-th packet depends on the
/// seed only, neither on the packet's flow nor on its arrival time.
pub fn losses(scenario: &Path, seed: u64, packets: u64) -> Result<u64, String> {
    Ok(running_losses(scenario, seed)?.take(packets as usize).last().unwrap_or(0))
}

/// The number of packets up to and including the first one that a path without queues loses; `None` if it loses none of
/// the first hundred thousand.
pub fn first_loss(scenario: &Path, seed: u64) -> Result<Option<u64>, String> {
    let mut losses = running_losses(scenario, seed)?.take(100_000);
    Ok(losses.position(|lost| lost > 0).map(|nth| nth as u64 + 1))
}

/// The number of lost packets after each packet.
fn running_losses(scenario: &Path, seed: u64) -> Result<impl Iterator<Item = u64>, String> {
    let mut path = Scenario::open(scenario, Some(seed)).map_err(|error| error.to_string())?.forward;
    Ok((0..).map(move |nth| {
        let now = Time::ZERO + Span::from_millis(nth);
        path.accept(now, Packet::datagram(0, Vec::new()));
        while path.poll(now).is_some() {}
        path.accounts().map(|account| account.tally.dropped.of_ends).sum()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrap::Scrap;

    #[test]
    fn the_last_counters_are_read_and_what_is_no_row_is_passed_over() {
        let row = |received: u64| {
            format!(
                "{{\"t\":1.0,\"forward\":{{\"received_packets_total\":{received},\"refused_packets_total\":1,\
                 \"elements\":{{\"a\":{{\"lost_packets_total\":4}},\"b\":{{\"lost_packets_total\":3}}}}}},\
                 \"reverse\":{{\"refused_packets_total\":2}}}}\n"
            )
        };
        let text = format!("{{\"event\":\"listening\"}}\n{}{}half a li", row(10), row(20));
        let file = Scrap::write(&text).expect("a file");
        assert_eq!(Passage::read(file.path()), Ok(Passage { received: 20, lost: 7, refused: 3 }));
    }

    #[test]
    fn channel_that_loses_everything_or_nothing_has_that_probability() {
        for (rate, lost, first) in [("1.0", 50, Some(1)), ("0.0", 0, None)] {
            let text = format!("seed = 1\nforward.element = [{{ kind = \"loss\", rate = {rate} }}]\nreverse = {{}}\n");
            let file = Scrap::write(&text).expect("a file");
            assert_eq!(losses(file.path(), 3, 50), Ok(lost));
            assert_eq!(first_loss(file.path(), 3), Ok(first));
        }
    }
}

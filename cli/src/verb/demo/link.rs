//! Packets that the link received and lost, as counted by the relay that emulates it.

use serde_json::Value;
use thalweg_core::time::{Span, Time};

use super::series::Series;

/// The shortest interval at either end of the video; a shorter one joins its neighbor.
const SHORTEST: Span = Span::from_millis(500);

/// The relay's counters over time.
#[derive(Clone, Default, Debug)]
pub(super) struct Link {
    counts: Vec<Count>,
    /// Packets of both directions that the relay refused because it was full.
    pub(super) refused: u64,
}

/// Packets that the link had received by a moment, and those of them that it had lost.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Count {
    at: Time,
    received: u64,
    lost: u64,
}

impl Link {
    /// Reads the rows that the relay has reported.
    pub(super) fn of(relay: &Series) -> Link {
        // Rows carry the relay's time, which a busy machine does not delay. The minimum delay is the offset of the
        // clocks.
        let start = relay.rows().filter_map(|(at, row)| Some(at - relay_time(row)?)).min().unwrap_or_default();
        let counts = relay.rows().filter_map(|(_, row)| Count::of(start + relay_time(row)?, row)).collect();
        let refused = |direction| relay.rows().filter_map(move |(_, row)| number(row, direction)).last().unwrap_or(0);
        let refused = ["/forward/refused_packets_total", "/reverse/refused_packets_total"].map(refused).iter().sum();
        Link { counts, refused }
    }

    /// Packets lost in the forward direction so far.
    pub(super) fn lost(&self) -> Option<u64> {
        self.counts.last().map(|count| count.lost)
    }

    /// The share of all packets that was lost in the forward direction.
    pub(super) fn loss(&self) -> Option<f64> {
        self.counts.last().and_then(|last| share(last.lost, last.received))
    }

    /// The share lost in each interval between `from` and `to`, with the interval's end; NaN where no packet was
    /// received. Intervals end at the relay's reports, about one a second.
    pub(super) fn losses(&self, from: Time, to: Time) -> Vec<(Time, f64)> {
        let (before, rest) = self.counts.split_at(self.counts.partition_point(|count| count.at <= from));
        let (within, after) = rest.split_at(rest.partition_point(|count| count.at < to));
        // Only hellos pass before the video and after it.
        let mut last = Count { at: from, ..before.last().copied().unwrap_or_default() };
        let end = after.first().or(within.last()).map(|count| Count { at: to, ..*count });
        let apart = |count: &&Count| count.at.since(from) >= SHORTEST && to.since(count.at) >= SHORTEST;
        let ends = within.iter().filter(apart).copied().chain(end);
        let loss = |count: Count| {
            let (lost, received) = (count.lost - last.lost, count.received - last.received);
            last = count;
            (count.at, share(lost, received).unwrap_or(f64::NAN))
        };
        ends.map(loss).collect()
    }
}

impl Count {
    fn of(at: Time, row: &Value) -> Option<Count> {
        let elements = row.pointer("/forward/elements")?.as_object()?;
        let lost = elements.values().filter_map(|element| number(element, "/lost_packets_total")).sum();
        Some(Count { at, received: number(row, "/forward/received_packets_total")?, lost })
    }
}

/// The moment of a row on the relay's own clock.
fn relay_time(row: &Value) -> Option<Span> {
    row.get("t")?.as_f64().map(Span::from_secs_f64)
}

fn number(row: &Value, pointer: &str) -> Option<u64> {
    row.pointer(pointer)?.as_u64()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn link(rows: &[(u64, u64, u64)]) -> Link {
        let mut series = Series::default();
        series.push(at(0), json!({ "t": 0.0, "side": "emulate", "event": "listening" }));
        for (nth, &(millis, received, lost)) in rows.iter().enumerate() {
            let elements = json!({
                "channel": { "lost_packets_total": lost, "lost_cross_packets_total": 1000 },
                "queue": { "lost_packets_total": 1 },
            });
            let forward =
                json!({ "received_packets_total": received, "refused_packets_total": 2, "elements": elements });
            // Some are read late.
            let late = [0, 70, 3][nth % 3];
            let t = millis as f64 / 1e3;
            series.push(
                at(millis + late),
                json!({ "t": t, "forward": forward, "reverse": { "refused_packets_total": 5 } }),
            );
        }
        Link::of(&series)
    }

    #[test]
    fn media_losses_are_counted_apart_from_cross_traffic_and_refusals() {
        let link = link(&[(1000, 100, 9), (2000, 400, 39)]);
        assert_eq!((link.lost(), link.loss(), link.refused), (Some(40), Some(0.1), 7));
        assert_eq!((Link::default().lost(), Link::default().loss()), (None, None));
    }

    #[test]
    fn intervals_end_at_reports_and_short_ones_join_their_neighbors() {
        // The video is from 1.2 s to 4.1 s.
        let rows = [(1000, 10, 0), (2000, 110, 10), (3000, 210, 10), (4000, 310, 60), (5000, 330, 80)];
        let losses = link(&rows).losses(at(1200), at(4100));
        assert_eq!(losses, [(at(2000), 10.0 / 100.0), (at(3000), 0.0), (at(4100), 70.0 / 120.0)]);
        assert!(link(&rows[..1]).losses(at(1200), at(4100)).is_empty());
    }
}

//! The record of a run.

use serde_json::Value;

/// A second of a viewer.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Second {
    /// The time since the viewer began, in seconds.
    pub(super) at: f64,
    /// Pictures that were displayed.
    pub(super) played: f64,
    /// The rate at which packets arrived, retransmissions excluded.
    pub(super) received_kbps: f64,
    /// The rate that was requested at its end.
    pub(super) requested_kbps: f64,
    /// Media time in the buffer.
    pub(super) buffer_s: f64,
}

/// The observations of one viewer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Watched {
    pub(super) seconds: Vec<Second>,
    /// The time from its begin to the first frame, in seconds; none if there was none.
    pub first: Option<f64>,
    /// The time from each key that seeks to the first frame after it, in seconds.
    pub seeks: Vec<f64>,
    /// The share of the pictures that were playable; of a player over TCP, of the playing time that was displayed.
    pub playback: f64,
    /// The seconds after the first frame in which nothing was displayed.
    pub still: f64,
    totals: [f64; 3],
}

/// The record of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Record {
    pub(super) viewers: Vec<Watched>,
    /// The rate of all CUBIC flows together, in kb/s.
    pub(super) flows_kbps: Option<f64>,
    /// The peak signal-to-noise ratio of the pictures, in dB.
    pub(super) psnr: Option<f64>,
}

impl Watched {
    /// The mean of the requested rate from the first frame on, in kb/s; NaN without a second after it.
    pub fn requested_kbps(&self) -> f64 {
        let begun = self.seconds.iter().filter(|second| self.first.is_some_and(|first| second.at > first));
        let (sum, count) = begun.fold((0.0, 0.0), |(sum, count), second| (sum + second.requested_kbps, count + 1.0));
        sum / count
    }

    /// The median of the time from a key to the first frame after it, in seconds; a key of `keys` without one counts as the
    /// longest.
    pub fn median_seek(&self, keys: usize) -> f64 {
        let mut seeks = self.seeks.clone();
        seeks.sort_by(f64::total_cmp);
        seeks.get(keys / 2).copied().unwrap_or(f64::INFINITY)
    }

    /// Takes a line of `play --json`.
    pub(super) fn take(&mut self, line: &Value) {
        let number = |name: &str| line[name].as_f64().unwrap_or(0.0);
        let at = number("t");
        match line["event"].as_str() {
            Some("started") if self.first.is_none() => self.first = Some(at),
            Some("started") => self.seeks.push(number("after_seconds")),
            Some(_) => {}
            None => {
                let of = |outcomes: &[&str]| -> f64 {
                    let names = ["i", "p", "b"].into_iter();
                    names
                        .flat_map(|kind| outcomes.iter().map(move |outcome| format!("{kind}_{outcome}_total")))
                        .map(|name| number(&name))
                        .sum()
                };
                let played = of(&["playable"]);
                let all = of(&["playable", "skipped", "broken", "late", "orphan"]);
                let packets = number("received_packets");
                let kbps = |rate: f64| rate * number("packet_bytes") * 8e-3;
                let [played_before, packets_before, at_before] = self.totals;
                let second = Second {
                    at,
                    played: played - played_before,
                    received_kbps: kbps((packets - packets_before) / (at - at_before).max(1e-3)),
                    requested_kbps: kbps(number("rho_packets_per_second")),
                    buffer_s: number("buffer_seconds"),
                };
                self.playback = if all > 0.0 { played / all } else { 0.0 };
                let is_still = second.played == 0.0 && self.first.is_some_and(|first| at > first + 1.0);
                self.still += f64::from(u8::from(is_still));
                self.seconds.push(second);
                self.totals = [played, packets, at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn seconds_are_differences_of_totals() {
        let mut watched = Watched::default();
        let line = |at: f64, played: u64, skipped: u64| {
            json!({"t": at, "p_playable_total": played, "b_skipped_total": skipped, "received_packets": 10 * played,
                "packet_bytes": 1_000, "rho_packets_per_second": played, "buffer_seconds": 0.5})
        };
        watched.take(&json!({"t": 0.5, "event": "started"}));
        for after in [0.9, 0.7] {
            watched.take(&json!({"t": 9, "event": "started", "after_seconds": after}));
        }
        assert_eq!([2, 3, 4].map(|keys| watched.median_seek(keys)), [0.9, 0.9, f64::INFINITY]);
        watched.take(&line(1.0, 10, 0));
        watched.take(&line(2.0, 30, 10));
        watched.take(&line(3.0, 30, 30));
        // Twenty pictures, in 200 packets of 8000 bits.
        let second = Second { at: 2.0, played: 20.0, received_kbps: 1_600.0, requested_kbps: 240.0, buffer_s: 0.5 };
        assert_eq!(watched.seconds[1], second);
        assert_eq!((watched.first, watched.playback, watched.still), (Some(0.5), 0.5, 1.0));
        // 10, 30 and 30 packets of 8000 bits.
        assert_eq!(watched.requested_kbps(), 8.0 * 70.0 / 3.0);
    }
}

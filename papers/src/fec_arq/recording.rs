//! A recording of packets as a channel, in place of the paper's own trace, which was never published.

use std::sync::Arc;

use super::channel::Trip;
use super::ticks::{SLOT, nearest, seconds};

/// A recorded path.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    /// The name of its file.
    pub name: String,
    /// The outcome of each slot's packet.
    pub trips: Arc<[Trip]>,
}

/// The positions of a recording's columns.
#[derive(Clone, Copy)]
struct Columns {
    send: usize,
    delay: [Option<usize>; 2],
    lost: [Option<usize>; 2],
    is_relative: bool,
}

/// The mean round-trip time in seconds to which a recording of relative delays is shifted: the 200 ms of the paper's
/// trace.
const MEAN_RTT: f64 = 0.2;

impl Recording {
    /// Recordings that stand in for the paper's trace, by the names of their files.
    pub const STAND_INS: [&str; 2] = ["stereo_g729_jitter.csv", "starlink_irtt_10ms.csv"];

    /// Parses lines of `seq,send_ms,rel_delay_ms,lost`, or of
    /// `seq,send_ms,up_delay_ms,up_lost,down_delay_ms,down_lost`, as the first line says; takes one packet per slot of
    /// 20 ms.
    ///
    /// # Errors
    /// An error names the bad line.
    pub fn parse(name: &str, text: &str) -> Result<Recording, String> {
        let mut lines = text.lines().enumerate();
        let (_, head) = lines.next().ok_or_else(|| format!("{name} is empty"))?;
        let columns = Columns::of(head).ok_or_else(|| format!("{name}: '{head}' names no delay and loss"))?;
        let mut packets: Vec<(f64, Option<f64>)> = Vec::new();
        let slot = seconds(SLOT);
        for (nth, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let packet = columns.packet(line).ok_or_else(|| format!("{name}, line {}: '{line}'", nth + 1))?;
            // The first packet at or after the beginning of each slot.
            if packet.0 >= packets.len() as f64 * slot - 1e-9 {
                packets.push(packet);
            }
        }
        let delays: Vec<f64> = packets.iter().filter_map(|packet| packet.1).collect();
        if delays.is_empty() {
            return Err(format!("{name} has no packet that arrived"));
        }
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        let shift = if columns.is_relative { (MEAN_RTT - mean).max(0.0) } else { 0.0 };
        let trip = |(_, delay): &(f64, Option<f64>)| Trip {
            lost: delay.is_none(),
            rtt: nearest(delay.unwrap_or(mean) + shift).max(1),
        };
        Ok(Recording { name: name.to_owned(), trips: packets.iter().map(trip).collect() })
    }

    /// The share of lost packets.
    pub fn loss(&self) -> f64 {
        self.trips.iter().filter(|trip| trip.lost).count() as f64 / self.trips.len() as f64
    }

    /// The share of losses in each window of `window` consecutive packets.
    pub fn losses_among(&self, window: usize) -> impl Iterator<Item = f64> {
        let lost = |trips: &[Trip]| trips.iter().filter(|trip| trip.lost).count() as f64 / trips.len() as f64;
        self.trips.windows(window).map(lost)
    }

    /// The round-trip times of the delivered packets, in seconds.
    pub fn rtts(&self) -> impl Iterator<Item = f64> {
        self.trips.iter().filter(|trip| !trip.lost).map(|trip| seconds(trip.rtt))
    }
}

impl Columns {
    fn of(head: &str) -> Option<Columns> {
        let place = |name: &str| head.trim().split(',').position(|column| column == name);
        let send = place("send_ms")?;
        let relative = place("rel_delay_ms").or_else(|| place("delay_ms"));
        let columns = match relative {
            Some(delay) => Columns { send, delay: [Some(delay), None], lost: [place("lost"), None], is_relative: true },
            None => Columns {
                send,
                delay: [Some(place("up_delay_ms")?), Some(place("down_delay_ms")?)],
                lost: [place("up_lost"), place("down_lost")],
                is_relative: false,
            },
        };
        columns.lost[0].is_some().then_some(columns)
    }

    /// The time at which a packet was sent, and its delay (none if it was lost), in seconds.
    fn packet(&self, line: &str) -> Option<(f64, Option<f64>)> {
        let fields: Vec<&str> = line.trim().split(',').collect();
        let number = |nth: usize| fields.get(nth)?.parse::<f64>().ok();
        let mut lost = false;
        for nth in self.lost.into_iter().flatten() {
            lost |= *fields.get(nth)? == "1";
        }
        let at = number(self.send)? / 1e3;
        if lost {
            return Some((at, None));
        }
        let mut delay = 0.0;
        for nth in self.delay.into_iter().flatten() {
            delay += number(nth)? / 1e3;
        }
        Some((at, Some(delay)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_recording_are_read() {
        let relative = "seq,send_ms,rel_delay_ms,lost\n0,0,50,0\n1,20,,1\n2,40,70,0\n";
        let recording = Recording::parse("voice", relative).expect("three packets");
        let trips: Vec<(bool, u64)> = recording.trips.iter().map(|trip| (trip.lost, trip.rtt)).collect();
        // The mean of 60 ms becomes 200 ms.
        assert_eq!(trips, [(false, 570), (true, 600), (false, 630)]);
        let both =
            "seq,send_ms,up_delay_ms,up_lost,down_delay_ms,down_lost\n0,0,30,0,40,0\n1,10,1,0,1,0\n2,20,30,0,,1\n";
        let recording = Recording::parse("satellite", both).expect("two slots");
        let trips: Vec<(bool, u64)> = recording.trips.iter().map(|trip| (trip.lost, trip.rtt)).collect();
        assert_eq!(trips, [(false, 210), (true, 210)], "the packet between two slots is left out");
    }

    #[test]
    fn a_bad_line_is_named() {
        let refused = |text| Recording::parse("x", text).expect_err("refused");
        assert!(refused("").contains("empty"));
        assert!(refused("a,b,c\n").contains("names no"));
        assert!(refused("seq,send_ms,rel_delay_ms,lost\n0,0,fast,0\n").contains("line 2"));
    }
}

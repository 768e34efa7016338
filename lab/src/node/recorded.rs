//! Recorded outcomes: each packet gets the delay and the loss that one packet of a measurement had.
//!
//! A row per moment gives packets sent close together the same fate, and a row per packet lets a denser stream pass through
//! an outage in less time. [`Index::Near`] does neither: the losses are the next ones of the recording, so that bursts keep
//! their lengths in packets, and they remain within some packets of the moment, so that outages keep their times.

use thalweg_core::time::{Span, Time};

use super::delay_queue::DelayQueue;
use super::losses::Losses;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// The row of a recording that a packet follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// Its own row: the n-th packet follows the n-th row.
    Packet,
    /// The last row that was sent by then: the state of the path at that moment.
    Time,
    /// The loss of the row after that of the packet before, near the moment, and the delay of the moment.
    Near,
}

/// The number of rows by which [`Index::Near`] may be ahead of the moment; twice as many during a run of losses, so that it is
/// neither cut nor repeated. Ours: longer than most bursts; more shifts outages by more.
const AHEAD: usize = 32;

/// The columns of a CSV file that make a recording; the first line names the columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Columns {
    /// The column of sending times, in milliseconds.
    pub sent: String,
    /// The column of delays, in milliseconds.
    pub delay: String,
    /// The column of losses, 1 if the packet was lost, 0 if not; without it every packet arrives.
    pub lost: Option<String>,
    /// The delay that the smallest one becomes, if given, with all others shifted alike: for recordings whose two
    /// clocks disagree.
    pub least: Option<Span>,
}

/// A measurement, repeated forever.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    rows: Vec<Row>,
    period: Span,
}

#[derive(Clone, PartialEq, Debug)]
struct Row {
    sent: Span,
    /// None if the packet was lost.
    delay: Option<Span>,
    /// The delay, of a lost packet that of the packet before it which arrived.
    state: Span,
}

impl Recording {
    /// Reads the `columns` of a CSV text without quotes. A lost row needs no delay.
    ///
    /// # Errors
    /// Names the column that is missing, or the first line that cannot be read.
    pub fn parse(text: &str, columns: &Columns) -> Result<Recording, String> {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or("").split(',').map(str::trim).collect();
        let column = |name: &str| {
            let missing = || format!("line 1: no column '{name}' among '{}'", header.join("', '"));
            header.iter().position(|title| *title == name).ok_or_else(missing)
        };
        let places =
            (column(&columns.sent)?, column(&columns.delay)?, columns.lost.as_deref().map(column).transpose()?);
        let mut raw = Vec::new();
        for (index, line) in lines.enumerate() {
            raw.push(fields(line, places).map_err(|why| format!("line {}: {why}", index + 2))?);
        }
        Recording::from_millis(raw, columns.least)
    }

    /// A recording from rows of sending time and delay in milliseconds.
    fn from_millis(raw: Vec<(f64, Option<f64>)>, least: Option<Span>) -> Result<Recording, String> {
        let smallest = raw.iter().filter_map(|(_, delay)| *delay).fold(f64::INFINITY, f64::min);
        let shift = least.map_or(0.0, |least| least.as_millis_f64() - smallest);
        if smallest + shift < 0.0 {
            return Err("has negative delays: set the smallest one with 'least'".into());
        }
        let first = raw.first().map_or(0.0, |(sent, _)| *sent);
        let span = |millis: f64| Span::from_secs_f64(millis / 1e3);
        let mut state = raw.iter().find_map(|(_, delay)| *delay).map_or(Span::ZERO, |delay| span(delay + shift));
        let mut row = |(sent, delay): (f64, Option<f64>)| {
            let delay = delay.map(|delay| span(delay + shift));
            state = delay.unwrap_or(state);
            Row { sent: span(sent - first), delay, state }
        };
        let rows: Vec<Row> = raw.into_iter().map(&mut row).collect();
        match rows.as_slice() {
            [_, .., last] if !last.sent.eq(&Span::ZERO) && rows.is_sorted_by_key(|row| row.sent) => {
                // The first row repeats one mean gap after the last.
                let period = last.sent + last.sent / (rows.len() as u64 - 1);
                Ok(Recording { rows, period })
            }
            _ => Err("needs two or more rows, in sending order".into()),
        }
    }

    /// The number of the row of this moment, counted through all repetitions.
    fn at(&self, now: Time) -> u64 {
        let (nth, phase) = (now.as_nanos() / self.period.as_nanos(), now.as_nanos() % self.period.as_nanos());
        // The first row is at zero, so at least one row is not later.
        let row = self.rows.partition_point(|row| row.sent.as_nanos() <= phase) - 1;
        nth * self.rows.len() as u64 + row as u64
    }

    /// A row by its number.
    fn row(&self, number: u64) -> &Row {
        &self.rows[(number % self.rows.len() as u64) as usize]
    }
}

/// The sending time and delay of one line; no delay if the packet was lost.
fn fields(line: &str, places: (usize, usize, Option<usize>)) -> Result<(f64, Option<f64>), String> {
    const DAY: f64 = 86_400_000.0;
    let field = |place: usize| line.split(',').nth(place).map(str::trim).ok_or(format!("has no field {}", place + 1));
    let number = |place: usize| {
        let text = field(place)?;
        let refuse =
            || format!("'{}' is not a number of milliseconds below a day", text.chars().take(20).collect::<String>());
        text.parse().ok().filter(|value: &f64| value.abs() < DAY).ok_or_else(refuse)
    };
    let lost = match places.2.map(field).transpose()? {
        None | Some("0") => false,
        Some("1") => true,
        Some(_) => return Err("lost is neither 0 nor 1".into()),
    };
    Ok((number(places.0)?, if lost { None } else { Some(number(places.1)?) }))
}

/// Applies a recording to the packets that pass.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    recording: Recording,
    index: Index,
    keep_order: bool,
    accepted: u64,
    /// The row whose loss the next packet has, with [`Index::Near`].
    cursor: u64,
    last: Time,
    flying: DelayQueue,
    dropped: Losses,
}

impl Recorded {
    /// A node that replays `recording`; with `keep_order` a packet waits for all packets before it, as in a queue.
    pub fn new(recording: Recording, index: Index, keep_order: bool) -> Recorded {
        Recorded {
            recording,
            index,
            keep_order,
            accepted: 0,
            cursor: 0,
            last: Time::ZERO,
            flying: DelayQueue::default(),
            dropped: Losses::default(),
        }
    }

    /// The delay of a packet that enters now; none if it is lost.
    fn pass(&mut self, now: Time) -> Option<Span> {
        match self.index {
            Index::Packet => self.recording.row(self.accepted).delay,
            Index::Time => self.recording.row(self.recording.at(now)).delay,
            Index::Near => {
                let moment = self.recording.at(now);
                let ahead = self.cursor.saturating_sub(moment) as usize;
                let is_in_run = [self.cursor, moment].iter().any(|row| self.recording.row(*row).delay.is_none());
                let most = if is_in_run { 2 * AHEAD } else { AHEAD };
                if self.cursor < moment || ahead >= most {
                    self.cursor = moment;
                }
                let is_lost = self.recording.row(self.cursor).delay.is_none();
                self.cursor += 1;
                (!is_lost).then(|| self.recording.row(moment).state)
            }
        }
    }

    /// Packets of one flow that were lost.
    pub(crate) fn lost_of(&self, flow: u32) -> u64 {
        self.dropped.of(flow)
    }
}

impl Node for Recorded {
    fn accept(&mut self, now: Time, packet: Packet) {
        let delay = self.pass(now);
        self.accepted += 1;
        let Some(delay) = delay else {
            self.dropped.count(&packet);
            return;
        };
        self.last = self.last.max(now + delay);
        self.flying.put(if self.keep_order { self.last } else { now + delay }, packet);
    }

    fn next(&self) -> Option<Time> {
        self.flying.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.flying.take(now)
    }
}

impl Tallied for Recorded {
    fn tally(&self) -> Tally {
        Tally { dropped: self.dropped.total(), held: self.flying.len(), ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "seq,send_ms,up_ms,up_lost\r\n0,0,30,0\r\n1,10,,1\r\n2,20,5.5,0\r\n";

    fn columns() -> Columns {
        Columns { sent: "send_ms".into(), delay: "up_ms".into(), lost: Some("up_lost".into()), least: None }
    }

    fn arrivals(index: Index, keep_order: bool, sent: &[u64]) -> Vec<(u32, u64)> {
        let mut node = Recorded::new(Recording::parse(CSV, &columns()).expect("a recording"), index, keep_order);
        for (flow, millis) in sent.iter().enumerate() {
            node.accept(Time::ZERO + Span::from_millis(*millis), Packet::datagram(flow as u32, Vec::new()));
        }
        let mut out = Vec::new();
        while let Some(at) = node.next() {
            out.extend(node.poll(at).map(|packet| (packet.flow, at.as_nanos() / 1_000)));
        }
        assert_eq!(node.tally().dropped.total() as usize + out.len(), sent.len());
        out
    }

    #[test]
    fn packets_follow_rows_one_by_one_and_then_from_the_start() {
        assert_eq!(arrivals(Index::Packet, false, &[0, 1, 2, 3]), [(2, 7_500), (0, 30_000), (3, 33_000)]);
        assert_eq!(arrivals(Index::Packet, true, &[0, 1, 2, 3]), [(0, 30_000), (2, 30_000), (3, 33_000)]);
    }

    #[test]
    fn packets_follow_the_row_of_their_moment() {
        // Rows at 0, 10, 20 ms; the period is 30 ms.
        assert_eq!(
            arrivals(Index::Time, false, &[5, 9, 10, 19, 25, 30]),
            [(4, 30_500), (0, 35_000), (1, 39_000), (5, 60_000)]
        );
    }

    /// A packet every millisecond, of which 50 in a row were lost.
    fn outage() -> Recorded {
        let rows = (0..1000).map(|nth| format!("{nth},5,{}\n", u8::from((500..550).contains(&nth))));
        let text = "send_ms,up_ms,up_lost\n".to_owned() + &rows.collect::<String>();
        Recorded::new(Recording::parse(&text, &columns()).expect("a recording"), Index::Near, true)
    }

    #[test]
    fn near_rows_keep_bursts_in_packets_and_outages_in_time() {
        // Packets in step with the rows, a denser stream, and a sparser one.
        for (gap, lost) in [(1000, 50..=50), (800, 50..=63), (2000, 24..=26)] {
            let mut node = outage();
            for micros in (0..1_000_000).step_by(gap) {
                node.accept(Time::ZERO + Span::from_micros(micros), Packet::datagram(0, Vec::new()));
            }
            assert!(lost.contains(&node.tally().dropped.total()), "{gap}: {:?}", node.tally());
        }
        // Three packets at once have three rows.
        let mut node = outage();
        for flow in 0..3 {
            node.accept(Time::ZERO + Span::from_millis(498), Packet::datagram(flow, Vec::new()));
        }
        assert_eq!([0, 1, 2].map(|flow| node.lost_of(flow)), [0, 0, 1]);
    }

    #[test]
    fn clocks_that_disagree_are_put_right() {
        let skewed = "send_ms,up_ms,up_lost\n0,-3,0\n10,2,0\n";
        assert!(Recording::parse(skewed, &columns()).unwrap_err().contains("negative"));
        let recording = Recording::parse(skewed, &Columns { least: Some(Span::from_millis(20)), ..columns() });
        let delays: Vec<_> = recording.expect("shifted").rows.into_iter().map(|row| row.delay).collect();
        assert_eq!(delays, [Some(Span::from_millis(20)), Some(Span::from_millis(25))]);
    }

    #[test]
    fn a_bad_recording_is_refused_by_its_line() {
        for (text, why) in [
            ("seq,send_ms\n", "line 1: no column 'up_ms' among 'seq', 'send_ms'"),
            ("send_ms,up_ms,up_lost\n0,x,0\n", "line 2: 'x' is not a number of milliseconds below a day"),
            ("send_ms,up_ms,up_lost\n0,1,0\n1,1\n", "line 3: has no field 3"),
            ("send_ms,up_ms,up_lost\n0,1,2\n", "line 2: lost is neither 0 nor 1"),
            ("send_ms,up_ms,up_lost\n0,1,0\n", "needs two or more rows, in sending order"),
        ] {
            assert_eq!(Recording::parse(text, &columns()), Err(why.into()));
        }
    }
}

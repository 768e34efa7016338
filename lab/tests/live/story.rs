//! Two sessions, a path in each direction, and a source that counts.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use thalweg_core::session::live::End;
use thalweg_core::session::live::carried::{Carried, Notice};
use thalweg_core::session::live::receiver::{self, Receiver};
use thalweg_core::session::live::sender::{self, Sender};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::hello::Answer;
use thalweg_core::wire::rlc::SourcePayloadId;
use thalweg_core::wire::rtp;
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Path;

use crate::live::keys::Keys;
use crate::live::props::{PAYLOAD, address, at, metrics, payload};
use crate::live::tap::Tap;

/// One datagram that was delivered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Output {
    pub(crate) number: u64,
    pub(crate) at: Time,
    /// The time since its input.
    pub(crate) latency: Span,
    /// True if it is the same as its input.
    pub(crate) intact: bool,
}

/// The part of the receiver's datagrams that reaches the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Back {
    Everything,
    /// Answers to hellos only.
    Answers,
    Nothing,
}

/// Admits packets at a rate, and bursts of eight packets; drops the rest at once, so that no packet waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Policer {
    rate: Rate,
    /// Nanoseconds of the rate that are saved up.
    tokens: u64,
    filled: Time,
}

/// Bytes of an RTP packet on the wire, with this payload.
pub(crate) const fn wire_len(payload: usize) -> u64 {
    (28 + rtp::HEADER_LEN + payload) as u64
}

impl Policer {
    const BURST: Bytes = Bytes(8 * 1500);

    pub(crate) fn new(rate: Rate) -> Policer {
        Policer { rate, tokens: 0, filled: Time::ZERO }
    }

    fn admits(&mut self, now: Time, size: Bytes) -> bool {
        let most = self.rate.time_for(Policer::BURST).as_nanos();
        self.tokens = (self.tokens + now.since(self.filled).as_nanos()).min(most);
        self.filled = now;
        let left = self.tokens.checked_sub(self.rate.time_for(size).as_nanos());
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }
}

/// A source, two sessions, and the paths between them.
pub(crate) struct Story {
    pub(crate) now: Time,
    pub(crate) sender: Carried<Sender>,
    pub(crate) receiver: Carried<Receiver>,
    pub(crate) keys: Option<Keys>,
    /// The addresses of both; a story may change them.
    pub(crate) sender_at: SocketAddr,
    pub(crate) receiver_at: SocketAddr,
    /// The offset of the clock that the sender sees.
    pub(crate) clock_ahead: Span,
    /// The interval at which the machine runs the sender and its source; none: always.
    pub(crate) turns: Option<Span>,
    pub(crate) forward: Path,
    pub(crate) reverse: Path,
    /// The policer before the forward path.
    pub(crate) policer: Option<Policer>,
    /// The part of the return traffic that arrives.
    pub(crate) back: Back,
    /// True while nothing reaches the receiver.
    pub(crate) deaf: bool,
    /// The maximum length of a datagram that reaches the receiver.
    pub(crate) longest: usize,
    /// An attacker on the path, who reads all datagrams and changes those of the sender.
    pub(crate) tap: Tap,
    pub(crate) rewrite: fn(&mut [u8]),
    /// The length of a datagram's payload, by its number.
    pub(crate) length: fn(u64) -> usize,
    gap: Option<Span>,
    due: Time,
    /// The input time of each datagram.
    pub(crate) inputs: Vec<Time>,
    /// The number of datagrams that were input.
    given: u64,
    /// True if inputs and outputs are recorded; an hour of records is more than a stream's own memory.
    pub(crate) notes: bool,
    pub(crate) outputs: Vec<Output>,
    pub(crate) sender_events: Vec<(Time, sender::Event)>,
    pub(crate) receiver_events: Vec<(Time, receiver::Event)>,
    /// The departure time of each of the sender's datagrams, and its size on the wire.
    pub(crate) departures: Vec<(Time, Bytes)>,
    /// All bytes that the sender and the receiver have sent, for stories that compare them.
    pub(crate) written: Option<[Vec<u8>; 2]>,
    /// Datagrams to addresses other than the peer's, for stories with outsiders, and those that the policer dropped.
    pub(crate) elsewhere: Vec<(SocketAddr, Vec<u8>)>,
    /// The datagrams returned, and the last ones sent, for stories that replay them.
    pub(crate) returned: Vec<Vec<u8>>,
    /// The departure time of the receiver's last datagram.
    pub(crate) last_returned: Option<Time>,
    pub(crate) recent: VecDeque<Vec<u8>>,
}

impl Story {
    /// A story at time zero, whose source is still silent.
    pub(crate) fn new(sender: sender::Config, receiver: receiver::Config, forward: Path, reverse: Path) -> Story {
        Story::with(None, sender, receiver, forward, reverse)
    }

    /// The same, encrypted if there are `keys`.
    pub(crate) fn with(
        mut keys: Option<Keys>,
        sender: sender::Config,
        receiver: receiver::Config,
        forward: Path,
        reverse: Path,
    ) -> Story {
        Story {
            now: Time::ZERO,
            receiver_at: sender.to,
            sender: Keys::sender(keys.as_mut(), sender, Time::ZERO, 11),
            receiver: Keys::receiver(keys.as_mut(), receiver, Time::ZERO, 22),
            keys,
            sender_at: address("10.0.0.1:5000"),
            clock_ahead: Span::ZERO,
            turns: None,
            forward,
            reverse,
            policer: None,
            back: Back::Everything,
            deaf: false,
            longest: MAX_DATAGRAM,
            tap: Tap::default(),
            rewrite: |_| {},
            length: |_| PAYLOAD,
            gap: None,
            due: Time::ZERO,
            inputs: Vec::new(),
            given: 0,
            notes: true,
            outputs: Vec::new(),
            sender_events: Vec::new(),
            receiver_events: Vec::new(),
            departures: Vec::new(),
            written: None,
            elsewhere: Vec::new(),
            returned: Vec::new(),
            last_returned: None,
            recent: VecDeque::new(),
        }
    }

    /// Runs until `millis` after the start.
    pub(crate) fn until(&mut self, millis: u64) -> &mut Story {
        let end = at(millis);
        loop {
            self.act();
            match self.next() {
                Some(next) if next <= end => {
                    assert!(next > self.now, "no progress at {:?}", self.now);
                    self.now = next;
                }
                _ => break,
            }
        }
        self.now = end;
        check::conservation(&self.forward).expect("forward");
        check::conservation(&self.reverse).expect("reverse");
        self
    }

    /// Lets the source produce datagrams at the interval at which [`PAYLOAD`] bytes each make this rate.
    pub(crate) fn play(&mut self, rate: Rate) -> &mut Story {
        self.gap = Some(rate.time_for(Bytes(PAYLOAD as u64)));
        self.due = self.now;
        self
    }

    /// Restarts the program of the sender, without any of its state.
    pub(crate) fn restart_sender(&mut self, config: sender::Config, seed: u64) {
        self.sender = Keys::sender(self.keys.as_mut(), config, self.now, seed);
    }

    /// Restarts the program of the receiver.
    pub(crate) fn restart_receiver(&mut self, config: receiver::Config, seed: u64) {
        self.receiver = Keys::receiver(self.keys.as_mut(), config, self.now, seed);
    }

    /// The notices of both ends about keys.
    pub(crate) fn notices(&mut self) -> [Vec<Notice>; 2] {
        let (sender, receiver) = (&mut self.sender, &mut self.receiver);
        [
            core::iter::from_fn(|| sender.poll_notice()).collect(),
            core::iter::from_fn(|| receiver.poll_notice()).collect(),
        ]
    }

    /// Pauses the source.
    pub(crate) fn pause(&mut self) -> &mut Story {
        self.gap = None;
        self
    }

    fn their_now(&self) -> Time {
        self.now + self.clock_ahead
    }

    fn next(&self) -> Option<Time> {
        let sender = self.sender.poll_timeout().map(|at| (at - self.clock_ahead).max(self.now));
        let source = self.gap.map(|_| self.due);
        let near = [sender, source, self.reverse.next()].into_iter().flatten().min().map(|due| self.turn(due));
        let far = [self.receiver.poll_timeout(), self.forward.next()].into_iter().flatten().min();
        near.into_iter().chain(far).min()
    }

    /// The time at which the machine runs what the sender is due to do.
    fn turn(&self, due: Time) -> Time {
        let every = self.turns.map_or(1, Span::as_nanos);
        Time::from_nanos(due.as_nanos().next_multiple_of(every))
    }

    /// Processes everything that is due now.
    fn act(&mut self) {
        let has_turn = self.turn(self.now) == self.now;
        while has_turn && self.gap.is_some() && self.due <= self.now {
            self.give();
            self.due += self.gap.unwrap_or(Span::MAX);
        }
        for _ in 0..100_000 {
            let sent = has_turn && self.run_sender();
            if !self.run_receiver() && !sent {
                return;
            }
        }
        panic!("no rest at {:?}", self.now);
    }

    fn give(&mut self) {
        let length = (self.length)(self.given);
        let now = self.their_now();
        self.sender.handle_media(now, &payload(self.given)[..length]);
        self.given += 1;
        if self.notes {
            self.inputs.push(self.now);
        }
    }

    fn run_sender(&mut self) -> bool {
        let now = self.their_now();
        let mut active = false;
        if self.sender.poll_timeout().is_some_and(|due| due <= now) {
            self.sender.handle_timeout(now);
        }
        while let Some(packet) = self.reverse.poll(self.now) {
            if let Body::Datagram(bytes) = packet.body {
                active = true;
                // RFC 3550 §6.7: an answer holds an application-defined packet of our name and the answer's subtype.
                let is_answer = bytes.chunks(4).any(|word| word.starts_with(&[0x80 | Answer::SUBTYPE, 204]));
                if self.back == Back::Everything || (self.back == Back::Answers && is_answer) {
                    // A refusal is counted; the story goes on.
                    let _ = self.sender.handle_datagram(now, self.receiver_at, &bytes);
                }
                if self.notes {
                    self.returned.push(bytes);
                }
            }
        }
        let mut buf = [0; MAX_DATAGRAM];
        while let Some(transmit) = self.sender.poll_transmit(now, &mut buf) {
            active = true;
            self.tap.read(&buf[..transmit.len]);
            self.tap.change(End::Sender, &mut buf[..transmit.len], self.rewrite);
            if let Some([sent, _]) = &mut self.written {
                sent.extend_from_slice(&buf[..transmit.len]);
            }
            let packet = Packet::datagram(0, buf[..transmit.len].to_vec());
            self.recent.truncate(99);
            self.recent.push_front(buf[..transmit.len].to_vec());
            if self.notes {
                self.departures.push((self.now, packet.size));
            }
            let is_admitted = self.policer.as_mut().is_none_or(|policer| policer.admits(self.now, packet.size));
            if is_admitted && transmit.to == self.receiver_at {
                self.forward.accept(self.now, packet);
            } else {
                self.elsewhere.push((transmit.to, buf[..transmit.len].to_vec()));
            }
        }
        let (now, sender) = (self.now, &mut self.sender);
        self.sender_events.extend(core::iter::from_fn(|| sender.poll_event()).map(|event| (now, event)));
        active
    }

    fn run_receiver(&mut self) -> bool {
        let mut active = false;
        while let Some(packet) = self.forward.poll(self.now) {
            if let Body::Datagram(bytes) = packet.body
                && !self.deaf
                && bytes.len() <= self.longest
            {
                active = true;
                let _ = self.receiver.handle_datagram(self.now, self.sender_at, &bytes);
            }
        }
        if self.receiver.poll_timeout().is_some_and(|due| due <= self.now) {
            self.receiver.handle_timeout(self.now);
        }
        while let Some(media) = self.receiver.poll_media(self.now) {
            active = true;
            if !self.notes {
                continue;
            }
            // A damaged datagram may be too short for its number.
            let number = media.first_chunk().map_or(u64::MAX, |number| u64::from_be_bytes(*number));
            let input = self.inputs.get(number as usize).copied().unwrap_or_default();
            let intact = payload(number).starts_with(media) && media.len() == (self.length)(number);
            self.outputs.push(Output { number, at: self.now, latency: self.now.since(input), intact });
        }
        let mut buf = [0; MAX_DATAGRAM];
        while let Some(transmit) = self.receiver.poll_transmit(self.now, &mut buf) {
            active = true;
            self.tap.read(&buf[..transmit.len]);
            if let Some([_, sent]) = &mut self.written {
                sent.extend_from_slice(&buf[..transmit.len]);
            }
            self.last_returned = Some(self.now);
            if transmit.to == self.sender_at {
                self.reverse.accept(self.now, Packet::datagram(0, buf[..transmit.len].to_vec()));
            } else {
                self.elsewhere.push((transmit.to, buf[..transmit.len].to_vec()));
            }
        }
        let (now, receiver) = (self.now, &mut self.receiver);
        self.receiver_events.extend(core::iter::from_fn(|| receiver.poll_event()).map(|event| (now, event)));
        active
    }

    /// The metrics of the sender.
    pub(crate) fn sender_metrics(&self) -> BTreeMap<&'static str, f64> {
        metrics(&self.sender)
    }

    /// The metrics of the receiver.
    pub(crate) fn receiver_metrics(&self) -> BTreeMap<&'static str, f64> {
        metrics(&self.receiver)
    }

    /// Repair packets of the sliding window since `from`, resends among them: the only ones longer than a source packet.
    pub(crate) fn repair_since(&self, from: Time) -> f64 {
        let longest = wire_len(SourcePayloadId::LEN + PAYLOAD);
        self.departures.iter().filter(|(at, size)| *at >= from && size.0 > longest).count() as f64
    }

    /// Datagrams that were input between two instants, in milliseconds, and not delivered.
    pub(crate) fn lost(&self, from: u64, to: u64) -> usize {
        let given = self.inputs.iter().enumerate().filter(|(_, input)| (at(from)..at(to)).contains(input));
        let came: std::collections::BTreeSet<u64> = self.outputs.iter().map(|output| output.number).collect();
        given.filter(|(number, _)| !came.contains(&(*number as u64))).count()
    }

    /// The latency that this share of the outputs does not exceed.
    pub(crate) fn latency(&self, quantile: f64) -> Span {
        let mut all: Vec<Span> = self.outputs.iter().map(|output| output.latency).collect();
        all.sort_unstable();
        all[((all.len() - 1) as f64 * quantile) as usize]
    }

    /// True if no output was out of order or a duplicate.
    pub(crate) fn is_in_order(&self) -> bool {
        self.outputs.windows(2).all(|pair| pair[0].number < pair[1].number)
    }
}

//! A sender, a receiver, two paths between them, and a record of the segments sent.

use thalweg_core::law::window::newreno::NewReno;
use thalweg_core::law::window::{CongestionWindow, Start};
use thalweg_core::probe::Probe;
use thalweg_core::time::{Span, Time};
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Path;
use thalweg_lab::tcp::{Receiver, ReceiverConfig, Recovery, Sender, SenderConfig};

pub(crate) fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

/// NewReno of RFC 5681, with an initial window of `iw`.
pub(crate) fn starting_at(iw: u32) -> NewReno {
    NewReno::new(Start { iw, ..Start::default() })
}

/// The same, in congestion avoidance from the first segment on.
pub(crate) fn avoiding_at(iw: u32) -> NewReno {
    NewReno::new(Start { iw, ssthresh: f64::from(iw) })
}

pub(crate) const ALL: [Recovery; 3] = [Recovery::NewReno, Recovery::Sack, Recovery::SackPrr];

/// An endless transfer.
pub(crate) fn config(recovery: Recovery) -> SenderConfig {
    SenderConfig { recovery, ..SenderConfig::new(0) }
}

/// A data segment that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) number: u64,
    pub(crate) again: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Pair<L> {
    pub(crate) now: Time,
    pub(crate) sender: Sender<L>,
    pub(crate) receiver: Receiver,
    pub(crate) forward: Path,
    pub(crate) reverse: Path,
    /// Transmissions that a story drops, by segment number; each entry drops one transmission.
    pub(crate) doomed: Vec<u64>,
    /// The number of acknowledgements that it drops from now on.
    pub(crate) doomed_acks: u32,
    pub(crate) sent: Vec<Sent>,
    pub(crate) acks: u64,
    pub(crate) records: bool,
}

impl<L: CongestionWindow> Pair<L> {
    /// Endpoints 10 ms apart, with nothing else between them.
    pub(crate) fn new(law: L, config: SenderConfig) -> Pair<L> {
        let wire = || Path::default().then("wire", Wire::new(ms(10)));
        let receiver = ReceiverConfig { sack: config.recovery.has_sack(), ..ReceiverConfig::new(config.flow) };
        Pair::across(law, config, receiver, (wire(), wire()))
    }

    pub(crate) fn across(law: L, config: SenderConfig, receiver: ReceiverConfig, paths: (Path, Path)) -> Pair<L> {
        Pair {
            now: Time::ZERO,
            sender: Sender::new(config, law),
            receiver: Receiver::new(receiver),
            forward: paths.0,
            reverse: paths.1,
            doomed: Vec::new(),
            doomed_acks: 0,
            sent: Vec::new(),
            acks: 0,
            records: true,
        }
    }

    fn next(&self) -> Option<Time> {
        let ends = [self.sender.next(), self.receiver.next(), self.forward.next(), self.reverse.next()];
        ends.into_iter().flatten().min()
    }

    /// Processes all events that are due by `end`.
    pub(crate) fn run_until(&mut self, end: Time) {
        while let Some(next) = self.next()
            && next <= end
        {
            assert!(next >= self.now, "the clock stands still at worst");
            self.now = next;
            self.turn();
        }
        self.now = end;
        check::conservation(&self.forward).expect("data is conserved");
        check::conservation(&self.reverse).expect("acknowledgements are conserved");
    }

    fn turn(&mut self) {
        while let Some(packet) = self.forward.poll(self.now) {
            self.receiver.accept(self.now, packet);
            self.answer();
        }
        self.answer();
        while let Some(packet) = self.reverse.poll(self.now) {
            self.sender.accept(self.now, packet);
            self.send();
        }
        self.send();
    }

    fn send(&mut self) {
        while let Some(packet) = self.sender.poll(self.now) {
            let Body::Segment { number, again } = packet.body else { panic!("{packet:?}") };
            if self.records {
                self.sent.push(Sent { at: self.now, number, again });
            }
            match self.doomed.iter().position(|doomed| *doomed == number) {
                Some(place) => drop(self.doomed.swap_remove(place)),
                None => self.forward.accept(self.now, packet),
            }
        }
    }

    fn answer(&mut self) {
        while let Some(packet) = self.receiver.poll(self.now) {
            assert!(matches!(packet, Packet { body: Body::Ack(_), .. }));
            self.acks += 1;
            if self.doomed_acks > 0 {
                self.doomed_acks -= 1;
            } else {
                self.reverse.accept(self.now, packet);
            }
        }
    }

    /// The time of each retransmission in milliseconds, and its segment.
    pub(crate) fn repairs(&self) -> Vec<(u64, u64)> {
        let again = self.sent.iter().filter(|sent| sent.again);
        again.map(|sent| (sent.at.as_nanos() / 1_000_000, sent.number)).collect()
    }
}

/// The value of a probe.
pub(crate) fn probed(of: &impl Probe, name: &str) -> f64 {
    let mut value = None;
    of.probe(&mut |seen, is| {
        if seen == name {
            value = Some(is);
        }
    });
    value.unwrap_or_else(|| panic!("no probe is called {name}"))
}

//! TCP flows on one link, observed as they run.

use thalweg_core::law::window::{Choice, Config, Law};
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::network::{Access, Hop, Network, Part};
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::path::Element;
use thalweg_lab::tcp::{Receiver, ReceiverConfig, Recovery, Sender, SenderConfig};

pub(crate) fn secs(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

/// The size of a segment on the wire, in bits.
const PACKET_BITS: f64 = 12_000.0;

/// A link with its queue, round trip and loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) mbit: u64,
    pub(crate) rtt_ms: u64,
    /// The capacity of its queue, in packets.
    pub(crate) queue: u64,
    /// Share of data packets lost in front of it.
    pub(crate) loss: f64,
}

impl Link {
    /// The bandwidth-delay product, in packets.
    pub(crate) fn bdp(self) -> f64 {
        self.packets_per_second() * self.rtt_ms as f64 / 1e3
    }

    pub(crate) fn packets_per_second(self) -> f64 {
        self.mbit as f64 * 1e6 / PACKET_BITS
    }
}

pub(crate) struct Dumbbell {
    link: Link,
    network: Network,
    now: Time,
}

impl Dumbbell {
    pub(crate) fn new(link: Link, seed: u64) -> Dumbbell {
        // A millisecond of access delay at each end.
        let wire = Span::from_micros(link.rtt_ms * 500 - 2_000);
        let queue = || DropTail::new(Rate::from_mbps(link.mbit), Limit::Packets(link.queue)).with_wire(wire);
        let mut forward = Vec::new();
        if link.loss > 0.0 {
            forward.push(Element::from(Loss::independent(link.loss, Rng::new(seed).fork("loss"))));
        }
        forward.push(queue().into());
        let backward = vec![Element::from(DropTail::new(Rate::from_mbps(1_000), Limit::ENDLESS).with_wire(wire))];
        let network = Network::new(vec![Hop::Lanes { forward, backward }], 16).expect("a hop");
        Dumbbell { link, network, now: Time::ZERO }
    }

    /// Adds a flow without end that starts at `start`.
    pub(crate) fn add(&mut self, law: Choice, start: Time) -> u32 {
        self.add_one(law, start, None)
    }

    /// Adds a flow of `segments` segments.
    pub(crate) fn add_finite(&mut self, law: Choice, start: Time, segments: u64) -> u32 {
        self.add_one(law, start, Some(segments))
    }

    fn add_one(&mut self, law: Choice, start: Time, segments: Option<u64>) -> u32 {
        let flow = self.network.next_flow();
        // The default of scenarios.
        let recovery = if matches!(law, Choice::Cubic(())) { Recovery::SackPrr } else { Recovery::Sack };
        let sender = SenderConfig { start, segments, recovery, ..SenderConfig::new(flow) };
        let receiver = Receiver::new(ReceiverConfig::new(flow));
        let access = Access { rate: Rate::from_mbps(10_000), near: Span::from_millis(1), far: Span::from_millis(1) };
        let law = Law::new(&law, &Config::default()).expect("no video is needed");
        self.network.add(Sender::new(sender, law), receiver, access, 0..1);
        flow
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        self.network.run_until(end);
        self.now = end;
        self.network.conservation().expect("conservation");
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Packets in flight of the first `flows` flows beyond the bandwidth-delay product.
    pub(crate) fn waiting(&self, flows: u32) -> f64 {
        (0..flows).map(|flow| f64::from(self.sender(flow).flight())).sum::<f64>() - self.link.bdp()
    }

    pub(crate) fn sender(&self, flow: u32) -> &Sender<Law> {
        match self.network.ends(flow) {
            Some((Part::TcpSender(sender), _)) => sender,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn delivered(&self, flow: u32) -> u64 {
        match self.network.ends(flow) {
            Some((_, Part::TcpReceiver(receiver))) => receiver.delivered(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn dropped(&self, flow: u32) -> u64 {
        self.network.offered(0)[flow as usize].dropped
    }

    /// A value that the law of a flow reports.
    pub(crate) fn shown(&self, flow: u32, name: &str) -> f64 {
        let mut value = None;
        self.sender(flow).law().probe(&mut |seen, is| {
            if seen == name {
                value = Some(is);
            }
        });
        value.unwrap_or_else(|| panic!("no probe is called {name}"))
    }

    /// The throughput of each flow until `end`, as a share of the link.
    pub(crate) fn shares(&mut self, flows: u32, end: Time) -> Vec<f64> {
        let before: Vec<u64> = (0..flows).map(|flow| self.delivered(flow)).collect();
        let whole = self.link.packets_per_second() * end.since(self.now).as_secs_f64();
        self.run_until(end);
        (0..flows).map(|flow| (self.delivered(flow) - before[flow as usize]) as f64 / whole).collect()
    }

    /// Runs until `end`, and calls `look` every `step`.
    pub(crate) fn watch(&mut self, end: Time, step: Span, mut look: impl FnMut(&Dumbbell)) {
        while self.now < end {
            self.run_until((self.now + step).min(end));
            look(self);
        }
    }
}

/// Jain's index (R. Jain, D. Chiu, W. Hawe, 1984): (sum x)^2 / (n sum x^2).
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

//! The receiving endpoint.

use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::tfrc::{Receiver, receiver};
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

use super::{Report, Throughput};
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};
use crate::statistics::transit::Transit;

/// The size of a report on the wire: IPv4 and UDP headers, and the fields of RFC 5348 §3.2.2 in 12 bytes.
const REPORT: Bytes = Bytes(40);

/// A receiver that reports once a round trip and at each new loss event.
#[derive(Clone, PartialEq, Debug)]
pub struct TfrcReceiver {
    flow: u32,
    report: Bytes,
    law: Receiver<Throughput>,
    /// Packets received, and the size on the wire of those of the flow.
    taken: u64,
    bytes: Bytes,
    /// One more than the highest sequence number.
    expected: u64,
    reports: u64,
    transit: Transit,
}

impl TfrcReceiver {
    /// A receiver of `flow`, whose sender's packets have the size `packet` on the wire.
    pub fn new(flow: u32, packet: Bytes, equation: Throughput) -> TfrcReceiver {
        let law = Receiver::with_equation(receiver::Config::new(packet), equation);
        TfrcReceiver {
            flow,
            report: REPORT,
            law,
            taken: 0,
            bytes: Bytes(0),
            expected: 0,
            reports: 0,
            transit: Transit::default(),
        }
    }

    /// The receiver with reports of another size on the wire.
    pub fn with_report(self, report: Bytes) -> TfrcReceiver {
        TfrcReceiver { report, ..self }
    }

    /// Packets received in time, without duplicates.
    pub fn received(&self) -> u64 {
        self.law.received()
    }

    /// The size on the wire of all packets of the flow that arrived.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Packets missing below the highest sequence number; reordered packets are missing for a while.
    pub fn missing(&self) -> u64 {
        self.expected - self.received()
    }

    /// Reports sent.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// The delays of the packets from one end to the other.
    pub fn transit(&self) -> Transit {
        self.transit
    }

    /// The law, for its inner values.
    pub fn law(&self) -> &Receiver<Throughput> {
        &self.law
    }

    /// Makes the law GCA with these parameters, for the first loss interval.
    pub fn set_greediness(&mut self, greediness: Greediness) {
        self.law.set_equation(Throughput::Gca(greediness));
    }
}

impl Node for TfrcReceiver {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        if let Body::Tfrc(data) = packet.body {
            self.bytes += packet.size;
            self.transit.record(now.since(data.sent));
            self.expected = self.expected.max(data.sequence + 1);
            self.law.handle_data(now, &data, packet.size);
        }
    }

    fn next(&self) -> Option<Time> {
        self.law.poll_timeout()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        let report = Report::from(self.law.poll_feedback(now)?);
        self.reports += 1;
        Some(Packet { flow: self.flow, size: self.report, body: Body::TfrcReport(report) })
    }
}

impl Tallied for TfrcReceiver {
    fn tally(&self) -> Tally {
        Tally { added: self.reports, consumed: self.taken, ..Tally::default() }
    }
}

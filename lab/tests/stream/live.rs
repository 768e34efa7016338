//! The live profile across a path.

use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::law::redundancy::{Law, none};
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::session::live::receiver;
use thalweg_core::session::live::sender::{self, Breaker, SourceId};
use thalweg_core::session::live::{Media, Playout};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::end::live::{Config, Receiver, Sender, received};
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::node::{Node, Tallied};
use thalweg_lab::path::Path;
use thalweg_lab::stream::counters::{Received, Sent};

use crate::stream::pair::ms;

/// A sender, a receiver and a path in each direction.
struct Live {
    now: Time,
    sender: Sender,
    receiver: Receiver,
    forward: Path,
    reverse: Path,
}

impl Live {
    fn new(repair: Law, loss: f64, seed: u64) -> Live {
        let session = sender::Config {
            to: "10.0.0.2:6000".parse().expect("an address"),
            listens: false,
            fec_to: None,
            media: Media::Opaque,
            repair,
            latency: ms(90).into(),
            max_rate: None,
            rate: None,
            block: None,
            source_id: SourceId::Explicit,
            breaker: Breaker::Off,
            answer_timeout: None,
        };
        let (start, stop) = (Time::ZERO + ms(200), Some(Time::ZERO + ms(5_200)));
        let (rate, payload) = (Rate::from_mbps(30), Bytes(1_316));
        let rng = Rng::new(seed);
        let config = Config { flow: 0, session, start, stop, rate, follows: false, pause: None, payload };
        let from = "10.0.0.1:5000".parse().expect("an address");
        let hearing = receiver::Config { latency: ms(90).into(), playout: Playout::Asap, ..Default::default() };
        let wire = || Path::default().then("wire", Wire::new(ms(10)));
        Live {
            now: Time::ZERO,
            sender: Sender::of(config, &rng.fork("sender")),
            receiver: Receiver::of(0, hearing, from, &rng.fork("receiver")),
            forward: wire().then("loss", Loss::independent(loss, rng.fork("loss"))),
            reverse: wire(),
        }
    }

    /// Runs to the end of the media, and a second longer.
    fn run(mut self) -> (Sent, Received, Live) {
        while self.now <= Time::ZERO + Span::from_millis(6_200) {
            for _ in 0..10_000 {
                if let Some(packet) = self.sender.poll(self.now) {
                    self.forward.accept(self.now, packet);
                } else if let Some(packet) = self.forward.poll(self.now) {
                    self.receiver.accept(self.now, packet);
                } else if let Some(packet) = self.receiver.poll(self.now) {
                    self.reverse.accept(self.now, packet);
                } else if let Some(packet) = self.reverse.poll(self.now) {
                    self.sender.accept(self.now, packet);
                } else {
                    break;
                }
            }
            let waits = [self.sender.next(), self.receiver.next(), self.forward.next(), self.reverse.next()];
            let next = waits.into_iter().flatten().min().expect("a second's tick at least");
            assert!(next > self.now, "no progress at {:?}", self.now);
            self.now = next;
        }
        (self.sender.sent(), received(&self.sender, &self.receiver), self)
    }
}

fn geneva() -> Law {
    Law::Geneva(Geneva::new(Parameters::default()).expect("the paper's parameters"))
}

/// The number of datagrams in 5 s of 30 Mb/s, 1316 bytes each.
const MEDIA: u64 = 14_248;

#[test]
fn a_clean_path_carries_every_datagram_with_the_least_repair() {
    let (sent, received, live) = Live::new(geneva(), 0.0, 1).run();
    assert_eq!((sent.source, received.source, received.recovered), (MEDIA, MEDIA, MEDIA));
    // 28.5 packets per SYN; at first 8 repair packets for each block of them, and then as few.
    assert!((sent.mean_window() - 8.0).abs() < 0.1, "{}", sent.mean_window());
    assert_eq!(sent.blocks, 500);
    assert_eq!((received.lost, received.bursts, received.residual(), sent.widest), (0, 0, 0, 0));
    // W = (8 + 28.5) (ERTT + SYN) / SYN, with an ERTT of 20 ms and the time that reports wait.
    assert!((36.5 * 3.0 - 1.0..36.5 * 4.5).contains(&sent.mean_w()), "{}", sent.mean_w());
    for (name, tally) in [("sender", live.sender.tally()), ("receiver", live.receiver.tally())] {
        assert!(tally.added > 100 && tally.consumed > 100, "{name}: {tally:?}");
    }
    assert_eq!(live.sender.tally().added, live.receiver.tally().consumed);
}

#[test]
fn loss_is_counted_as_the_path_makes_it_and_repaired() {
    let p = 0.02;
    let (sent, repaired, live) = Live::new(geneva(), p, 2).run();
    let error = (p * (1.0 - p) / repaired.packets as f64).sqrt();
    assert!((repaired.loss_rate() - p).abs() < 5.0 * error, "{}", repaired.loss_rate());
    assert!(repaired.packets <= sent.source + sent.repair);
    assert!(sent.mean_window() > 8.0);
    // The session's own counter.
    let mut recovered = 0.0;
    live.receiver.probe(&mut |name, value| {
        if name == "recovered_packets_total" {
            recovered = value;
        }
    });
    assert!(recovered > 0.0);
    // Without repair lost packets stay lost.
    let (_, plain, _) = Live::new(none::None.into(), p, 2).run();
    let error = (p * (1.0 - p) / plain.source as f64).sqrt();
    assert!((plain.residual_rate() - p).abs() < 5.0 * error, "{}", plain.residual_rate());
    assert!(repaired.residual_rate() < plain.residual_rate() / 20.0, "{repaired:?}");
}

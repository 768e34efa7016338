//! The lock-in of GENEVA: streams at their maximum window sustain the loss that sustains their windows.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::receiver::Receiver;
use thalweg_core::session::live::sender::{self, Breaker, Sender};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Path;

use crate::live::guards::at_its_greatest;
use crate::live::props::{PAYLOAD, address, at, metrics, ms, payload, receiver_config, sender_config, wire};

const STREAMS: usize = 10;

struct Crowd {
    now: Time,
    pairs: Vec<(Sender, Receiver)>,
    forward: Path,
    reverse: Path,
    gap: Span,
    due: Vec<Time>,
}

impl Crowd {
    fn new(breaker: Breaker) -> Crowd {
        let config = sender::Config { repair: at_its_greatest(), breaker, ..sender_config() };
        let pair = |seed: usize| {
            let rng = Rng::new(seed as u64);
            (Sender::new(config.clone(), Time::ZERO, &rng), Receiver::new(receiver_config(), &rng.fork("receiver")))
        };
        let link = DropTail::new(Rate::from_mbps(850), Limit::Packets(100));
        Crowd {
            now: Time::ZERO,
            pairs: (0..STREAMS).map(pair).collect(),
            forward: Path::default().then("link", link).then("wire", Wire::new(ms(5))),
            reverse: wire(ms(5)),
            gap: Rate::from_mbps(30).time_for(Bytes(PAYLOAD as u64)),
            // Staggered: sources have no common clock.
            due: (0..STREAMS).map(|stream| at(100) + Span::from_micros(1111) * stream as u64).collect(),
        }
    }

    fn until(&mut self, end: Time) {
        while self.now <= end {
            self.act();
            let sessions = self.pairs.iter().flat_map(|(s, r)| s.poll_timeout().into_iter().chain(r.poll_timeout()));
            let paths = self.forward.next().into_iter().chain(self.reverse.next());
            let next = sessions.chain(paths).chain(self.due.iter().copied()).min().expect("sources never end");
            assert!(next > self.now, "no progress at {next:?}");
            self.now = next;
        }
        check::conservation(&self.forward).expect("forward");
    }

    fn act(&mut self) {
        let (now, mut buf) = (self.now, [0; MAX_DATAGRAM]);
        while let Some(Packet { flow, body: Body::Datagram(bytes), .. }) = self.forward.poll(now) {
            let _ = self.pairs[flow as usize].1.handle_datagram(now, address("10.0.0.1:5000"), &bytes);
        }
        while let Some(Packet { flow, body: Body::Datagram(bytes), .. }) = self.reverse.poll(now) {
            let _ = self.pairs[flow as usize].0.handle_datagram(now, address("10.0.0.2:6000"), &bytes);
        }
        for (flow, (sender, receiver)) in self.pairs.iter_mut().enumerate() {
            while self.due[flow] <= now {
                sender.handle_media(now, &payload(0));
                self.due[flow] += self.gap;
            }
            if sender.poll_timeout().is_some_and(|due| due <= now) {
                sender.handle_timeout(now);
            }
            while let Some(transmit) = sender.poll_transmit(now, &mut buf) {
                self.forward.accept(now, Packet::datagram(flow as u32, buf[..transmit.len].to_vec()));
            }
            if receiver.poll_timeout().is_some_and(|due| due <= now) {
                receiver.handle_timeout(now);
            }
            while receiver.poll_media(now).is_some() {}
            while let Some(transmit) = receiver.poll_transmit(now, &mut buf) {
                self.reverse.accept(now, Packet::datagram(flow as u32, buf[..transmit.len].to_vec()));
            }
        }
    }

    fn windows(&self) -> Vec<f64> {
        self.pairs.iter().map(|(sender, _)| metrics(sender)["repair_window_packets"]).collect()
    }
}

#[test]
fn ten_streams_at_their_greatest_window_stay_there_without_a_brake() {
    let mut crowd = Crowd::new(Breaker::Off);
    crowd.until(at(5000));
    let windows = crowd.windows();
    assert!(windows.iter().all(|window| *window >= 50.0), "the fault that the brake is for: {windows:?}");
}

#[test]
fn with_the_brake_they_come_back() {
    let mut crowd = Crowd::new(Breaker::RepairFirst);
    crowd.until(at(12_000));
    let windows = crowd.windows();
    assert!(windows.iter().all(|window| *window <= 10.0), "{windows:?}");
    for (sender, _) in &crowd.pairs {
        let metrics = metrics(sender);
        assert!(metrics["loss_before_repair_ratio"] < 0.001, "{metrics:?}");
    }
}

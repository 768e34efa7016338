//! One path, once for the emulator and once for the lab.

use std::time::Duration;

use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::law::window::{Choice, Playback, Start};
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_lab::experiment::{AccessRange, Ended, Experiment, Group, Kind, Run, StoredVideo, Tcp};
use thalweg_lab::network::{Direction, Hop};
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Element;
use thalweg_lab::tcp::sender::MSS;
use thalweg_lab::tcp::{DELAYED_ACK, Dialect, Recovery, Timeouts};

use crate::bulk::Bulk;

/// A bottleneck with a drop-tail queue, and the round trip around it.
#[derive(Clone, Copy)]
pub(crate) struct Dumbbell {
    pub(crate) mbit: u64,
    pub(crate) rtt_ms: u64,
    /// The limit of the queue in packets.
    pub(crate) queue: u64,
    /// Share of packets lost at random in front of it.
    pub(crate) loss: f64,
}

impl Dumbbell {
    /// The path as a scenario of the emulator.
    pub(crate) fn scenario(&self, seed: u64) -> String {
        let Dumbbell { mbit, queue, loss, .. } = self;
        let one_way = self.rtt_ms * 500;
        format!(
            r#"seed = {seed}
forward.element = [
    {{ kind = "loss", rate = {loss:?} }},
    {{ kind = "drop_tail", rate = "{mbit}mbit", queue = {queue} }},
    {{ kind = "wire", delay = "{one_way}us" }},
]
reverse.element = [{{ kind = "wire", delay = "{one_way}us" }}]
"#
        )
    }

    /// The rate of the lab's TCP on this path, in bits a second of all flows.
    pub(crate) fn lab(&self, bulk: Bulk, seed: u64) -> f64 {
        let run = Run::new(&self.experiment(bulk, seed), seed).expect("a possible experiment");
        let outcome = run.finish().expect("conservation");
        let delivered = outcome.flows.iter().map(|flow| match flow.ended {
            Ended::Tcp { delivered, .. } => delivered.0,
            _ => unreachable!("all flows are TCP"),
        });
        delivered.sum::<u64>() as f64 * 8.0 / outcome.window.as_secs_f64()
    }

    fn experiment(&self, bulk: Bulk, seed: u64) -> Experiment {
        let wire = || Element::from(Wire::new(Span::from_micros(self.rtt_ms * 500)));
        let link = DropTail::new(Rate::from_mbps(self.mbit), Limit::Packets(self.queue));
        let loss = Loss::independent(self.loss, Rng::new(seed).fork("loss"));
        let hop = Hop::Lanes { forward: vec![loss.into(), link.into(), wire()], backward: vec![wire()] };
        let none = Span::ZERO..Span::ZERO;
        let flows = Group {
            name: "bulk".into(),
            kind: Kind::Tcp(tcp(bulk.control)),
            count: bulk.flows,
            // Connections of threads that are started one after the other.
            start: Span::ZERO..Span::from_millis(20),
            every: Span::ZERO,
            access: AccessRange { rate: Rate::from_mbps(100_000), near: none.clone(), far: none },
            hops: 0..1,
            direction: Direction::Forward,
            stations: 0..0,
            need: None,
        };
        let (warmup, measured) = (span(bulk.warm_up), span(bulk.measured));
        Experiment { hops: vec![hop], groups: vec![flows], share: None, duration: warmup + measured, warmup }
    }
}

/// The lab's TCP that is nearest to the kernel's; a name that the kernel does not have by itself is TCP Stream's.
fn tcp(control: &str) -> Tcp {
    let (law, video) = match control {
        "reno" => (Choice::LinuxReno(()), None),
        "cubic" => (Choice::Cubic(()), None),
        _ => {
            (Choice::TcpStream(Variant::default()), Some(StoredVideo { rate: Playback::default().rate, played: None }))
        }
    };
    Tcp {
        law: law.into(),
        start: Start::default(),
        recovery: Recovery::SackPrr,
        dialect: Dialect::Linux,
        delayed_ack: Some(DELAYED_ACK),
        timeouts: Timeouts::default(),
        mss: MSS,
        receive_window: 1 << 20,
        video,
    }
}

fn span(duration: Duration) -> Span {
    Span::from_nanos(duration.as_nanos() as u64)
}

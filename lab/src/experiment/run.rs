//! An experiment at work.

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};

use super::flow::{self, Planned};
use super::outcome::{Ended, FlowOutcome, HopOutcome, Outcome, TransferOutcome};
use super::{Experiment, Group, Impossible, Kind};
use crate::check::Leak;
use crate::network::{Network, Part, Way};
use crate::stream::live::received;

/// One seed of an experiment, between its start and its end.
#[derive(Clone, Debug)]
pub struct Run {
    network: Network,
    groups: Vec<Group>,
    flows: Vec<Planned>,
    warmup: Time,
    end: Time,
    /// What had been counted when the warm-up ended.
    before: Option<Counted>,
}

/// All counters at one instant.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) flows: Vec<FlowOutcome>,
    pub(super) hops: Vec<HopOutcome>,
}

impl Counted {
    /// What is left when an `earlier` reading of the same run is taken off.
    pub(super) fn subtract(&mut self, earlier: &Counted) {
        self.flows.iter_mut().zip(&earlier.flows).for_each(|(flow, earlier)| flow.subtract(earlier));
        self.hops.iter_mut().zip(&earlier.hops).for_each(|(hop, earlier)| hop.subtract(earlier));
    }
}

impl Run {
    /// A run that stands at time zero.
    ///
    /// # Errors
    /// The experiment does not pass [`Experiment::check`], or a flow's values are out of range.
    pub fn new(experiment: &Experiment, seed: u64) -> Result<Run, Impossible> {
        experiment.check()?;
        let root = Rng::new(seed);
        let flows = flow::plan(experiment, &root)?;
        let network = Network::new(experiment.hops.clone(), flows.len());
        let mut network = network.map_err(|error| Impossible(error.to_string()))?;
        for planned in &flows {
            flow::add(&mut network, &experiment.groups[planned.group], planned, &root)?;
        }
        Ok(Run {
            network,
            groups: experiment.groups.clone(),
            flows,
            warmup: Time::ZERO + experiment.warmup,
            end: Time::ZERO + experiment.duration,
            before: None,
        })
    }

    /// Lets everything happen that happens by `at`, or by the end of the run if that is earlier.
    pub fn until(&mut self, at: Time) {
        let at = at.min(self.end);
        if self.before.is_none() && at >= self.warmup {
            self.network.run_until(self.warmup);
            self.before = Some(self.count());
        }
        self.network.run_until(at);
    }

    /// Whether every finite transfer that was planned is over, so that a paper's run may end.
    pub fn is_delivered(&self) -> bool {
        self.flows.iter().enumerate().all(|(number, planned)| match self.network.ends(number as u32) {
            Some((Part::TcpSender(sender), _)) if planned.segments.is_some() => sender.counters().completed.is_some(),
            _ => true,
        })
    }

    /// Ends the run at `at`, or when it would have ended if that is earlier; not before the warm-up is over.
    pub fn end_at(&mut self, at: Time) {
        self.end = self.end.min(at.max(self.warmup + Span::from_nanos(1)));
    }

    /// When the run ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Runs to the end, and says what came of it.
    ///
    /// # Errors
    /// Packets were invented or forgotten: a fault of the lab.
    pub fn finish(mut self) -> Result<Outcome, Leak> {
        self.until(self.end);
        self.network.conservation()?;
        let mut counted = self.count();
        if let Some(before) = &self.before {
            counted.subtract(before);
        }
        let Counted { flows, hops } = counted;
        let packets = self.network.came(0, Way::Forward).packets;
        let window = self.end.since(self.warmup);
        Ok(Outcome { window, end: self.end, flows, hops, packets, turns: self.network.engine().turns() })
    }

    /// The groups of the experiment.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The network, for whoever watches it.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network, to be watched.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The group of a flow.
    pub fn group_of(&self, flow: u32) -> Option<usize> {
        self.flows.get(flow as usize).map(|planned| planned.group)
    }

    /// Shows what the ends of a flow let be watched, by the papers' names.
    pub fn probe(&self, flow: u32, visit: &mut Visitor<'_>) {
        if let Some((sender, receiver)) = self.network.ends(flow) {
            sender.probe(visit);
            receiver.probe(visit);
        }
    }

    /// All counters, as they stand.
    pub(super) fn count(&self) -> Counted {
        let came = |hop, way| self.network.came(hop, way);
        let hops = (0..self.network.hops())
            .map(|hop| HopOutcome { offered: came(hop, Way::Forward), returned: came(hop, Way::Backward) })
            .collect();
        let flows = self.flows.iter().enumerate().map(|(number, planned)| self.count_flow(number, planned)).collect();
        Counted { flows, hops }
    }

    fn count_flow(&self, number: usize, planned: &Planned) -> FlowOutcome {
        let group = &self.groups[planned.group];
        let ends = self.network.ends(number as u32).expect("every planned flow has ends");
        let ended = match (ends, &group.kind) {
            ((Part::TcpSender(sender), Part::TcpReceiver(receiver)), Kind::Tcp(tcp) | Kind::Transfers(tcp, _)) => {
                let counters = sender.counters();
                Ended::Tcp {
                    delivered: tcp.mss * receiver.delivered(),
                    retransmitted: counters.retransmitted,
                    timeouts: counters.timeouts,
                    transfer: planned.segments.map(|segments| TransferOutcome {
                        start: planned.start,
                        size: tcp.mss * segments,
                        completed: counters.completed,
                    }),
                    playing: receiver.player().map(|player| player.seen(self.network.engine().now())),
                }
            }
            ((Part::StreamSender(sender), Part::StreamReceiver(receiver)), Kind::Stream(stream)) => {
                Ended::Stream { packet: stream.media.packet, sent: sender.sent(), received: receiver.received() }
            }
            ((Part::LiveSender(sender), Part::LiveReceiver(receiver)), Kind::Live(live)) => {
                Ended::Stream { packet: live.packet(), sent: sender.sent(), received: received(sender, receiver) }
            }
            ((Part::TfrcSender(sender), Part::TfrcReceiver(receiver)), _) => {
                Ended::Tfrc { delivered: receiver.bytes(), sent: sender.sent(), lost: receiver.missing() }
            }
            ((_, Part::Sink(sink)), _) => Ended::Open { delivered: sink.bytes() },
            (ends, _) => unreachable!("no such pair of ends: {ends:?}"),
        };
        let (offered, waited) = (self.network.of_flow(number as u32), self.network.waited_of_flow(number as u32));
        FlowOutcome { group: planned.group, offered, waited, ended }
    }
}

//! The execution of an experiment.

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};

use super::flow::{self, Planned};
use super::outcome::{Ended, FlowOutcome, HopOutcome, Outcome, StationOutcome, TransferOutcome};
use super::sharing::Sharing;
use super::{Experiment, Failure, Group, Impossible, Kind};
use crate::end::live::received;
use crate::network::{Direction, Network, Part};
use crate::node::wifi::Link;
use crate::own::Fault;

/// An experiment with one seed, between its start and its end.
#[derive(Debug)]
pub struct Run {
    network: Network,
    groups: Vec<Group>,
    flows: Vec<Planned>,
    sharing: Option<Sharing>,
    /// The flows that have a law of one's own.
    own: Vec<u32>,
    warmup: Time,
    end: Time,
    /// The counters at the end of the warm-up.
    before: Option<Counted>,
}

/// The simulated time between two looks for faults.
const LOOK: Span = Span::from_millis(100);

/// All counters at one instant.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) flows: Vec<FlowOutcome>,
    pub(super) hops: Vec<HopOutcome>,
    pub(super) stations: Vec<StationOutcome>,
}

impl Counted {
    /// Subtracts an `earlier` reading of the same run.
    pub(super) fn subtract(&mut self, earlier: &Counted) {
        self.flows.iter_mut().zip(&earlier.flows).for_each(|(flow, earlier)| flow.subtract(earlier));
        self.hops.iter_mut().zip(&earlier.hops).for_each(|(hop, earlier)| hop.subtract(earlier));
        self.stations.iter_mut().zip(&earlier.stations).for_each(|(station, earlier)| station.subtract(earlier));
    }
}

impl Run {
    /// A run at time zero.
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
        let own = (0..).zip(&flows).filter(|(_, planned)| experiment.groups[planned.group].kind.has_own_law());
        let own = own.map(|(flow, _)| flow);
        Ok(Run {
            network,
            own: own.collect(),
            sharing: experiment.share.map(|share| Sharing::new(share, &experiment.groups, &flows)),
            groups: experiment.groups.clone(),
            flows,
            warmup: Time::ZERO + experiment.warmup,
            end: Time::ZERO + experiment.duration,
            before: None,
        })
    }

    /// Processes all events up to `at`, or up to the end of the run if that is earlier. With a [`Run::fault`] the run
    /// stands still.
    pub fn until(&mut self, at: Time) {
        let at = at.min(self.end);
        if self.before.is_none() && at >= self.warmup {
            self.advance(self.warmup);
            self.before = Some(self.count());
        }
        self.advance(at);
    }

    /// Processes all events up to `at`, or to soon after a fault.
    fn advance(&mut self, at: Time) {
        if self.own.is_empty() {
            return self.process(at);
        }
        while self.fault().is_none() {
            let step = at.min(self.network.engine().now() + LOOK);
            self.process(step);
            if step == at {
                break;
            }
        }
    }

    /// Processes all events up to `at`, and lets flows share.
    fn process(&mut self, at: Time) {
        if let Some(sharing) = &mut self.sharing {
            while sharing.next() <= at {
                let now = sharing.next();
                self.network.run_until(now);
                sharing.couple(now, &mut self.network);
            }
        }
        self.network.run_until(at);
    }

    /// True if every finite transfer that was planned is complete, so that a paper's run may end.
    pub fn is_delivered(&self) -> bool {
        self.flows.iter().enumerate().all(|(number, planned)| match self.network.ends(number as u32) {
            Some((sender, _)) if planned.segments.is_some() => {
                sender.tcp_counters().is_none_or(|counters| counters.completed.is_some())
            }
            _ => true,
        })
    }

    /// The first fault of a law of one's own, of two at one time that of the first flow. It is found at the latest 100 ms
    /// of simulated time later; the run then stands still, and [`Run::finish`] returns the fault.
    pub fn fault(&self) -> Option<&Fault> {
        let senders = self.own.iter().filter_map(|flow| self.network.ends(*flow).map(|(sender, _)| sender));
        senders.filter_map(Part::fault).min_by_key(|fault| (fault.at, fault.flow))
    }

    /// Moves the end of the run to `at` if that is earlier, but not before the end of the warm-up.
    pub fn end_at(&mut self, at: Time) {
        self.end = self.end.min(at.max(self.warmup + Span::from_nanos(1)));
    }

    /// The time at which the run ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Runs to the end, and returns the results.
    ///
    /// # Errors
    /// A law of one's own failed, or packets were invented or forgotten: a fault of the lab.
    pub fn finish(mut self) -> Result<Outcome, Failure> {
        self.until(self.end);
        if let Some(fault) = self.fault() {
            return Err(fault.clone().into());
        }
        self.network.conservation()?;
        let mut counted = self.count();
        if let Some(before) = &self.before {
            counted.subtract(before);
        }
        let Counted { flows, hops, stations } = counted;
        let packets = self.network.came(0, Direction::Forward).packets;
        let window = self.end.since(self.warmup);
        let turns = self.network.engine().turns();
        Ok(Outcome { window, end: self.end, flows, hops, stations, packets, turns })
    }

    /// The groups of the experiment.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The network, for observation.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network, to set up its observation.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The group of a flow.
    pub fn group_of(&self, flow: u32) -> Option<usize> {
        self.flows.get(flow as usize).map(|planned| planned.group)
    }

    /// Reports the values that the endpoints of a flow expose, under the papers' names.
    pub fn probe(&self, flow: u32, visit: &mut Visitor<'_>) {
        if let Some((sender, receiver)) = self.network.ends(flow) {
            sender.probe(visit);
            receiver.probe(visit);
        }
    }

    /// The current values of all counters.
    pub(super) fn count(&self) -> Counted {
        let came = |hop, direction| self.network.came(hop, direction);
        let hops = (0..self.network.hops())
            .map(|hop| HopOutcome { offered: came(hop, Direction::Forward), returned: came(hop, Direction::Backward) })
            .collect();
        let flows = self.flows.iter().enumerate().map(|(number, planned)| self.count_flow(number, planned)).collect();
        let cells = (0..self.network.hops()).filter_map(|hop| self.network.cell(hop));
        let stations = cells.flat_map(|cell| {
            cell.stations().iter().enumerate().map(|(number, station)| StationOutcome {
                name: station.name.clone(),
                down: cell.counters(Link::Down(number)),
                up: cell.counters(Link::Up(number)),
            })
        });
        Counted { flows, hops, stations: stations.collect() }
    }

    fn count_flow(&self, number: usize, planned: &Planned) -> FlowOutcome {
        let group = &self.groups[planned.group];
        let ends = self.network.ends(number as u32).expect("every planned flow has ends");
        let ended = match (ends, &group.kind) {
            ((sender, Part::TcpReceiver(receiver)), Kind::Tcp(tcp) | Kind::Transfers(tcp, _)) => {
                let counters = sender.tcp_counters().expect("the peer of a TCP receiver is a TCP sender");
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
            ((sender, Part::StreamReceiver(receiver)), Kind::Stream(stream)) => {
                let sent = sender.stream_counters().expect("the peer of a stream's receiver is its sender");
                Ended::Stream { packet: stream.media.packet, sent, received: receiver.received() }
            }
            ((Part::LiveSender(sender), Part::LiveReceiver(receiver)), Kind::Live(live)) => {
                Ended::Stream { packet: live.packet(), sent: sender.sent(), received: received(sender, receiver) }
            }
            ((Part::TunnelSender(sender), Part::TunnelReceiver(receiver)), _) => {
                let (counts, reader) = (receiver.session().received(), receiver.application());
                Ended::Tunnel {
                    delivered: reader.delivered(),
                    sent: sender.session().sent(),
                    innovative: counts.innovative,
                    useless: counts.redundant + counts.duplicate,
                    delays: reader.delays().clone(),
                }
            }
            ((Part::StoredSender(_), Part::StoredReceiver(receiver)), _) => {
                let now = self.network.engine().now();
                Ended::Stored(receiver.application().playback(now, receiver.session()))
            }
            ((Part::TfrcSender(sender), Part::TfrcReceiver(receiver)), _) => {
                let transit = receiver.transit();
                Ended::Tfrc { delivered: receiver.bytes(), sent: sender.sent(), lost: receiver.missing(), transit }
            }
            ((_, Part::Sink(sink)), _) => Ended::Open { delivered: sink.bytes() },
            (ends, _) => unreachable!("no such pair of ends: {ends:?}"),
        };
        let (offered, waited) = (self.network.of_flow(number as u32), self.network.waited_of_flow(number as u32));
        FlowOutcome { group: planned.group, need: group.need, offered, waited, ended }
    }
}

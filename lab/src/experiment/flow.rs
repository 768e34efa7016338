//! The flows of a group, with their endpoints.

use core::net::SocketAddr;

use thalweg_core::law::redundancy::Redundancy;
use thalweg_core::law::window::{self, Law, Playback};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{Breaker, SourceId};
use thalweg_core::session::live::{self, MAX_PAYLOAD};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::fecframe::PayloadId;
use thalweg_core::wire::rlc::SourcePayloadId;
use thalweg_core::wire::rtp;

use super::{Experiment, Group, Impossible, Kind, Live, Media, Stream, Tcp};
use crate::network::{Access, Network, Part};
use crate::node::ends::{Origin, Sink};
use crate::own::{self, RunningRepair, RunningWindow};
use crate::packet::HEADERS;
use crate::stream::MOST_SYMBOLS;
use crate::stream::receiver::Receiver;
use crate::stream::scheme::Scheme;
use crate::stream::sender::Sender;
use crate::tcp::{self, Dialect};
use crate::tfrc::{self, TfrcReceiver, TfrcSender, Throughput};
use crate::traffic::transfers::Transfers;
use crate::{end, stream};

/// A flow before it has endpoints.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Planned {
    /// The index of its group in the experiment.
    pub(super) group: usize,
    /// Its number in the group; transfers of one load have that of the load.
    member: usize,
    /// The start time.
    pub(super) start: Time,
    /// The number of segments that it sends, if that is finite.
    pub(super) segments: Option<u64>,
    access: Access,
}

/// Every flow of an experiment, in the order of flow numbers.
pub(super) fn plan(experiment: &Experiment, root: &Rng) -> Result<Vec<Planned>, Impossible> {
    let mut flows = Vec::new();
    for (index, group) in experiment.groups.iter().enumerate() {
        for member in 0..group.count {
            let rng = root.fork(&group.name).fork(&member.to_string());
            let single = Planned {
                group: index,
                member,
                start: Time::ZERO + within(&group.start, &mut rng.fork("start")) + group.every * member as u64,
                segments: group.kind.video().map(|(video, mss)| video.size.0.div_ceil(mss.0)),
                access: access(group, &rng),
            };
            match &group.kind {
                Kind::Transfers(_, load) => {
                    let end = Time::ZERO + experiment.duration;
                    let transfers = Transfers::new(*load, end, &rng).map_err(|unfit| Impossible(unfit.to_string()))?;
                    flows.extend(transfers.enumerate().map(|(number, transfer)| Planned {
                        start: transfer.start,
                        segments: Some(transfer.segments),
                        access: access(group, &rng.fork(&number.to_string())),
                        ..single
                    }));
                }
                _ => flows.push(single),
            }
        }
    }
    Ok(flows)
}

fn access(group: &Group, rng: &Rng) -> Access {
    let near = within(&group.access.near, &mut rng.fork("near"));
    Access { rate: group.access.rate, near, far: within(&group.access.far, &mut rng.fork("far")) }
}

/// A random instant of `range`; its start if the range is empty.
fn within(range: &core::ops::Range<Span>, rng: &mut Rng) -> Span {
    range.start + Span::from_nanos(rng.below(range.end.saturating_sub(range.start).as_nanos()))
}

/// Adds the endpoints of a planned flow to the network; their own random draws derive from `root`.
pub(super) fn add(network: &mut Network, group: &Group, planned: &Planned, root: &Rng) -> Result<(), Impossible> {
    let (flow, access, course) = (network.next_flow(), planned.access, group.course(planned.member));
    let rng = root.fork(&group.name).fork(&flow.to_string());
    let at = Flow { flow, group: &group.name, planned, rng: &rng };
    match &group.kind {
        Kind::Tcp(tcp) | Kind::Transfers(tcp, _) => {
            let (sender, receiver) = tcp.ends(&at)?;
            network.add(sender, receiver, access, course);
        }
        Kind::Stream(stream) => {
            let (sender, receiver) = stream.ends(&at)?;
            network.add(sender, receiver, access, course);
        }
        Kind::Live(live) => {
            let (sender, receiver) = live.ends(&at)?;
            network.add(sender, receiver, access, course);
        }
        Kind::Tunnel(tunnel) => {
            let (sender, receiver) = tunnel.ends(flow, planned.start, &rng).map_err(Impossible)?;
            network.add(sender, receiver, access, course);
        }
        Kind::Stored(stored) => {
            let ends = stored.ends(flow, planned.start, &rng);
            let (sender, receiver) = ends.map_err(|error| Impossible(error.to_string()))?;
            network.add(sender, receiver, access, course);
        }
        Kind::Tfrc(media, greediness) => {
            let Media { rate, packet } = *media;
            let equation = greediness.map_or_else(Throughput::default, Throughput::Gca);
            let config = tfrc::Config { flow, start: planned.start, packet, rate, equation, ..tfrc::Config::default() };
            let sender = TfrcSender::new(config).map_err(|error| Impossible(error.to_string()))?;
            network.add(sender, TfrcReceiver::new(flow, packet, equation), access, course);
        }
        Kind::Open(source) => {
            let until = source.until.map_or(Time::NEVER, |until| Time::ZERO + until);
            let origin = Origin::new(flow, source.traffic.clone(), planned.start.since(Time::ZERO)).until(until);
            network.add(origin, Sink::default(), access, course);
        }
    }
    Ok(())
}

/// A flow whose endpoints are made.
struct Flow<'a> {
    flow: u32,
    /// The name of its group.
    group: &'a str,
    planned: &'a Planned,
    /// The root of the random numbers of its endpoints.
    rng: &'a Rng,
}

impl Flow<'_> {
    /// The context of a law of one's own.
    fn context<C>(&self, config: C) -> own::Context<C> {
        own::Context { config, flow: self.flow, group: self.group.to_owned(), rng: self.rng.fork("law") }
    }
}

impl Tcp {
    fn ends(&self, at: &Flow<'_>) -> Result<(Part, tcp::Receiver), Impossible> {
        let (flow, planned) = (at.flow, at.planned);
        let config = tcp::SenderConfig {
            start: planned.start,
            segments: planned.segments,
            mss: self.mss,
            recovery: self.recovery,
            dialect: self.dialect,
            receive_window: self.receive_window,
            timeouts: self.timeouts,
            ..tcp::SenderConfig::new(flow)
        };
        let sack = self.recovery.has_sack();
        let receiver = tcp::ReceiverConfig { sack, delay: self.delayed_ack, ..tcp::ReceiverConfig::new(flow) };
        let playback = self.video.map(|video| Playback { rate: video.rate, mss: self.mss });
        let start = window::Config { start: self.start, playback };
        let sender = match &self.law {
            tcp::Law::BuiltIn(choice) => {
                let law = Law::new(choice, &start).map_err(|error| Impossible(error.to_string()))?;
                tcp::Sender::new(config, in_dialect(law, self.dialect)).into()
            }
            tcp::Law::Own(own) => tcp::Sender::new(config, RunningWindow::begin(own, &at.context(start))).into(),
        };
        let receiver = tcp::Receiver::new(receiver);
        let receiver = match self.video.and_then(|video| video.played) {
            Some(video) => receiver.with_player(tcp::Player::new(video, self.mss, planned.start)),
            None => receiver,
        };
        Ok((sender, receiver))
    }
}

/// The law as the implementations of `dialect` have it.
fn in_dialect(law: Law, dialect: Dialect) -> Law {
    match (law, dialect) {
        (Law::NewReno(law), Dialect::Ns3) => law.counting_acks().into(),
        (Law::LinuxReno(law), Dialect::Ns3) => law.keeping_count().into(),
        (Law::Cubic(law), Dialect::Linux) => law.like_linux().into(),
        (law, _) => law,
    }
}

impl Stream {
    fn ends(&self, at: &Flow<'_>) -> Result<(Part, Receiver), Impossible> {
        let config = stream::sender::Config {
            flow: at.flow,
            start: at.planned.start,
            stop: None,
            rate: self.media.rate,
            packet: self.media.packet,
            syn: self.syn,
            scheme: self.scheme.clone(),
            srtt: self.srtt,
        };
        let sender = match &self.scheme {
            Scheme::Own(own) => {
                let Stream { media: Media { rate, packet }, syn, .. } = *self;
                let begin = |k: f64| {
                    let most = MOST_SYMBOLS.saturating_sub(k.ceil() as u64) as u32;
                    RunningRepair::begin(own, &at.context(own::Blocks { rate, packet, syn, k, most }))
                };
                Sender::with_law(config, |_, k| Ok(begin(k))).map(Part::from)
            }
            _ => Sender::new(config).map(Part::from),
        };
        let sender = sender.map_err(|error| Impossible(error.to_string()))?;
        let listens = self.scheme.has_blocks();
        let reports = listens.then_some(self.reports);
        Ok((sender, Receiver::new(stream::receiver::Config { flow: at.flow, syn: self.syn, reports })))
    }
}

impl Live {
    /// Checks that a session can carry the stream.
    ///
    /// # Errors
    /// Names what is impossible.
    pub(crate) fn check(&self) -> Result<(), Impossible> {
        match (self.payload(), self.media.rate.as_bps(), self.headers().0) {
            (Bytes(0), _, headers) | (_, 0, headers) => Err(Impossible(format!(
                "live packets of {} bytes carry no media, expected more than the {headers} bytes of their headers",
                self.media.packet.0
            ))),
            _ => Ok(()),
        }
    }

    /// The payload of one datagram of its media.
    fn payload(&self) -> Bytes {
        Bytes(self.media.packet.0.saturating_sub(self.headers().0).min(MAX_PAYLOAD as u64))
    }

    /// The overhead of a source packet on the wire, before and behind its media.
    fn headers(&self) -> Bytes {
        let id = match self.repair.deadline() {
            Some(_) => SourcePayloadId::LEN,
            None if self.repair.is_none() => 0,
            None => PayloadId::LEN,
        };
        HEADERS + Bytes((rtp::HEADER_LEN + id) as u64)
    }

    /// The size of a source packet on the wire.
    pub(super) fn packet(&self) -> Bytes {
        self.payload() + self.headers()
    }

    fn ends(&self, at: &Flow<'_>) -> Result<(end::live::Sender, end::live::Receiver), Impossible> {
        let Flow { flow, planned, rng, .. } = *at;
        self.check()?;
        let (payload, packet) = (self.payload(), self.packet());
        let [from, to] = [5_000, 6_000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let session = live::sender::Config {
            to,
            listens: false,
            fec_to: None,
            media: live::Media::Opaque,
            repair: self.repair.clone(),
            latency: self.latency.into(),
            max_rate: self.max_rate,
            rate: self.rate_law.clone(),
            block: None,
            source_id: SourceId::Explicit,
            // As by default in `thalweg send`.
            breaker: if self.rate_law.is_some() { Breaker::Rfc8083 } else { Breaker::RepairFirst },
            answer_timeout: None,
        };
        let media = u128::from(self.media.rate.as_bps()) * u128::from(payload.0) / u128::from(packet.0);
        let rate = Rate::from_bps(media.max(1) as u64);
        let (start, follows) = (planned.start, self.follows);
        let pause = self.pause.clone().map(|pause| Time::ZERO + pause.start..Time::ZERO + pause.end);
        let config = end::live::Config { flow, session, start, stop: None, rate, follows, pause, payload };
        let receiver = live::receiver::Config { latency: self.latency.into(), ..Default::default() };
        let receiver = end::live::Receiver::of(flow, receiver, from, &rng.fork("receiver"));
        Ok((end::live::Sender::of(config, &rng.fork("sender")), receiver))
    }
}

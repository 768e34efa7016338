//! How a group becomes flows.

use core::net::SocketAddr;

use thalweg_core::law::window::clamp::Clamp;
use thalweg_core::law::window::cubic::Cubic;
use thalweg_core::law::window::linux_reno::LinuxReno;
use thalweg_core::law::window::newreno::NewReno;
use thalweg_core::law::window::tcp_stream::TcpStream;
use thalweg_core::law::window::{Flavour, Playback, Window};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{Breaker, Repair, SourceId};
use thalweg_core::session::live::{self, MAX_PAYLOAD};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::fecframe::PayloadId;
use thalweg_core::wire::rtp;

use super::{Experiment, Group, Impossible, Kind, Live, Media, Stream, Tcp};
use crate::network::{Access, Network};
use crate::node::ends::{Origin, Sink};
use crate::packet::HEADERS;
use crate::stream;
use crate::stream::receiver::Receiver;
use crate::stream::scheme::Scheme;
use crate::stream::sender::Sender;
use crate::tcp::{self, Dialect};
use crate::tfrc::{self, TfrcReceiver, TfrcSender};
use crate::traffic::transfers::Transfers;

/// A flow before it has ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Planned {
    /// Its group, by its place in the experiment.
    pub(super) group: usize,
    /// When it starts.
    pub(super) start: Time,
    /// How much it sends, if that is finite.
    pub(super) segments: Option<u64>,
    access: Access,
}

/// Every flow of an experiment, in the order of its numbers.
pub(super) fn plan(experiment: &Experiment, root: &Rng) -> Result<Vec<Planned>, Impossible> {
    let mut flows = Vec::new();
    for (index, group) in experiment.groups.iter().enumerate() {
        for member in 0..group.count {
            let rng = root.fork(&group.name).fork(&member.to_string());
            let single = Planned {
                group: index,
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

/// A moment of `range`, its start if it is empty.
fn within(range: &core::ops::Range<Span>, rng: &mut Rng) -> Span {
    range.start + Span::from_nanos(rng.below(range.end.saturating_sub(range.start).as_nanos()))
}

/// Gives a planned flow its ends, whose own draws grow from `root`.
pub(super) fn add(network: &mut Network, group: &Group, planned: &Planned, root: &Rng) -> Result<(), Impossible> {
    let (flow, access, hops) = (network.next_flow(), planned.access, group.hops.clone());
    match &group.kind {
        Kind::Tcp(tcp) | Kind::Transfers(tcp, _) => {
            let (sender, receiver) = tcp.ends(flow, planned);
            network.add(sender, receiver, access, hops);
        }
        Kind::Stream(stream) => {
            let (sender, receiver) = stream.ends(flow, planned)?;
            network.add(sender, receiver, access, hops);
        }
        Kind::Live(live) => {
            let (sender, receiver) = live.ends(flow, planned, &root.fork(&group.name).fork(&flow.to_string()))?;
            network.add(sender, receiver, access, hops);
        }
        Kind::Tfrc(media) => {
            let Media { rate, packet } = *media;
            let config = tfrc::Config { flow, start: planned.start, packet, rate, ..tfrc::Config::default() };
            let sender = TfrcSender::new(config).map_err(|error| Impossible(error.to_string()))?;
            network.add(sender, TfrcReceiver::new(flow, packet), access, hops);
        }
        Kind::Open(traffic) => {
            let origin = Origin::new(flow, traffic.clone(), planned.start.since(Time::ZERO));
            network.add(origin, Sink::default(), access, hops);
        }
    }
    Ok(())
}

impl Tcp {
    fn ends(&self, flow: u32, planned: &Planned) -> (tcp::Sender<Window>, tcp::Receiver) {
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
        let film = self.film.map(|film| (Playback { rate: film.rate, mss: self.mss }, film));
        let law = match (self.flavour, self.dialect) {
            (Flavour::NewReno, Dialect::Ns3) => Window::NewReno(NewReno::new(self.start).counting_acks()),
            (Flavour::LinuxReno, Dialect::Ns3) => Window::LinuxReno(LinuxReno::new(self.start).keeping_count()),
            (Flavour::Cubic, Dialect::Linux) => Window::Cubic(Cubic::new(self.start).like_linux()),
            (flavour, _) => match (flavour, film) {
                (Flavour::TcpStream, Some((playback, film))) => {
                    Window::TcpStream(TcpStream::new(self.start, playback, film.variant))
                }
                (Flavour::Clamp, Some((playback, _))) => Window::Clamp(Clamp::new(self.start, playback)),
                _ => Window::new(flavour, self.start),
            },
        };
        let receiver = tcp::Receiver::new(receiver);
        let receiver = match self.film.and_then(|film| film.video) {
            Some(video) => receiver.with_player(tcp::Player::new(video, self.mss, planned.start)),
            None => receiver,
        };
        (tcp::Sender::new(config, law), receiver)
    }
}

impl Stream {
    fn ends(&self, flow: u32, planned: &Planned) -> Result<(Sender, Receiver), Impossible> {
        let sender = Sender::new(stream::sender::Config {
            flow,
            start: planned.start,
            stop: None,
            rate: self.media.rate,
            packet: self.media.packet,
            syn: self.syn,
            scheme: self.scheme.clone(),
            srtt: self.srtt,
        });
        let sender = sender.map_err(|error| Impossible(error.to_string()))?;
        let listens = !matches!(self.scheme, Scheme::Udp | Scheme::Cbr(_));
        let reports = listens.then_some(self.reports);
        Ok((sender, Receiver::new(stream::receiver::Config { flow, syn: self.syn, reports })))
    }
}

impl Live {
    /// Whether a session can carry it.
    ///
    /// # Errors
    /// Says what is impossible.
    pub(crate) fn check(&self) -> Result<(), Impossible> {
        match (self.payload(), self.media.rate.as_bps(), self.headers().0) {
            (Bytes(0), _, headers) | (_, 0, headers) => Err(Impossible(format!(
                "live packets of {} bytes carry no media, expected more than the {headers} bytes of their headers",
                self.media.packet.0
            ))),
            _ => Ok(()),
        }
    }

    /// A datagram of its media.
    fn payload(&self) -> Bytes {
        Bytes(self.media.packet.0.saturating_sub(self.headers().0).min(MAX_PAYLOAD as u64))
    }

    /// What a source packet has on the wire before and behind its media.
    fn headers(&self) -> Bytes {
        let id = if self.repair == Repair::None { 0 } else { PayloadId::LEN };
        HEADERS + Bytes((rtp::HEADER_LEN + id) as u64)
    }

    /// A source packet on the wire.
    pub(super) fn packet(&self) -> Bytes {
        self.payload() + self.headers()
    }

    fn ends(
        &self,
        flow: u32,
        planned: &Planned,
        rng: &Rng,
    ) -> Result<(stream::live::Sender, stream::live::Receiver), Impossible> {
        self.check()?;
        let (payload, packet) = (self.payload(), self.packet());
        let [from, to] = [5_000, 6_000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let session = live::sender::Config {
            to,
            fec_to: None,
            media: live::Media::Opaque,
            repair: self.repair.clone(),
            latency: self.latency,
            max_rate: None,
            block: None,
            source_id: SourceId::Explicit,
            breaker: Breaker::RepairFirst,
            answer_timeout: None,
        };
        let media = u128::from(self.media.rate.as_bps()) * u128::from(payload.0) / u128::from(packet.0);
        let rate = Rate::from_bps(media.max(1) as u64);
        let config = stream::live::Config { flow, session, start: planned.start, stop: None, rate, payload };
        let hearing = live::receiver::Config { latency: self.latency, ..Default::default() };
        let receiver = stream::live::Receiver::new(flow, hearing, from, &rng.fork("receiver"));
        Ok((stream::live::Sender::new(config, &rng.fork("sender")), receiver))
    }
}

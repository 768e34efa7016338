//! Streams of one endpoint, and their receivers behind one link, in virtual time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use thalweg_core::law::rate;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::share::{Coupling, Norm};
use thalweg_core::law::redundancy::none;
use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::session::live::Playout;
use thalweg_core::session::live::receiver::{self, Receiver};
use thalweg_core::session::live::sender::{Breaker, Config};
use thalweg_core::units::Rate;

use crate::endpoint::share::*;
use crate::endpoint::{Retry, Shed};

const STEP: Span = Span::from_millis(1);
/// The delay of each way.
const DELAY: Span = Span::from_micros(12_500);
/// The link, and its queue in packets.
const LINK: Rate = Rate::from_mbps(6);
const QUEUE: usize = 30;
const LATENCY: Span = Span::from_millis(150);
/// The payload of each media datagram.
const MEDIA: [u8; 1316] = [7; 1316];
/// The rate of each source until its stream wants another.
const START: f64 = 5e5;
/// The least rate of each source, that of `--least`.
const LEAST: f64 = 3e5;

/// Plans that a test gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Script(Arc<Mutex<VecDeque<Result<Plan, Error>>>>);

impl Script {
    pub(super) fn push(&self, plan: Result<Plan, Error>) {
        self.0.lock().expect("no test has panicked").push_back(plan);
    }
}

impl Plans for Script {
    fn poll(&mut self) -> Option<Result<Plan, Error>> {
        self.0.lock().expect("no test has panicked").pop_front()
    }
}

pub(super) fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

/// The stream `name`, to the receiver at `port`.
pub(super) fn planned(name: &str, port: u16, mbps: u64) -> Planned {
    let config = Config {
        latency: LATENCY.into(),
        rate: Some(rate::Choice::Gca(Greediness::default())),
        breaker: Breaker::Rfc8083,
        ..Config::new(address(port), none::None.into())
    };
    let (need, input) = (Rate::from_mbps(mbps), "udp://127.0.0.1:0".parse().expect("an endpoint"));
    Planned {
        name: name.to_owned(),
        group: "all".to_owned(),
        need,
        most: need,
        input,
        config,
        retry: Retry::Always,
        shed: Shed::Pictures,
    }
}

pub(super) fn plan(coupling: Coupling, streams: &[Planned]) -> Plan {
    Plan { streams: streams.to_vec(), coupling, norm: Norm::Sum }
}

/// Receivers behind one link with a drop-tail queue, in virtual time.
pub(super) struct World {
    pub(super) now: Time,
    pub(super) script: Script,
    pub(super) endpoint: ShareEndpoint,
    pub(super) receivers: Vec<(u16, Receiver)>,
    /// Datagrams on the link, with the times at which they have crossed it, and the ports of their receivers.
    link: VecDeque<(Time, u16, Vec<u8>)>,
    /// Datagrams on the way back.
    back: VecDeque<(Time, u16, Vec<u8>)>,
    /// The bytes that each source owes, by the number of its stream.
    owed: Vec<f64>,
    /// The media bytes that each receiver has delivered, in the order of the receivers.
    pub(super) delivered: Vec<u64>,
    /// The port of a receiver whose datagrams are lost.
    pub(super) muted: Option<u16>,
    pub(super) reports: Vec<Report>,
}

impl World {
    pub(super) fn new(first: Plan) -> World {
        let script = Script::default();
        let receivers = first.streams.iter().map(|stream| stream.config.to.port()).map(|port| (port, receiver(port)));
        let receivers: Vec<_> = receivers.collect();
        script.push(Ok(first));
        let endpoint = ShareEndpoint::new(Time::ZERO, &Rng::new(1), Box::new(script.clone())).expect("free ports");
        World {
            now: Time::ZERO,
            script,
            endpoint,
            delivered: vec![0; receivers.len()],
            receivers,
            link: VecDeque::new(),
            back: VecDeque::new(),
            owed: Vec::new(),
            muted: None,
            reports: Vec::new(),
        }
    }

    pub(super) fn add_receiver(&mut self, port: u16) {
        self.receivers.push((port, receiver(port)));
        self.delivered.push(0);
    }

    /// Runs for `seconds`; returns the rate of each receiver in that time, in Mb/s.
    pub(super) fn run(&mut self, seconds: u64) -> Vec<f64> {
        let (end, before) = (self.now + Span::from_secs(seconds), self.delivered.clone());
        while self.now < end {
            self.now += STEP;
            self.produce();
            self.send();
            self.receive();
        }
        let rates = self.delivered.iter().enumerate();
        let since = |nth: usize| before.get(nth).copied().unwrap_or(0);
        rates.map(|(nth, bytes)| (bytes - since(nth)) as f64 * 8e-6 / seconds as f64).collect()
    }

    /// Passes media of the wanted rates to the sessions, at most what their streams need.
    fn produce(&mut self) {
        self.owed.resize(self.endpoint.begun as usize, 0.0);
        for stream in &mut self.endpoint.streams {
            let wanted = Figures::read(&stream.endpoint).get("wanted_rate_bps");
            let rate =
                if wanted.is_finite() { wanted.max(LEAST) } else { START }.min(stream.planned.need.as_bps() as f64);
            let owed = &mut self.owed[stream.id.0 as usize];
            *owed += rate / 8.0 * STEP.as_secs_f64();
            while *owed >= MEDIA.len() as f64 {
                *owed -= MEDIA.len() as f64;
                stream.endpoint.session().handle_media(self.now, &MEDIA);
            }
        }
    }

    fn send(&mut self) {
        let World { now, endpoint, link, .. } = self;
        if endpoint.poll_timeout().is_some_and(|due| due <= *now) {
            endpoint.handle_timeout(*now);
        }
        let mut interests = Interests::new();
        endpoint.interests(&mut interests);
        let mut ready = interests.wait(Span::ZERO).expect("a look at the inputs");
        endpoint.exchange(*now, &mut ready).expect("an input");
        let mut buf = [0; MAX_DATAGRAM];
        while let Some(transmit) = endpoint.poll_transmit(*now, &mut buf) {
            if link.len() < QUEUE {
                let starts = link.back().map_or(*now, |(crossed, ..)| *crossed - DELAY).max(*now);
                let crossed = starts + LINK.time_for(thalweg_core::units::Bytes(transmit.len as u64 + 28));
                link.push_back((crossed + DELAY, transmit.to.port(), buf[..transmit.len].to_vec()));
            }
        }
        self.reports.extend(std::iter::from_fn(|| endpoint.poll_report()));
    }

    fn receive(&mut self) {
        let World { now, endpoint, receivers, link, back, delivered, muted, .. } = self;
        while let Some((_, port, bytes)) = link.pop_front_if(|(at, ..)| *at <= *now) {
            if let Some((_, receiver)) = receivers.iter_mut().find(|(known, _)| *known == port) {
                let _ = receiver.handle_datagram(*now, address(5000), &bytes);
            }
        }
        for ((port, receiver), delivered) in receivers.iter_mut().zip(delivered) {
            if receiver.poll_timeout().is_some_and(|due| due <= *now) {
                receiver.handle_timeout(*now);
            }
            while let Some(media) = receiver.poll_media(*now) {
                *delivered += media.len() as u64;
            }
            let mut buf = [0; MAX_DATAGRAM];
            while let Some(transmit) = receiver.poll_transmit(*now, &mut buf) {
                if *muted != Some(*port) {
                    back.push_back((*now + DELAY, *port, buf[..transmit.len].to_vec()));
                }
            }
        }
        while let Some((_, port, bytes)) = back.pop_front_if(|(at, ..)| *at <= *now) {
            let _ = endpoint.handle_datagram(*now, address(port), &bytes);
        }
    }

    /// The warnings, but for those that no media arrives at an input: the world passes media to the sessions.
    pub(super) fn warnings(&self) -> Vec<&Report> {
        let is_one = |report: &&Report| report.event == "warning" && !report.text.ends_with("no media for 5s");
        self.reports.iter().filter(is_one).collect()
    }

    pub(super) fn events(&self, event: &str) -> usize {
        self.reports.iter().filter(|report| report.event == event).count()
    }

    pub(super) fn figure(&self, name: &str, metric: &str) -> f64 {
        let figures = self.endpoint.figures();
        figures.iter().find(|figures| figures.stream() == Some(name)).map_or(f64::NAN, |figures| figures.get(metric))
    }
}

pub(super) fn receiver(port: u16) -> Receiver {
    let config = receiver::Config { latency: LATENCY.into(), playout: Playout::Asap, ..Default::default() };
    Receiver::new(config, &Rng::new(u64::from(port)))
}

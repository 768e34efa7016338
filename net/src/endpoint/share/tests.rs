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

use super::*;
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

/// Plans that a test gives.
#[derive(Clone, Debug, Default)]
struct Script(Arc<Mutex<VecDeque<Result<Plan, Error>>>>);

impl Script {
    fn push(&self, plan: Result<Plan, Error>) {
        self.0.lock().expect("no test has panicked").push_back(plan);
    }
}

impl Plans for Script {
    fn poll(&mut self) -> Option<Result<Plan, Error>> {
        self.0.lock().expect("no test has panicked").pop_front()
    }
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

/// The stream `name`, to the receiver at `port`.
fn planned(name: &str, port: u16, mbps: u64) -> Planned {
    let config = Config {
        latency: LATENCY,
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

fn plan(coupling: Coupling, streams: &[Planned]) -> Plan {
    Plan { streams: streams.to_vec(), coupling, norm: Norm::Sum }
}

/// Receivers behind one link with a drop-tail queue, in virtual time.
struct World {
    now: Time,
    script: Script,
    endpoint: ShareEndpoint,
    receivers: Vec<(u16, Receiver)>,
    /// Datagrams on the link, with the times at which they have crossed it, and the ports of their receivers.
    link: VecDeque<(Time, u16, Vec<u8>)>,
    /// Datagrams on the way back.
    back: VecDeque<(Time, u16, Vec<u8>)>,
    /// The bytes that each source owes, by the number of its stream.
    owed: Vec<f64>,
    /// The media bytes that each receiver has delivered, in the order of the receivers.
    delivered: Vec<u64>,
    reports: Vec<Report>,
}

impl World {
    fn new(first: Plan) -> World {
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
            reports: Vec::new(),
        }
    }

    fn add_receiver(&mut self, port: u16) {
        self.receivers.push((port, receiver(port)));
        self.delivered.push(0);
    }

    /// Runs for `seconds`; returns the rate of each receiver in that time, in Mb/s.
    fn run(&mut self, seconds: u64) -> Vec<f64> {
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
            let rate = if wanted.is_finite() { wanted } else { START }.min(stream.planned.need.as_bps() as f64);
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
        let World { now, endpoint, receivers, link, back, delivered, .. } = self;
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
                back.push_back((*now + DELAY, *port, buf[..transmit.len].to_vec()));
            }
        }
        while let Some((_, port, bytes)) = back.pop_front_if(|(at, ..)| *at <= *now) {
            let _ = endpoint.handle_datagram(*now, address(port), &bytes);
        }
    }

    fn events(&self, event: &str) -> usize {
        self.reports.iter().filter(|report| report.event == event).count()
    }

    fn figure(&self, name: &str, metric: &str) -> f64 {
        let figures = self.endpoint.figures();
        figures.iter().find(|figures| figures.stream() == Some(name)).map_or(f64::NAN, |figures| figures.get(metric))
    }
}

fn receiver(port: u16) -> Receiver {
    let config = receiver::Config { latency: LATENCY, playout: Playout::Asap, ..Default::default() };
    Receiver::new(config, &Rng::new(u64::from(port)))
}

/// The largest share of a need less the smallest.
fn spread(rates: &[f64], needs: &[f64]) -> f64 {
    let shares: Vec<f64> = rates.iter().zip(needs).map(|(rate, need)| rate / need).collect();
    shares.iter().copied().fold(0.0, f64::max) - shares.iter().copied().fold(f64::INFINITY, f64::min)
}

fn three(coupling: Coupling) -> World {
    let streams = [planned("tv", 6001, 6), planned("laptop", 6002, 4), planned("phone", 6003, 2)];
    World::new(plan(coupling, &streams))
}

/// Needs of 12 Mb/s over a link of 6: each stream gets about half of its own. The bar of the issue: a spread below .15.
#[test]
fn streams_get_the_same_share_of_what_they_need() {
    for coupling in [Coupling::Measured, Coupling::Rfc8699] {
        let mut world = three(coupling);
        world.run(40);
        let rates = world.run(120);
        let spread = spread(&rates, &[6.0, 4.0, 2.0]);
        println!("{coupling}: {rates:.2?} Mb/s, spread {spread:.3}");
        assert!(spread < 0.15, "{coupling}: {rates:?}");
        assert!(rates.iter().sum::<f64>() > 4.5, "{coupling}: {rates:?}");
        let found = world.figure("tv", "satisfaction_ratio");
        assert!((0.2..0.9).contains(&found), "{found}");
    }
}

#[test]
fn changed_plan_ends_begins_and_resizes_streams_and_a_bad_one_changes_nothing() {
    let mut world = three(Coupling::Measured);
    world.run(10);
    world.script.push(Err(Error::new("home.toml", "line 3: no such key")));
    world.run(1);
    assert_eq!((world.events("warning"), world.endpoint.streams.len()), (1, 3), "{:?}", world.reports);
    // The laptop leaves, the phone needs more, and a tablet joins.
    world.add_receiver(6004);
    let streams = [planned("tv", 6001, 6), planned("phone", 6003, 6), planned("tablet", 6004, 3)];
    world.script.push(Ok(plan(Coupling::Measured, &streams)));
    world.run(60);
    let names: Vec<_> = world.endpoint.streams.iter().map(|stream| stream.planned.name.clone()).collect();
    assert_eq!((names.join(" "), world.events("reloaded")), ("tv phone tablet".to_owned(), 1));
    let rates = world.run(60);
    assert!(spread(&[rates[0], rates[2], rates[3]], &[6.0, 6.0, 3.0]) < 0.15 && rates[1] == 0.0, "{rates:?}");
    // The session of the television has gone on.
    assert_eq!((world.figure("tv", "calls_total"), world.events("connected")), (1.0, 4), "{:?}", world.reports);
}

#[test]
fn stream_with_another_receiver_begins_anew_and_one_that_cannot_begin_harms_no_other() {
    let mut world = World::new(plan(Coupling::Fixed, &[planned("tv", 6001, 2), planned("phone", 6002, 1)]));
    world.run(5);
    world.add_receiver(6003);
    let lost = Planned { input: "file:/no/such/video.ts".parse().expect("a URL"), ..planned("hall", 6004, 1) };
    world.script.push(Ok(plan(Coupling::Fixed, &[planned("tv", 6003, 2), planned("phone", 6002, 1), lost])));
    world.run(5);
    let rates = world.run(10);
    assert!(rates[0] == 0.0 && rates[1] > 0.8 && rates[2] > 1.6, "{rates:?}");
    let warnings: Vec<_> = world.reports.iter().filter(|report| report.event == "warning").collect();
    assert!(
        matches!(&warnings[..], [one] if one.text.starts_with("hall: input file:/no/such/video.ts")),
        "{warnings:?}"
    );
}

#[test]
fn receiver_that_goes_and_forged_datagrams_harm_no_other_stream() {
    let mut world = three(Coupling::Measured);
    world.run(20);
    let gone = world.receivers.remove(0);
    world.delivered.remove(0);
    let forged = [0x81, 205, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    for port in [5999, 6002, 6003] {
        let _ = world.endpoint.handle_datagram(world.now, address(port), &forged);
    }
    world.run(10);
    let rates = world.run(20);
    assert!(rates[0] > 2.0 && rates[1] > 1.0, "{rates:?}");
    assert_eq!(world.events("silent"), 1, "{:?}", world.reports);
    world.receivers.insert(0, gone);
    world.delivered.insert(0, 0);
    world.run(60);
    let rates = world.run(30);
    assert!(rates[0] > 1.0, "{rates:?}");
}

#[test]
fn stop_says_goodbye_to_all_receivers() {
    let mut world = three(Coupling::Measured);
    world.run(2);
    world.endpoint.finish(world.now);
    world.run(2);
    assert!(world.endpoint.is_over() && world.events("ended") == 3, "{:?}", world.reports);
}

//! Comparison with queueing theory: L. Kleinrock, Queueing Systems I (1975), chapters 3 and 5.

use std::collections::VecDeque;
use std::path::Path;

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::engine::{Engine, Route};
use thalweg_lab::experiment::Run;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::watched::{Entry, Event, Watched};
use thalweg_lab::node::{Node, Tallied, Tally};
use thalweg_lab::packet::Packet;
use thalweg_lab::scenario::Blueprint;

/// Customers of a queue: exponential sizes at exponential distances.
#[derive(Debug)]
struct Crowd {
    rng: Rng,
    gap: f64,
    size: f64,
    next: Time,
    sent: u64,
}

/// The nodes of an M/M/1 network.
#[derive(Debug)]
enum Station {
    Crowd(Crowd),
    Link(Watched<DropTail>),
}

impl Node for Station {
    fn accept(&mut self, now: Time, packet: Packet) {
        match self {
            Station::Crowd(_) => unreachable!("nobody answers"),
            Station::Link(link) => link.accept(now, packet),
        }
    }

    fn next(&self) -> Option<Time> {
        match self {
            Station::Crowd(crowd) => Some(crowd.next),
            Station::Link(link) => link.next(),
        }
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        match self {
            Station::Crowd(crowd) if crowd.next > now => None,
            Station::Crowd(crowd) => {
                crowd.sent += 1;
                crowd.next += Span::from_secs_f64(crowd.rng.exponential(crowd.gap));
                Some(Packet::length(0, Bytes(crowd.rng.exponential(crowd.size).round() as u64)))
            }
            Station::Link(link) => link.poll(now),
        }
    }
}

impl Tallied for Station {
    fn tally(&self) -> Tally {
        match self {
            Station::Crowd(crowd) => Tally { added: crowd.sent, ..Tally::default() },
            Station::Link(link) => link.tally(),
        }
    }
}

/// The time of each packet in a FIFO, waiting and service, from the events at both of its ends.
#[derive(Default)]
struct Stays {
    inside: VecDeque<Time>,
}

impl Stays {
    /// The stays in seconds of the packets that left, and the numbers of packets that arrived and were dropped.
    fn read(&mut self, log: Vec<Entry>) -> Batch {
        let mut batch = Batch::default();
        for Entry { at, event, .. } in log {
            match event {
                Event::Came => self.inside.push_back(at),
                Event::Dropped => batch.dropped += 1.0,
                Event::Left => {
                    let came = self.inside.pop_front().expect("what leaves has come");
                    batch.stays.push(at.since(came).as_secs_f64());
                }
            }
            batch.came += f64::from(u8::from(event != Event::Left));
        }
        batch
    }
}

/// Observations over a period.
#[derive(Default)]
struct Batch {
    stays: Vec<f64>,
    came: f64,
    dropped: f64,
}

impl Batch {
    fn mean_stay(&self) -> f64 {
        self.stays.iter().sum::<f64>() / self.stays.len() as f64
    }

    fn share_above(&self, stay: f64) -> f64 {
        self.stays.iter().filter(|seen| **seen > stay).count() as f64 / self.stays.len() as f64
    }
}

/// Checks that the mean over batches, which are far longer than a busy period and so nearly independent, is within five
/// standard errors of theory.
fn expect(what: &str, batches: &[Batch], of: impl Fn(&Batch) -> f64, theory: f64) {
    let n = batches.len() as f64;
    let mean = batches.iter().map(&of).sum::<f64>() / n;
    let variance = batches.iter().map(|batch| libm::pow(of(batch) - mean, 2.0)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!((mean - theory).abs() < 5.0 * error, "{what}: {mean} +- {error} is not {theory}");
    assert!(error < 0.1 * theory, "{what}: +- {error} proves nothing");
}

/// 100 batches of 4 s, with `load` packets per millisecond on average; a packet of mean size takes a millisecond.
fn mm1(load: f64, limit: Limit, seed: u64) -> Vec<Batch> {
    let mut engine = Engine::default();
    let link = Watched::new(DropTail::new(Rate::from_mbps(1_000), limit));
    let link = engine.add(Station::Link(link), Route::Away);
    // Rounding to whole bytes does not matter at such sizes.
    let crowd = Crowd { rng: Rng::new(seed), gap: 1e-3 / load, size: 125_000.0, next: Time::ZERO, sent: 0 };
    engine.add(Station::Crowd(crowd), Route::To(link));
    let mut stays = Stays::default();
    let mut batches = (0..=100).map(|batch| {
        engine.run_until(Time::ZERO + Span::from_secs(4) * (batch + 1));
        engine.conservation().expect("in + added = out + dropped + queued");
        let Station::Link(link) = engine.node_mut(link) else { unreachable!("it is the link") };
        stays.read(link.take_log())
    });
    // The first batch begins with an empty queue.
    batches.next();
    batches.collect()
}

#[test]
fn an_mm1_queue_keeps_its_customers_for_an_exponential_time() {
    for (load, seed) in [(0.3, 1), (0.7, 2)] {
        let batches = mm1(load, Limit::Packets(u64::MAX), seed);
        // The stay is exponential with mean 1 / (mu - lambda): waiting, rho / (mu - lambda), and service.
        let mean = 1e-3 / (1.0 - load);
        expect("mean stay", &batches, Batch::mean_stay, mean);
        for share in [0.5, 0.1, 0.05] {
            let longest = -mean * libm::log(share);
            expect("share of long stays", &batches, |batch| batch.share_above(longest), share);
        }
    }
}

#[test]
fn an_mm1k_queue_turns_away_what_its_formula_says() {
    for (load, places, seed) in [(0.7, 5, 3), (1.0, 5, 4), (1.6, 10, 5)] {
        // One is served, the others wait.
        let batches = mm1(load, Limit::Packets(places - 1), seed);
        // Arrivals see time averages: p_K = rho^K / (1 + rho + ... + rho^K).
        let powers = |exponent: u64| libm::pow(load, exponent as f64);
        let blocked = powers(places) / (0..=places).map(powers).sum::<f64>();
        expect("loss", &batches, |batch| batch.dropped / batch.came, blocked);
    }
}

#[test]
fn the_md1_scenario_waits_as_long_as_pollaczek_and_khinchine_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/lab/md1.toml");
    for (load, seed) in [(0.5, 1), (0.8, 2)] {
        let set = [("load", load.to_string()), ("duration_s", "404".to_owned())];
        let set = set.map(|(name, value)| (name.to_owned(), value));
        let experiment = Blueprint::open(&file, &set).and_then(|md1| md1.experiment(seed)).expect("the scenario");
        let mut run = Run::new(&experiment, seed).expect("a possible run");
        run.network_mut().watch(0);
        let mut stays = Stays::default();
        let mut batches = (0..=100).map(|batch| {
            run.until(Time::ZERO + Span::from_secs(4) * (batch + 1));
            let [forward, _] = run.network_mut().take_log(0);
            stays.read(forward)
        });
        batches.next();
        let batches: Vec<Batch> = batches.collect();
        // rho / (2 (1 - rho)) service times of waiting and one of service, which takes a millisecond.
        let mean = 1e-3 * (1.0 + load / (2.0 * (1.0 - load)));
        expect("mean stay", &batches, Batch::mean_stay, mean);
        // A packet that finds the link idle, 1 - rho of all, stays for the service alone, and all others longer.
        expect("share that waits", &batches, |batch| batch.share_above(1e-3), load);
        let outcome = run.finish().expect("in = out + dropped + queued");
        assert_eq!(outcome.hops[0].offered.dropped, 0);
    }
}

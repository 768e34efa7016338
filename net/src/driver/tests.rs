use std::net::SocketAddr;
use std::time::Duration;

use thalweg_core::metric::Metric;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Transmit;
use thalweg_core::wire;

use super::*;
use crate::reporter::Reporter;

const COUNT: u32 = 2000;
const GAP: Span = Span::from_micros(50);

/// Sends [`COUNT`] numbers to its peer, which sends as many once it is called; over when all were sent and received.
struct Counter {
    to: Option<SocketAddr>,
    next: u32,
    due: Time,
    received: Vec<u32>,
    finished: bool,
    /// The time that it takes to generate a number.
    effort: Duration,
    /// The time that it takes to poll a report, once.
    stall: Option<Duration>,
}

impl Counter {
    fn new(to: Option<SocketAddr>) -> Counter {
        Counter {
            to,
            next: 0,
            due: Time::ZERO,
            received: Vec::new(),
            finished: false,
            effort: Duration::ZERO,
            stall: None,
        }
    }

    fn has_more(&self) -> bool {
        self.next < COUNT && !self.finished
    }
}

impl Session for Counter {
    type Event = ();

    fn handle_datagram(&mut self, _now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let number = u32::from_be_bytes(bytes.try_into().map_err(|_| wire::Error::Length)?);
        self.to = Some(from);
        self.received.push(number);
        Ok(())
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let to = self.to?;
        if !self.has_more() || now < self.due {
            return None;
        }
        std::thread::sleep(self.effort);
        buf[..4].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        self.due += GAP;
        Some(Transmit { to, len: 4 })
    }

    fn poll_timeout(&self) -> Option<Time> {
        (self.to.is_some() && self.has_more()).then_some(self.due)
    }

    fn poll_event(&mut self) -> Option<()> {
        None
    }
}

impl Probe for Counter {
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}

impl Endpoint for Counter {
    type Session = Counter;

    const SIDE: &'static str = "count";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        [].iter()
    }

    fn session(&mut self) -> &mut Counter {
        self
    }

    fn exchange(&mut self, _now: Time, _ready: &mut Ready) -> Result<bool, Error> {
        Ok(false)
    }

    fn interests<'a>(&'a self, _interests: &mut Interests<'a>) {}

    fn rest(&self) -> Span {
        Span::from_millis(1)
    }

    fn next(&self) -> Option<Time> {
        None
    }

    fn finish(&mut self, _now: Time) {
        self.finished = true;
    }

    fn is_over(&self) -> bool {
        self.finished || (self.next == COUNT && self.received.len() == COUNT as usize)
    }

    fn poll_report(&mut self) -> Option<Report> {
        std::thread::sleep(self.stall.take()?);
        Some(Report::new("stalled", ""))
    }
}

fn driver(endpoint: Counter) -> Driver<Counter> {
    Driver {
        clock: Clock::start(),
        stop: Stop::default(),
        peer: Socket::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a loopback socket"),
        endpoint,
        metrics: None,
        audience: Box::new(Reporter::json("count")),
    }
}

fn event_loop(driver: Driver<Counter>, now: Time) -> EventLoop<Counter> {
    let (inbox, outbox) = (Inbox::new(), Outbox::new());
    EventLoop { driver, inbox, outbox, polled: now, tick: now, give_up: None, reported_unsent: false }
}

#[test]
fn two_drivers_exchange_all_datagrams_in_order() {
    let responder = driver(Counter::new(None));
    let initiator = driver(Counter::new(Some(responder.peer.local())));
    let thread = std::thread::spawn(|| responder.run());
    let initiated = initiator.run().expect("a station");
    let responded = thread.join().expect("the other thread").expect("a station");
    assert!(initiated.received.iter().copied().eq(0..COUNT));
    assert!(responded.received.iter().copied().eq(0..COUNT));
}

#[test]
fn stop_request_ends_the_driver() {
    let driver = driver(Counter::new(None));
    let stop = driver.stop.clone();
    let running = std::thread::spawn(|| driver.run());
    stop.ask();
    assert!(running.join().expect("the thread").expect("a station").finished);
}

/// All 2000 numbers are due, and each takes a millisecond to generate.
#[test]
fn turn_ends_even_if_more_is_due_than_can_be_generated() {
    let mut driver = driver(Counter::new(Some(SocketAddr::from(([127, 0, 0, 1], 9)))));
    driver.endpoint.effort = Duration::from_millis(1);
    let now = driver.clock.now() + GAP * u64::from(COUNT);
    let mut event_loop = event_loop(driver, now);
    for _ in 0..3 {
        let before = event_loop.driver.endpoint.next;
        assert!(event_loop.turn(now, &mut { Ready::NOTHING }).expect("a turn"), "the next one must come at once");
        let made = event_loop.driver.endpoint.next - before;
        assert!((1..COUNT / 10).contains(&made), "{made}");
    }
}

#[test]
fn figures_are_not_stamped_earlier_than_events_before_them() {
    let path = std::env::temp_dir().join(format!("thalweg-rows-{}", std::process::id()));
    let mut driver = driver(Counter::new(None));
    driver.audience = Box::new(Reporter::to_file("count", &path));
    // A machine that stalls in the middle of a turn whose row is due.
    driver.endpoint.stall = Some(Duration::from_millis(50));
    let now = driver.clock.now();
    let mut event_loop = event_loop(driver, now);
    let mut ready = Ready::NOTHING;
    event_loop.turn(now, &mut ready).expect("a turn");
    let reported = std::fs::read_to_string(&path).expect("its lines");
    std::fs::remove_file(&path).expect("it was there");
    let stamp = |line: &str| -> f64 {
        let start = line.strip_prefix("{\"t\":").expect("a time first");
        start.split(',').next().and_then(|t| t.parse().ok()).expect("a number")
    };
    let stamps: Vec<f64> = reported.lines().map(stamp).collect();
    assert!(reported.contains("stalled") && stamps.len() == 2 && stamps[1] >= stamps[0], "{reported}");
}

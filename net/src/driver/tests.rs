use std::net::SocketAddr;
use std::time::Duration;

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Transmit;
use thalweg_core::session::live::Metric;
use thalweg_core::wire;

use super::*;
use crate::reporter::Reporter;

const COUNT: u32 = 2000;
const GAP: Span = Span::from_micros(50);

/// Counts down to its peer, which answers every number; over when both have heard everything.
struct Counter {
    to: Option<SocketAddr>,
    next: u32,
    due: Time,
    heard: Vec<u32>,
    finished: bool,
    /// How long it takes to make a number.
    effort: Duration,
    /// How long it takes to tell something.
    stall: Option<Duration>,
}

impl Counter {
    fn new(to: Option<SocketAddr>) -> Counter {
        Counter {
            to,
            next: 0,
            due: Time::ZERO,
            heard: Vec::new(),
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
        self.heard.push(number);
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

impl Station for Counter {
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
        self.finished || (self.next == COUNT && self.heard.len() == COUNT as usize)
    }

    fn poll_report(&mut self) -> Option<Report> {
        std::thread::sleep(self.stall.take()?);
        Some(Report::new("stalled", ""))
    }
}

fn driver(station: Counter) -> Driver<Counter> {
    Driver {
        clock: Clock::start(),
        stop: Stop::default(),
        peer: Socket::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a loopback socket"),
        station,
        metrics: None,
        audience: Box::new(Reporter::json("count")),
    }
}

fn turning(driver: Driver<Counter>, now: Time) -> Turning<Counter> {
    let (inbox, outbox) = (Inbox::new(), Outbox::new());
    Turning { driver, inbox, outbox, looked: now, tick: now, give_up: None, told_unsent: false }
}

#[test]
fn two_drivers_hand_each_other_everything_in_order() {
    let answering = driver(Counter::new(None));
    let asking = driver(Counter::new(Some(answering.peer.local())));
    let answers = std::thread::spawn(|| answering.run());
    let asked = asking.run().expect("a station");
    let answered = answers.join().expect("the other thread").expect("a station");
    assert!(asked.heard.iter().copied().eq(0..COUNT));
    assert!(answered.heard.iter().copied().eq(0..COUNT));
}

#[test]
fn who_asks_for_the_end_gets_it() {
    let driver = driver(Counter::new(None));
    let stop = driver.stop.clone();
    let running = std::thread::spawn(|| driver.run());
    stop.ask();
    assert!(running.join().expect("the thread").expect("a station").finished);
}

/// All 2000 numbers are due, and take a millisecond each.
#[test]
fn a_turn_ends_though_more_is_due_than_can_be_made() {
    let mut driver = driver(Counter::new(Some(SocketAddr::from(([127, 0, 0, 1], 9)))));
    driver.station.effort = Duration::from_millis(1);
    let now = driver.clock.now() + GAP * u64::from(COUNT);
    let mut turning = turning(driver, now);
    for _ in 0..3 {
        let before = turning.driver.station.next;
        assert!(turning.turn(now, &mut { Ready::NOTHING }).expect("a turn"), "the next one must come at once");
        let made = turning.driver.station.next - before;
        assert!((1..COUNT / 10).contains(&made), "{made}");
    }
}

#[test]
fn a_row_is_stamped_no_earlier_than_the_event_told_before_it() {
    let path = std::env::temp_dir().join(format!("thalweg-rows-{}", std::process::id()));
    let mut driver = driver(Counter::new(None));
    driver.audience = Box::new(Reporter::to_file("count", &path));
    // A machine that stands still in the middle of a turn whose row is due.
    driver.station.stall = Some(Duration::from_millis(50));
    let now = driver.clock.now();
    let mut turning = turning(driver, now);
    let mut ready = Ready::NOTHING;
    turning.turn(now, &mut ready).expect("a turn");
    let told = std::fs::read_to_string(&path).expect("what was told");
    std::fs::remove_file(&path).expect("it was there");
    let stamp = |line: &str| -> f64 {
        let start = line.strip_prefix("{\"t\":").expect("a time first");
        start.split(',').next().and_then(|t| t.parse().ok()).expect("a number")
    };
    let stamps: Vec<f64> = told.lines().map(stamp).collect();
    assert!(told.contains("stalled") && stamps.len() == 2 && stamps[1] >= stamps[0], "{told}");
}

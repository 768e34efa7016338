use std::net::SocketAddr;
use std::time::{Duration, Instant};

use thalweg_core::law::redundancy::none;
use thalweg_core::session::live::Playout;
use thalweg_core::session::live::receiver::{self, Receiver};
use thalweg_core::session::live::sender::Breaker;
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::wire::rtp;

use super::*;
use crate::report::Fact;
use crate::ts;

const STEP: Span = Span::from_millis(10);

/// Several senders and one receiver, with a path without delay between them, in virtual time.
struct World {
    now: Time,
    senders: Vec<SenderEndpoint>,
    receiver: Option<Receiver>,
    /// True if media gets through; otherwise only control does.
    carries_media: bool,
    /// Datagrams that the senders have sent.
    departures: usize,
    /// Reports of each sender.
    reports: Vec<Vec<(Time, Report)>>,
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

fn config() -> Config {
    Config { latency: Span::from_millis(90).into(), ..Config::new(address(6000), none::None.into()) }
}

/// RFC 8083 to the letter: no media arrives though it is sent (§4.2), and the session ends.
fn rfc8083_config() -> Config {
    Config { breaker: Breaker::Rfc8083, ..config() }
}

fn receiver(seed: u64) -> Receiver {
    Receiver::new(
        receiver::Config { latency: Span::from_millis(90).into(), playout: Playout::Asap, ..Default::default() },
        &Rng::new(seed),
    )
}

fn sender_endpoint(config: Config, now: Time, retry: Retry, seed: u64) -> SenderEndpoint {
    let input = Input::open(&"udp://127.0.0.1:0".parse().expect("an endpoint")).expect("a free port");
    SenderEndpoint::new(config, now, &Rng::new(seed), retry, input)
}

impl World {
    fn new(config: Config, retry: Retry) -> World {
        let mut world = World {
            now: Time::ZERO,
            senders: vec![],
            receiver: Some(receiver(1)),
            carries_media: true,
            departures: 0,
            reports: vec![],
        };
        world.join(config, retry);
        world
    }

    /// Adds a sender that begins now.
    fn join(&mut self, config: Config, retry: Retry) {
        self.senders.push(sender_endpoint(config, self.now, retry, self.reports.len() as u64));
        self.reports.push(Vec::new());
    }

    /// Runs for `span`, with a datagram of media from each sender in every step.
    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.now += STEP;
            for nth in 0..self.senders.len() {
                self.turn(nth);
            }
        }
    }

    fn turn(&mut self, nth: usize) {
        let World { now, senders, receiver, .. } = self;
        let (now, endpoint) = (*now, &mut senders[nth]);
        if endpoint.is_over() {
            return;
        }
        let due = |session: &mut dyn Session<Event = receiver::Event>| {
            if session.poll_timeout().is_some_and(|due| due <= now) {
                session.handle_timeout(now);
            }
        };
        if endpoint.session().poll_timeout().is_some_and(|due| due <= now) {
            endpoint.session().handle_timeout(now);
        }
        let mut interests = Interests::new();
        endpoint.interests(&mut interests);
        let mut ready = interests.wait(Span::ZERO).expect("a look at its input");
        endpoint.exchange(now, &mut ready).expect("an input");
        endpoint.session().handle_media(now, &[7; 1000]);
        let (mut buf, from) = ([0; MAX_DATAGRAM], address(5000 + nth as u16));
        while let Some(transmit) = endpoint.session().poll_transmit(now, &mut buf) {
            self.departures += 1;
            let bytes = &buf[..transmit.len];
            if let Some(receiver) = receiver.as_mut().filter(|_| self.carries_media || rtp::is_rtcp(bytes)) {
                let _ = receiver.handle_datagram(now, from, bytes);
            }
        }
        if let Some(receiver) = receiver {
            due(receiver);
            while receiver.poll_media(now).is_some() {}
            while let Some(transmit) = receiver.poll_transmit(now, &mut buf) {
                let port = usize::from(transmit.to.port() - 5000);
                let _ = senders[port].session().handle_datagram(now, address(6000), &buf[..transmit.len]);
            }
        }
        let endpoint = &mut senders[nth];
        self.reports[nth].extend(std::iter::from_fn(|| endpoint.poll_report()).map(|report| (now, report)));
    }

    /// Times at which a sender reported `event`.
    fn times(&self, nth: usize, event: &str) -> Vec<Time> {
        self.reports[nth].iter().filter(|(_, report)| report.event == event).map(|(at, _)| *at).collect()
    }

    /// The values of `fact` in a sender's reports of `event`.
    fn facts(&self, nth: usize, event: &str, fact: &str) -> Vec<Fact> {
        let reports = self.reports[nth].iter().filter(|(_, report)| report.event == event);
        reports
            .flat_map(|(_, report)| report.facts.iter().filter(|(name, _)| *name == fact))
            .map(|(_, f)| f.clone())
            .collect()
    }

    fn metric(&self, nth: usize, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.senders[nth].probe(&mut |known, value| {
            if known == name {
                found = value;
            }
        });
        found
    }
}

fn seconds(seconds: u64) -> Span {
    Span::from_secs(seconds)
}

#[test]
fn missing_receiver_is_reported_after_a_second_and_waited_for() {
    let mut world = World::new(config(), Retry::Always);
    world.receiver = None;
    world.run(seconds(3600));
    let [(at, report)] = &world.reports[0][..] else { panic!("{:?}", world.reports[0]) };
    assert_eq!((report.event, *at), ("waiting", Time::ZERO + seconds(1)));
    assert!(
        report.text.contains("192.0.2.1:6000") && report.text.contains("thalweg recv --listen :6000"),
        "{report:?}"
    );
    // Ten hellos a second for ten seconds, and then one.
    assert!((3600..=3700).contains(&world.departures), "{}", world.departures);
    world.receiver = Some(receiver(1));
    world.run(seconds(2));
    assert_eq!(world.times(0, "connected").len(), 1, "{:?}", world.reports[0]);
}

#[test]
fn answer_timeout_ends_the_wait_for_a_receiver() {
    let mut world = World::new(Config { answer_timeout: Some(seconds(5)), ..config() }, Retry::Always);
    world.receiver = None;
    world.run(seconds(6));
    assert_eq!(world.senders[0].ending(), Some(Ending::NoAnswer));
    assert_eq!(world.times(0, "ended"), [Time::ZERO + seconds(5)]);
}

#[test]
fn busy_receiver_is_retried_until_the_answer_timeout() {
    let mut world = World::new(config(), Retry::Always);
    world.run(seconds(2));
    world.join(Config { answer_timeout: Some(seconds(40)), ..config() }, Retry::Always);
    world.run(seconds(60));
    assert_eq!(world.senders[1].ending(), Some(Ending::Busy));
    // It is called for 3 s, again after 30 s, and once more for the last 3 s of the 40.
    let times = ["busy", "retry", "ended"].map(|name| world.times(1, name));
    assert_eq!(times.each_ref().map(Vec::len), [3, 2, 1], "{:?}", world.reports[1]);
    let waited = times[2][0].since(Time::ZERO + seconds(2));
    assert!((seconds(40)..seconds(41)).contains(&waited), "{waited}");
}

#[test]
fn lost_receiver_gets_a_new_session_and_counters_continue() {
    let mut world = World::new(config(), Retry::Always);
    world.run(seconds(5));
    let first = world.senders[0].session().clone();
    world.receiver = None;
    world.run(seconds(60));
    let (silent, retry) = (world.times(0, "silent"), world.times(0, "retry"));
    assert_eq!((silent.len(), retry.len()), (1, 1), "{:?}", world.reports[0]);
    // RFC 8083 §4.5 and issue 15: 30 s.
    let waited = retry[0].since(silent[0]);
    assert!((seconds(30)..seconds(31)).contains(&waited), "{waited}");
    assert_eq!(world.metric(0, "calls_total"), 2.0);
    assert_eq!(world.metric(0, "media_packets_total"), 6500.0, "one in each step");
    assert_ne!(world.senders[0].session().description(address(1).ip()), first.description(address(1).ip()));
    world.receiver = Some(receiver(2));
    world.run(seconds(2));
    assert_eq!(world.times(0, "connected").len(), 2, "{:?}", world.reports[0]);
    assert!(world.times(0, "ended").is_empty());
}

#[test]
fn receiver_back_within_thirty_seconds_keeps_its_session() {
    let mut world = World::new(config(), Retry::Always);
    world.run(seconds(5));
    let gone = world.receiver.take();
    world.run(seconds(20));
    assert_eq!(world.times(0, "silent").len(), 1);
    world.receiver = gone;
    world.run(seconds(60));
    assert!(world.times(0, "retry").is_empty(), "{:?}", world.reports[0]);
    assert_eq!(world.metric(0, "calls_total"), 1.0);
}

#[test]
fn session_ended_by_its_breaker_is_retried_after_thirty_seconds() {
    let mut world = World::new(rfc8083_config(), Retry::Always);
    world.run(seconds(5));
    world.carries_media = false;
    while world.times(0, "retry").is_empty() {
        assert!(world.now < Time::ZERO + seconds(60), "{:?}", world.reports[0]);
        world.run(seconds(1));
    }
    let (_, retry) = world.reports[0].iter().find(|(_, report)| report.event == "retry").expect("it was waited for");
    assert!(retry.text.contains("circuit breaker") && retry.text.contains("again in 30s"), "{retry:?}");
    let ended = world.times(0, "retry")[0];
    world.carries_media = true;
    world.run(seconds(29));
    assert!(!world.senders[0].session().is_connected());
    world.run(seconds(2));
    assert!(world.senders[0].session().is_connected(), "{:?}", world.reports[0]);
    let again = *world.times(0, "connected").last().expect("twice");
    assert!((seconds(30)..seconds(31)).contains(&again.since(ended)), "{}", again.since(ended));
}

#[test]
fn second_sender_gets_busy_and_backs_off_exponentially() {
    let mut world = World::new(config(), Retry::Always);
    world.run(seconds(5));
    world.join(config(), Retry::Always);
    world.join(config(), Retry::Never);
    let start = world.now;
    world.run(seconds(1300));
    for nth in [1, 2] {
        assert!(world.times(nth, "busy")[0].since(start) < Span::from_millis(200), "{:?}", world.reports[nth]);
    }
    assert_eq!(world.senders[2].ending(), Some(Ending::Busy));
    assert!(world.times(2, "ended")[0].since(start) < seconds(4), "{:?}", world.reports[2]);
    // Issue 15: after 30 s, doubling to 5 min.
    let waits = [30.0, 60.0, 120.0, 240.0, 300.0, 300.0].map(Fact::Number);
    assert!(world.facts(1, "retry", "wait_seconds").starts_with(&waits), "{:?}", world.reports[1]);
    assert_eq!(world.times(0, "silent").len(), 0, "the first stream is not harmed");
    // Stopped between two calls, it ends at once.
    assert!(!world.senders[1].is_over());
    world.senders[1].finish(world.now);
    assert_eq!((world.senders[1].is_over(), world.senders[1].ending()), (true, Some(Ending::Bye)));
}

#[test]
fn first_end_is_final_without_retry() {
    let mut world = World::new(config(), Retry::Never);
    world.run(seconds(5));
    world.receiver = None;
    world.run(seconds(60));
    assert_eq!(world.senders[0].ending(), Some(Ending::Silent));
    assert_eq!(world.facts(0, "ended", "reason"), [Fact::Text("silent".into())]);

    let mut world = World::new(rfc8083_config(), Retry::Never);
    world.run(seconds(5));
    world.carries_media = false;
    world.run(seconds(60));
    assert_eq!(world.senders[0].ending(), Some(Ending::Breaker), "{:?}", world.reports[0]);
}

/// Issue 15: the input is drained meanwhile. A file is not live: its data stays for the next session.
#[test]
fn pipe_is_drained_without_a_receiver_and_a_file_waits() {
    let path = std::env::temp_dir().join(format!("thalweg-drained-{}", std::process::id()));
    // 24 s of media, 357 datagrams a second.
    let media = ts::stream(60_000);
    for is_pipe in [true, false] {
        let media_url = format!("file:{}", path.display()).parse().expect("an endpoint");
        let mut writer = None;
        let input = if is_pipe {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
            let (path, media) = (path.clone(), media.clone());
            writer = Some(std::thread::spawn(move || std::fs::write(path, media)));
            Input::open(&media_url)
        } else {
            std::fs::write(&path, &media).expect("a temporary file");
            Input::open(&media_url)
        };
        let mut world = World::new(config(), Retry::Always);
        world.senders[0] =
            SenderEndpoint::new(config(), Time::ZERO, &Rng::new(0), Retry::Always, input.expect("an input"));
        world.run(seconds(2));
        world.receiver = None;
        while world.times(0, "silent").is_empty() {
            assert!(world.now < Time::ZERO + seconds(15), "{:?}", world.reports[0]);
            world.run(Span::from_millis(100));
        }
        // The world itself passes a datagram in each step.
        let drained =
            |world: &World| world.metric(0, "media_packets_total") - (world.now.as_secs_f64() * 100.0).round();
        let before = drained(&world);
        world.run(seconds(5));
        let deadline = Instant::now() + Duration::from_secs(30);
        while is_pipe && drained(&world) - before < 1000.0 {
            // The thread that fills the pipe runs in real time.
            assert!(Instant::now() < deadline, "{} were drained", drained(&world) - before);
            std::thread::sleep(Duration::from_millis(1));
            world.run(STEP);
        }
        assert!(is_pipe || drained(&world) == before, "{}", drained(&world) - before);
        std::fs::remove_file(&path).expect("it was there");
        drop(world);
        // The writer fails: its reader has gone before the end.
        drop(writer.map(std::thread::JoinHandle::join));
    }
}

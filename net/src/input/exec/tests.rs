use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::*;
use crate::{poll, ts};

const PATIENCE: Duration = Duration::from_secs(20);

/// A folder with a transport stream of a second, `$ts`, and a file for what the encoder was asked for, `$log`.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = Scratch(std::env::temp_dir().join(format!("thalweg-encoder-{}-{name}", std::process::id())));
        std::fs::create_dir_all(&folder.0).expect("a temporary folder");
        std::fs::write(folder.0.join("ts"), ts::stream(2_500)).expect("a temporary file");
        folder
    }

    fn encoder(&self, command: &str) -> Encoder {
        let folder = self.0.display();
        let command = format!("ts={folder}/ts; log={folder}/log; {command}");
        Encoder::new(&command, Rate::from_mbps(1), Rate::from_bps(300_000))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.0.join("log")).unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Turns of an event loop, over a clock that a test can set ahead of the real one.
struct World {
    encoder: Encoder,
    start: Instant,
    ahead: Span,
    wanted: Option<Rate>,
    media: u64,
    notices: Vec<String>,
}

impl World {
    fn new(encoder: Encoder) -> World {
        World { encoder, start: Instant::now(), ahead: Span::ZERO, wanted: None, media: 0, notices: Vec::new() }
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from_nanos(self.start.elapsed().as_nanos() as u64) + self.ahead
    }

    fn turn(&mut self) {
        let mut interests = Interests::new();
        self.encoder.interests(&mut interests);
        let mut ready = interests.wait(Span::from_millis(5)).expect("ppoll");
        let now = self.now();
        self.encoder.want(now, self.wanted);
        let media = &mut self.media;
        self.encoder.read(now, &mut ready, true, |datagram| *media += datagram.len() as u64);
        self.notices.extend(self.encoder.poll_notice());
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&World) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "no {what}: {} bytes, {:?}", self.media, self.notices);
            self.turn();
        }
    }
}

#[test]
fn encoder_is_asked_for_its_first_rate_and_for_each_change() {
    let scratch = Scratch::new("follows");
    let mut world = World::new(scratch.encoder("cat $ts & while read word; do echo $word >> $log; done"));
    world.until("media", |world| world.media > 10_000);
    world.until("first rate", |_| scratch.log().contains("rate 1000000"));
    world.wanted = Some(Rate::from_bps(500_000));
    world.until("second rate", |_| scratch.log().contains("rate 500000"));
    world.wanted = Some(Rate::from_bps(510_000));
    for _ in 0..40 {
        world.turn();
    }
    world.wanted = Some(Rate::from_bps(0));
    world.until("least rate", |_| scratch.log().contains("rate 300000"));
    assert_eq!(scratch.log(), "rate 1000000\nrate 500000\nrate 300000\n");
    assert_eq!(world.notices, [""; 0]);
}

#[test]
fn encoder_that_dies_is_started_again_and_asked_again() {
    let scratch = Scratch::new("dies");
    let mut world = World::new(scratch.encoder("read word; echo $word >> $log; head -c 100000 $ts; exit 3"));
    world.until("end", |world| !world.notices.is_empty());
    assert_eq!(world.notices, ["ended with exit code 3; starting it again in 1s"]);
    world.until("second start", |_| scratch.log().lines().count() == 2);
    world.until("second end", |world| world.notices.len() == 2);
    assert_eq!(world.notices[1], "ended with exit code 3; starting it again in 2s");
    assert_eq!(scratch.log(), "rate 1000000\nrate 1000000\n");
}

/// The end of its output and its own end are two events, between which a busy machine may look.
#[test]
fn exit_code_is_reported_though_the_output_has_ended_before_and_was_empty() {
    let scratch = Scratch::new("empty");
    let mut world = World::new(scratch.encoder("exec >&-; sleep 0.05; exit 3"));
    world.until("end", |world| !world.notices.is_empty());
    assert_eq!(world.notices, ["ended with exit code 3; starting it again in 1s"]);
}

#[test]
fn encoder_that_writes_garbage_is_ended_and_started_again() {
    let scratch = Scratch::new("garbage");
    let mut world = World::new(
        scratch.encoder("trap '' TERM; echo $$ >> $log; tr '\\0' x < /dev/zero & while :; do sleep 1; done"),
    );
    world.until("refusal", |world| !world.notices.is_empty());
    assert!(
        world.notices[0].starts_with("not MPEG-TS") && world.notices[0].ends_with("; starting it again in 1s"),
        "{:?}",
        world.notices
    );
    // It ignores SIGTERM: SIGKILL ends it 2 s later.
    world.until("second start", |_| scratch.log().lines().count() == 2);
    assert!(world.now() > Time::ZERO + GRACE);
}

#[test]
fn encoder_that_stalls_is_reported_once_and_one_that_does_not_read_harms_nothing() {
    let scratch = Scratch::new("stalls");
    let mut world = World::new(scratch.encoder("head -c 200000 $ts; exec sleep 1000"));
    world.until("media", |world| world.media > 100_000);
    for kbps in 0..3_000 {
        world.wanted = Some(Rate::from_bps(400_000 + 100_000 * (kbps % 2)));
        world.ahead += Span::from_millis(100);
        let now = world.now();
        world.encoder.want(now, world.wanted);
    }
    world.until("warning", |world| !world.notices.is_empty());
    for _ in 0..20 {
        world.turn();
    }
    assert_eq!(world.notices, ["no media for 5s"]);
}

#[test]
fn all_processes_end_with_their_input() {
    let scratch = Scratch::new("ends");
    let mut world = World::new(scratch.encoder("sleep 1000 & echo $! > $log; cat $ts; wait"));
    world.until("start", |_| scratch.log().ends_with('\n'));
    let child = scratch.log().trim().to_owned();
    drop(world);
    let begun = Instant::now();
    // A process that init has not waited for yet is a zombie.
    let runs = || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while runs() {
        assert!(begun.elapsed() < PATIENCE, "process {child} has not ended");
        poll::sleep(LOOK);
    }
}

#[test]
fn encoder_does_not_start_before_media_is_wanted() {
    let scratch = Scratch::new("waits");
    let mut encoder = scratch.encoder("echo started > $log; cat $ts");
    for millis in 0..100 {
        encoder.read(Time::ZERO + Span::from_millis(millis), &mut Ready::NOTHING.clone(), false, |_| {});
    }
    assert!(matches!(encoder.state, State::Waiting(_)) && encoder.next().is_none());
}

//! Comparison of the law in integers with the law in reals: `bpf/law.h`, compiled here, and `thalweg_core`'s, with the
//! same events.
//!
//! Rounding may cause these differences, and no others:
//!
//! - the ceiling and tau are the same;
//! - lwnd and ssthresh differ by less than 2^-19 segments for each acknowledgement in avoidance;
//! - the latch and dwnd are the same, unless the deciding value is closer than that to its bound: lwnd to its ceiling
//!   or to ssthresh; Diff, of which integers know swnd to 2^-10 segments and the mean round trip to 1 us, to alpha or
//!   beta. dwnd then differs by one, and the integers continue from the state of the law in reals.

mod integers;

use integers::{Integers, State};
use proptest::prelude::*;
use thalweg_core::law::window::tcp_stream::{TcpStream, Thresholds, Variant};
use thalweg_core::law::window::{Playback, Start};
use thalweg_core::probe::Probe;
use thalweg_core::units::{Bytes, Rate, Seconds};

/// Linux's TCP_INFINITE_SSTHRESH.
const INFINITE: f64 = 2_147_483_647.0;

#[derive(Clone, Copy, Debug)]
enum Event {
    Sample { us: u32 },
    Ack { newly: u32, round_end: bool, may_grow: bool },
    Lose,
    Expire { again: bool },
}

/// A connection: its initial state, and its events.
#[derive(Clone, Debug)]
struct Story {
    video: Playback,
    thresholds: Thresholds,
    start: Start,
    events: Vec<Event>,
}

/// Rates in whole kb/s, so that the law's guard against rounding errors of reals above a whole number has no effect.
fn video() -> impl Strategy<Value = Playback> {
    (1_u64..100_000, 500_u64..9_000)
        .prop_map(|(kbps, mss)| Playback { rate: Rate::from_bps(kbps * 1000), mss: Bytes(mss) })
}

/// A sample or a few, an acknowledgement, and now and then a loss, around a round trip of `base` us.
fn events(base: u32) -> impl Strategy<Value = Vec<Event>> {
    let sample = (0..base).prop_map(move |more| Event::Sample { us: base + more / 3 });
    let ack = (1_u32..4, 0_u8..10, 0_u8..8).prop_map(|(newly, end, idle)| Event::Ack {
        newly,
        round_end: end == 0,
        may_grow: idle > 0,
    });
    let loss = prop_oneof![2 => Just(Event::Lose), 1 => any::<bool>().prop_map(|again| Event::Expire { again })];
    prop::collection::vec(prop_oneof![120 => sample, 120 => ack, 1 => loss], 1..1_500)
}

fn story() -> impl Strategy<Value = Story> {
    let thresholds = prop_oneof![Just(Thresholds::Paper), Just(Thresholds::Vegas)];
    let ssthresh = prop_oneof![Just(f64::INFINITY), (2_u32..100).prop_map(f64::from)];
    let start = (1_u32..30, ssthresh).prop_map(|(iw, ssthresh)| Start { iw, ssthresh });
    let events = (100_u32..300_000).prop_flat_map(events);
    (video(), thresholds, start, events).prop_map(|(video, thresholds, start, events)| Story {
        video,
        thresholds,
        start,
        events,
    })
}

/// Both laws, and the test's own state.
struct Both {
    law: TcpStream,
    integers: Integers,
    video: Playback,
    thresholds: Thresholds,
    /// Sum of the round trips of the round, us.
    sum: u64,
    samples: u64,
    tau: u32,
    /// The permitted difference of lwnd and ssthresh, in segments.
    rounding: f64,
}

impl Both {
    fn start(mut integers: Integers, story: &Story) -> Both {
        let Story { video, thresholds, start, .. } = story;
        let law = TcpStream::new(*start, *video, Variant { thresholds: *thresholds, ..Variant::default() });
        let ssthresh = start.ssthresh.min(INFINITE);
        let vegas = u8::from(*thresholds == Thresholds::Vegas);
        let (rate, mss, iw) = (video.rate.as_bps(), video.mss.0, start.iw);
        integers.tell(&format!("start {rate} {mss} {vegas} 1 {iw} {ssthresh}"));
        Both { law, integers, video: *video, thresholds: *thresholds, sum: 0, samples: 0, tau: u32::MAX, rounding: 0.0 }
    }

    fn shown(&self, name: &str) -> f64 {
        let mut value = f64::NAN;
        self.law.probe(&mut |shown, found| {
            if shown == name {
                value = found;
            }
        });
        value
    }

    fn take(&mut self, event: Event) -> State {
        match event {
            Event::Sample { us } => {
                (self.sum, self.samples, self.tau) = (self.sum + u64::from(us), self.samples + 1, self.tau.min(us));
                self.law.sample(Seconds(f64::from(us) / 1e6));
                self.integers.tell(&format!("sample {us}"))
            }
            Event::Ack { newly, round_end, may_grow } => {
                self.law.acknowledge(newly, round_end, may_grow);
                self.rounding += 2.0_f64.powi(-19);
                let (end, grow) = (u8::from(round_end), u8::from(may_grow));
                self.integers.tell(&format!("ack {newly} {end} {grow}"))
            }
            Event::Lose => {
                self.law.lose();
                self.integers.tell("lose")
            }
            Event::Expire { again } => {
                self.law.expire(again);
                self.integers.tell(&format!("expire {}", u8::from(again)))
            }
        }
    }

    /// True if rounding may decide the change of dwnd at the end of this round.
    fn is_close(&self) -> bool {
        let mean = self.sum as f64 / self.samples as f64;
        let diff = self.shown("diff");
        // An error of 1 us in the mean changes Diff by swnd tau / RTT², at most swnd / RTT.
        let error = 2.0_f64.powi(-9) + self.rounding + (self.law.swnd() + 1.0) / mean.floor();
        let cap = |us: f64| f64::from(self.video.cap(Seconds(us / 1e6)));
        let base = [cap(mean), cap(mean.floor())].map(|cap| match self.thresholds {
            Thresholds::Paper => cap,
            Thresholds::Vegas => 0.0,
        });
        base[0] != base[1] || [2.0, 4.0].iter().any(|bound| (diff - bound - base[0]).abs() <= error)
    }

    /// True if the integers agree with the law in reals; false if rounding has put them on another side of ssthresh.
    fn compare(&mut self, event: Event, state: State) -> bool {
        let context = format!("{event:?}, {state:?}, {:?}", self.law);
        let is_close = |ours: f64, theirs: f64| (ours - theirs).abs() <= self.rounding;
        let [lwnd, dwnd, ssthresh] = ["lwnd", "dwnd", "ssthresh"].map(|name| self.shown(name));
        assert!(is_close(lwnd, state.lwnd), "{context}");
        assert!(
            ssthresh.is_infinite() && state.ssthresh == INFINITE || is_close(ssthresh, state.ssthresh),
            "{context}"
        );
        assert_eq!(self.law.cap().unwrap_or(0), state.cap, "{context}");
        assert!(self.tau == u32::MAX || self.tau == state.tau, "{context}");
        let latched = self.law.delay_on() == state.delay_on;
        assert!(latched || is_close(lwnd, f64::from(state.cap)), "{context}");
        let round_end = matches!(event, Event::Ack { round_end: true, .. });
        if dwnd != f64::from(state.dwnd) {
            assert!(round_end && (dwnd - f64::from(state.dwnd)).abs() <= 1.0, "{context}");
            assert!(!latched || self.is_close(), "{context}");
        }
        if dwnd != f64::from(state.dwnd) || !latched {
            let fine = (lwnd * 2.0_f64.powi(20)).round();
            self.integers.tell(&format!("agree {fine} {dwnd} {}", u8::from(self.law.delay_on())));
        }
        if round_end {
            (self.sum, self.samples) = (0, 0);
        }
        (lwnd < ssthresh) == (state.lwnd < state.ssthresh)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn integers_and_reals_agree_but_for_what_rounding_leaves(story in story()) {
        let Some(integers) = Integers::start() else { return Ok(()) };
        let mut both = Both::start(integers, &story);
        for &event in &story.events {
            let state = both.take(event);
            if !both.compare(event, state) {
                break;
            }
        }
    }
}

#[test]
fn the_papers_video_has_the_papers_windows() {
    let Some(mut integers) = Integers::start() else { return };
    // 3.6 Mb/s, packets of 1500 bytes, 100 ms: 30 packets, reached from 2 by one for each acknowledgement.
    integers.tell("start 3600000 1500 0 1 2 2147483647");
    for window in 3..=30 {
        integers.tell("sample 100000");
        let state = integers.tell("ack 1 0 1");
        assert_eq!((state.swnd, state.delay_on), (window, window == 30));
    }
    // One more per round while the queue is short: Diff = 0.
    assert_eq!(integers.tell("ack 1 1 1").swnd, 31);
    // Twice the round trip: half of the 32 segments are queued; the ceiling is 60, and alpha 62.
    for _ in 0..10 {
        integers.tell("sample 200000");
    }
    let state = integers.tell("ack 1 1 1");
    assert_eq!((state.cap, state.dwnd), (60, 2));
    assert!((state.diff - 16.0).abs() < 0.01, "{state:?}");
    let state = integers.tell("lose");
    assert_eq!((state.swnd, state.dwnd, state.ssthresh, state.delay_on), (15, 0, 15.5, false));
    assert_eq!(integers.tell("expire 1").swnd, 1);
}

#[test]
fn what_the_kernel_takes_is_taken_from_what_is_spare_and_what_was_no_loss_comes_back() {
    let Some(mut integers) = Integers::start() else { return };
    integers.tell("start 3600000 1500 0 1 30 2147483647");
    integers.tell("sample 100000");
    integers.tell("ack 1 0 1");
    integers.tell("dwnd 20");
    let state = integers.tell("follow 40 2147483647");
    assert_eq!((state.lwnd, state.dwnd), (30.0, 10));
    let state = integers.tell("follow 10 22");
    assert_eq!((state.lwnd, state.dwnd, state.ssthresh), (10.0, 0, 22.0));
    integers.tell("dwnd 5");
    integers.tell("lose");
    let state = integers.tell("undo");
    assert_eq!((state.lwnd, state.dwnd, state.delay_on), (10.0, 5, true));
    // A second undo has no effect if the window has grown since.
    integers.tell("follow 50 22");
    assert_eq!(integers.tell("undo").swnd, 50);
}

#[test]
fn an_acknowledgement_of_many_segments_counts_as_linux_counts_it() {
    let Some(mut integers) = Integers::start() else { return };
    integers.tell("start 100000000 1500 0 4294967295 10 16");
    assert_eq!(integers.tell("ack 4 0 1").lwnd, 14.0);
    // Two, up to the threshold.
    assert_eq!(integers.tell("ack 18 0 1").lwnd, 16.0);
    // From there on, a segment for each window.
    assert_eq!(integers.tell("ack 8 0 1").lwnd, 16.5);
}

#[test]
fn no_input_leaves_64_bits() {
    let Some(mut integers) = Integers::start() else { return };
    // The highest rate, the smallest segments and the longest round trip: all bounds at once.
    integers.tell("start 1000000000000 1 0 4294967295 4294967295 2147483647");
    integers.tell("sample 4294967295");
    let state = integers.tell("ack 4294967295 0 1");
    assert_eq!((state.cap, state.lwnd, state.delay_on), (1 << 20, f64::from(1 << 20), true));
    integers.tell("sample 1");
    integers.tell("sample 4294967295");
    integers.tell("dwnd 1048576");
    let state = integers.tell("ack 1 1 1");
    // Half or more of the packets of both windows are queued: above alpha, if nothing wrapped.
    assert!(state.diff > f64::from(1 << 20), "{state:?}");
}

//! Stories of an encoder over virtual time.

use proptest::prelude::*;

use super::*;
use crate::budget::Budget;
use thalweg_mpegts::PACKET;

fn kbps(kbps: u64) -> Rate {
    Rate::from_bps(kbps * 1_000)
}

/// An encoder whose sound and tables have a fixed rate, muxed into full packets.
struct Run {
    follower: Follower,
    budget: Budget,
    now: Time,
    /// Packets of sound in a tenth of a second.
    sound: usize,
    /// The bit rate that the encoder makes.
    coded: Rate,
    obeys: bool,
    /// Packets of the last tenth.
    packets: usize,
    steps: Vec<(f64, Step)>,
}

impl Run {
    fn new(sound: usize, obeys: bool) -> Run {
        let (follower, budget) = (Follower::default(), Budget::default());
        Run { follower, budget, now: Time::ZERO, sound, coded: kbps(2_048), obeys, packets: 0, steps: Vec::new() }
    }

    fn ask(&mut self, rate: Rate) {
        self.follower.handle_rate(rate);
        self.drain();
    }

    /// A tenth of a second after another.
    fn run(&mut self, tenths: u64) {
        for _ in 0..tenths {
            let bytes = self.coded.bytes_in(Span::from_millis(100)).0;
            let mut stream = packet(0x41, true, &[0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1]);
            let rest = (bytes + 14).div_ceil(184).saturating_sub(1);
            stream.extend((0..rest).flat_map(|_| packet(0x41, false, &[])));
            stream.extend((0..self.sound).flat_map(|_| packet(0x42, false, &[])));
            self.packets = stream.len() / PACKET;
            self.budget.push(self.now, &stream);
            self.now += Span::from_millis(100);
            if let Some(usage) = self.budget.usage(self.now) {
                self.follower.handle_usage(self.now, usage);
            }
            self.drain();
        }
    }

    fn drain(&mut self) {
        while let Some(step) = self.follower.poll_step() {
            self.steps.push((self.now.as_secs_f64(), step));
            if let (Step::Set(rate), true) = (step, self.obeys) {
                self.coded = rate;
            }
        }
    }

    fn output(&self) -> f64 {
        (self.packets * PACKET * 80) as f64
    }

    fn sets(&self) -> usize {
        self.steps.iter().filter(|(_, step)| matches!(step, Step::Set(_))).count()
    }
}

fn packet(pid: u16, begins: bool, head: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x47, (pid >> 8) as u8 | u8::from(begins) << 6, pid as u8, 0x10];
    bytes.extend_from_slice(head);
    bytes.resize(PACKET, 0xff);
    bytes
}

#[test]
fn nothing_is_set_before_a_rate_is_known() {
    let mut run = Run::new(9, true);
    run.run(30);
    assert_eq!(run.steps, []);
}

#[test]
fn transport_stream_has_the_rate_that_is_asked_for() {
    // Sound of 135 kb/s.
    let mut run = Run::new(9, true);
    run.ask(kbps(6_000));
    assert_eq!(run.steps, [(0.0, Step::Set(Rate::from_bps(6_000_000 * 184 / 188)))]);
    run.run(30);
    // Two per cent of the rate is the least change that is set again, and a packet more may be begun.
    assert!((5_850e3..6_020e3).contains(&run.output()), "{}", run.output());
    run.ask(kbps(2_000));
    run.run(1);
    // A packet in each tenth of a second is the grain.
    assert!((1_950e3..2_016e3).contains(&run.output()), "at once: {}", run.output());
    run.run(30);
    assert!((1_950e3..2_015e3).contains(&run.output()), "{}", run.output());
    let sets = run.sets();
    run.run(600);
    assert_eq!(run.sets(), sets, "a steady stream is left alone");
}

#[test]
fn louder_sound_takes_from_the_video() {
    let mut run = Run::new(9, true);
    run.ask(kbps(1_000));
    run.run(20);
    run.sound = 30;
    run.run(20);
    assert!((970e3..1_015e3).contains(&run.output()), "{}", run.output());
}

#[test]
fn encoder_that_ignores_its_rate_is_reported_once() {
    let mut run = Run::new(9, false);
    run.ask(kbps(6_000));
    run.run(100);
    assert_eq!(run.sets(), run.steps.len(), "2 Mb/s are below 6: {:?}", run.steps);
    run.ask(kbps(1_000));
    run.run(60);
    let (at, step) = *run.steps.last().expect("a step");
    let Step::Disobedient { coded, set } = step else { panic!("{:?}", run.steps) };
    assert!((15.0..15.2).contains(&at) && coded > kbps(2_000) && set < kbps(1_000), "{:?}", run.steps);
    run.run(600);
    assert_eq!(run.steps.last(), Some(&(at, step)));
}

#[test]
fn encoder_that_obeys_after_seconds_is_not_reported() {
    let mut run = Run::new(9, false);
    run.ask(kbps(1_000));
    run.run(45);
    run.coded = kbps(800);
    run.run(100);
    assert!(run.steps.iter().all(|(_, step)| matches!(step, Step::Set(_))), "{:?}", run.steps);
}

#[test]
fn sound_above_the_rate_leaves_the_least_and_is_reported_once() {
    // Sound of 451 kb/s.
    let mut run = Run::new(30, true);
    run.ask(kbps(400));
    run.run(50);
    let (others, rate) = (Rate::from_bps(30 * 188 * 80), kbps(400));
    let crowded = |run: &Run| run.steps.iter().filter(|(_, step)| *step == Step::Crowded { others, rate }).count();
    assert_eq!((crowded(&run), run.coded), (1, LEAST), "{:?}", run.steps);
    run.ask(kbps(1_000));
    run.run(20);
    run.ask(kbps(400));
    run.run(50);
    assert_eq!((crowded(&run), run.coded), (1, LEAST));
}

proptest! {
    #[test]
    fn steps_are_few_and_no_bit_rate_exceeds_its_rate(rates in prop::collection::vec(1u64..5_000, 1..10)) {
        let mut run = Run::new(5, true);
        for rate in rates {
            run.ask(kbps(rate));
            run.run(3);
            prop_assert!(run.coded <= kbps(rate).max(LEAST));
        }
        prop_assert!(run.steps.len() < 50);
    }
}

//! Playback accounting: the outcome of each frame of a video that is played at a fixed pace. After Y. S. Sun, F.-M. Tsou,
//! M. C. Chen, "Predictive flow control for TCP-friendly end-to-end real-time video on the Internet" (R3CP+) §4.1.
//!
//! The paper has four categories of received frames; skipped ones, which were not sent by choice, are the fifth here. A
//! frame of several packets arrives with its last one, and is decoded with the frames that it was predicted from:
//!
//! ```text
//! ready(i) = max(arrival(i), ready of its references)
//! ```

use core::ops::AddAssign;

use crate::video::Kind;

/// The outcome of a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Complete and decodable in time.
    Playable,
    /// Not sent, by choice.
    Skipped,
    /// One of its packets or more never arrived.
    Broken,
    /// Complete after its deadline.
    Late,
    /// Complete in time, without its references.
    Orphan,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 5] =
        [Outcome::Playable, Outcome::Skipped, Outcome::Broken, Outcome::Late, Outcome::Orphan];

    /// The paper's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Playable => "playable",
            Outcome::Skipped => "skipped",
            Outcome::Broken => "broken",
            Outcome::Late => "late",
            Outcome::Orphan => "orphan",
        }
    }
}

/// A frame at the receiver. `T` is a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<T> {
    /// Its coding.
    pub kind: Kind,
    /// True if the sender did not skip it.
    pub sent: bool,
    /// The arrival of its last packet; none if a packet never arrived.
    pub arrival: Option<T>,
    /// The time at which it is played.
    pub deadline: T,
}

/// The outcome of each frame of a video, in display order.
///
/// A P needs the I or P before it, and a B those on both sides of it, except for one after the last frame of the video.
pub fn outcomes<T: Copy + PartialOrd>(frames: &[Frame<T>]) -> Vec<Outcome> {
    // The time at which each frame is decodable, if ever: first with the I or P before it, then with the one after it.
    let mut ready: Vec<Option<T>> = vec![None; frames.len()];
    let mut before = None;
    for (ready, frame) in ready.iter_mut().zip(frames) {
        let complete = frame.arrival.filter(|_| frame.sent);
        *ready = if frame.kind == Kind::I { complete } else { later(complete, before) };
        if frame.kind != Kind::B {
            before = *ready;
        }
    }
    let mut after = None;
    for (ready, frame) in ready.iter_mut().zip(frames).rev() {
        if frame.kind != Kind::B {
            after = Some(*ready);
        } else if let Some(after) = after {
            *ready = later(*ready, after);
        }
    }
    frames.iter().zip(ready).map(|(frame, ready)| outcome(frame, ready)).collect()
}

/// The outcome of a frame that is decodable at `ready`, if ever.
// Reading(R3CP+ §4.1): a frame that arrives after its own deadline is still a reference for frames that are played later.
pub fn outcome<T: Copy + PartialOrd>(frame: &Frame<T>, ready: Option<T>) -> Outcome {
    let in_time = |time: T| time <= frame.deadline;
    match (frame.sent, frame.arrival, ready) {
        (false, ..) => Outcome::Skipped,
        (_, None, _) => Outcome::Broken,
        (_, Some(arrival), _) if !in_time(arrival) => Outcome::Late,
        (.., Some(ready)) if in_time(ready) => Outcome::Playable,
        _ => Outcome::Orphan,
    }
}

/// The later of two times, if both are known.
fn later<T: Copy + PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    a.zip(b).map(|(a, b)| if a >= b { a } else { b })
}

/// The number of frames of each kind with each outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally([[u64; Outcome::ALL.len()]; Kind::ALL.len()]);

impl Tally {
    /// Counts a frame.
    pub fn add(&mut self, kind: Kind, outcome: Outcome) {
        self.0[kind as usize][outcome as usize] += 1;
    }

    /// The frames of a kind with an outcome.
    pub fn of(&self, kind: Kind, outcome: Outcome) -> u64 {
        self.0[kind as usize][outcome as usize]
    }

    /// The playback performance of a kind: the share of its frames that are playable; none without a frame.
    pub fn performance_of(&self, kind: Kind) -> Option<f64> {
        share(&[self.0[kind as usize]], Outcome::Playable)
    }

    /// The share of all frames that has an outcome; none without a frame.
    pub fn share(&self, outcome: Outcome) -> Option<f64> {
        share(&self.0, outcome)
    }

    /// The playback performance: the share of all frames that is playable; none without a frame.
    pub fn performance(&self) -> Option<f64> {
        self.share(Outcome::Playable)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        let pairs = self.0.iter_mut().flatten().zip(other.0.as_flattened());
        pairs.for_each(|(count, more)| *count += more);
    }
}

/// The share of `outcome` in rows of a tally.
fn share(rows: &[[u64; Outcome::ALL.len()]], outcome: Outcome) -> Option<f64> {
    let all: u64 = rows.iter().flatten().sum();
    let of: u64 = rows.iter().map(|row| row[outcome as usize]).sum();
    (all > 0).then(|| of as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Frames of `kinds`, one a second from 10 s on, each 5 s before its deadline unless `change` says otherwise.
    fn played(kinds: &str, change: impl Fn(usize, &mut Frame<f64>)) -> Vec<Outcome> {
        outcomes(&video(kinds, change))
    }

    fn video(kinds: &str, change: impl Fn(usize, &mut Frame<f64>)) -> Vec<Frame<f64>> {
        let frame = |(n, letter): (usize, char)| {
            let kind = Kind::of(letter.encode_utf8(&mut [0; 4])).expect("a kind");
            let mut frame = Frame { kind, sent: true, arrival: Some(5.0 + n as f64), deadline: 10.0 + n as f64 };
            change(n, &mut frame);
            frame
        };
        kinds.chars().enumerate().map(frame).collect()
    }

    use Outcome::{Broken, Late, Orphan, Playable, Skipped};

    #[test]
    fn frames_in_time_are_playable_and_the_last_need_no_next_reference() {
        assert_eq!(played("IBBPBBPBB", |_, _| ()), [Playable; 9]);
    }

    #[test]
    fn lost_p_orphans_all_frames_that_depend_on_it() {
        // The P at 3: the two B before it, all frames after it to the next I, and the two open B before that.
        let found = played("IBBPBBPBBIBB", |n, frame| {
            if n == 3 {
                frame.arrival = None;
            }
        });
        let mut expected = [Orphan; 12];
        (expected[0], expected[3]) = (Playable, Broken);
        expected[9..].fill(Playable);
        assert_eq!(found, expected);
    }

    #[test]
    fn skipped_b_costs_no_other_frame_and_skipped_i_all_of_its_group() {
        let skip = |which: usize| {
            played("IBPBI", move |n, frame| {
                if n == which {
                    (frame.sent, frame.arrival) = (false, None);
                }
            })
        };
        assert_eq!(skip(1), [Playable, Skipped, Playable, Playable, Playable]);
        assert_eq!(skip(0), [Skipped, Orphan, Orphan, Orphan, Playable]);
        assert_eq!(skip(4), [Playable, Playable, Playable, Orphan, Skipped]);
    }

    #[test]
    fn late_reference_is_used_by_frames_played_after_its_arrival() {
        // I is played at 10 and arrives at 11.5: the B of 11 s is too early for it, the P of 12 s is not.
        let found = played("IBP", |n, frame| {
            if n == 0 {
                frame.arrival = Some(11.5);
            }
        });
        assert_eq!(found, [Late, Orphan, Playable]);
        // At the deadline itself it is in time.
        assert_eq!(played("I", |_, frame| frame.arrival = Some(10.0)), [Playable]);
    }

    #[test]
    fn frames_before_the_first_i_are_orphans() {
        assert_eq!(played("BPBI", |_, _| ()), [Orphan, Orphan, Orphan, Playable]);
    }

    #[test]
    fn tally_has_the_shares_of_kinds_and_outcomes() {
        let mut tally = Tally::default();
        assert_eq!((tally.performance(), tally.performance_of(Kind::I)), (None, None));
        for (kind, outcome) in [(Kind::I, Playable), (Kind::B, Skipped), (Kind::B, Playable), (Kind::P, Orphan)] {
            tally.add(kind, outcome);
        }
        assert_eq!((tally.performance(), tally.performance_of(Kind::B)), (Some(0.5), Some(0.5)));
        assert_eq!((tally.share(Orphan), tally.of(Kind::P, Orphan), tally.of(Kind::I, Orphan)), (Some(0.25), 1, 0));
    }

    /// The time at which a frame is decodable, by recursion over its references.
    fn ready(frames: &[Frame<f64>], n: usize) -> f64 {
        let own = frames[n].arrival.filter(|_| frames[n].sent).unwrap_or(f64::INFINITY);
        let before = (0..n).rev().find(|&other| frames[other].kind != Kind::B);
        let before = before.map_or(f64::INFINITY, |before| ready(frames, before));
        let after = (n + 1..frames.len()).find(|&other| frames[other].kind != Kind::B);
        match frames[n].kind {
            Kind::I => own,
            Kind::P => own.max(before),
            Kind::B => own.max(before).max(after.map_or(0.0, |after| ready(frames, after))),
        }
    }

    proptest! {
        #[test]
        fn playable_frames_are_those_whose_references_are_there_in_time(
            frames in prop::collection::vec((0usize..3, any::<bool>(), prop::option::of(0u32..30), 0u32..30), 0..40),
        ) {
            let frame = |(kind, sent, arrival, deadline): (usize, bool, Option<u32>, u32)| Frame {
                kind: Kind::ALL[kind],
                sent,
                arrival: arrival.map(f64::from),
                deadline: f64::from(deadline),
            };
            let frames: Vec<Frame<f64>> = frames.into_iter().map(frame).collect();
            for (n, (frame, outcome)) in frames.iter().zip(outcomes(&frames)).enumerate() {
                prop_assert_eq!(outcome == Playable, ready(&frames, n) <= frame.deadline);
                prop_assert_eq!(outcome == Skipped, !frame.sent);
                prop_assert_eq!(outcome == Broken, frame.sent && frame.arrival.is_none());
            }
        }
    }
}

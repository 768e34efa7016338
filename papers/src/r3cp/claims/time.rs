//! Claims about Figs. 7 and 8: the course of a video over time.

use super::{Condition, Evaluator, Part, Subject, Wanted, difference};
use crate::r3cp::Second;

/// The rate of the video with its variation, kb/s: the range that the project accepts for "about 380".
const NEED: Wanted = Wanted::Within(330.0, 430.0);
/// Frames per second of the video.
const FPS: f64 = 24.0;

impl Evaluator<'_> {
    /// The mean of a value of the first video of Fig. 7, from one second to another, for every seed.
    fn course(&self, subject: Subject, from: usize, to: usize, of: fn(&Second) -> f64) -> Vec<f64> {
        self.values(Condition::Congested, subject, |record| record.mean(0, from, to, of))
    }

    /// The difference of such means between two subjects.
    fn courses(&self, [more, less]: [Subject; 2], from: usize, to: usize, of: fn(&Second) -> f64) -> Vec<f64> {
        difference(&self.course(more, from, to, of), &self.course(less, from, to, of))
    }
}

const OURS_AND_TFCC: [Subject; 2] = [Subject::R3cpPlus, Subject::Tfcc];

pub(super) fn settles(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let ours = evaluator.course(Subject::R3cpPlus, 5, 8, |second| second.requested_kbps);
    let tfcc = evaluator.course(Subject::Tfcc, 7, 8, |second| second.requested_kbps);
    vec![
        Part::new("requested by R3CP+, 5 to 8 s, kb/s", ours, NEED),
        Part::new("requested by TFCC at 8 s, kb/s", tfcc, Wanted::Above(760.0)),
    ]
}

pub(super) fn plays_on(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let more = evaluator.courses(OURS_AND_TFCC, 9, 38, |second| second.played / FPS);
    let tfcc = evaluator.course(Subject::Tfcc, 20, 40, |second| second.played / FPS);
    vec![
        Part::new("playable, 9 to 38 s, R3CP+ - TFCC", more, Wanted::Above(0.0)),
        Part::new("playable under TFCC, 20 to 40 s", tfcc, Wanted::Below(0.1)),
    ]
}

pub(super) fn returns(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let ours = evaluator.course(Subject::R3cpPlus, 50, 60, |second| second.received_kbps);
    let late = evaluator.course(Subject::Tfcc, 55, 60, |second| second.buffer_s);
    let early = evaluator.course(Subject::Tfcc, 48, 53, |second| second.buffer_s);
    vec![
        Part::new("received by R3CP+, 50 to 60 s, kb/s", ours, NEED),
        Part::new("growth of TFCC's buffer from 50 to 57 s, s", difference(&late, &early), Wanted::Above(0.0)),
    ]
}

pub(super) fn survives_the_burst(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let more = evaluator.courses(OURS_AND_TFCC, 45, 50, |second| second.played / FPS);
    vec![Part::new("playable, 45 to 50 s, R3CP+ - TFCC", more, Wanted::Above(0.0))]
}

pub(super) fn shares_evenly(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let ratio = evaluator.values(Condition::Pair, Subject::R3cpPlus, |record| {
        let rate = |video| record.mean(video, 130, 200, |second| second.received_kbps);
        rate(0) / rate(1)
    });
    vec![Part::new("received, 130 to 200 s, first / second", ratio, Wanted::Within(0.8, 1.25))]
}

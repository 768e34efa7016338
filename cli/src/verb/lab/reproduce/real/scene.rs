//! What is run: which connections, from when to when, and what of it counts.

use std::ops::Range;

use thalweg_lab::paper::tcp_stream::Condition;

use super::carrier::Carrier;

/// Who is on the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in super::super) enum Scene {
    /// Fig. 5: a film, and one CUBIC connection beside it from 30 s on.
    Background,
    /// Two films, the second one second behind the first.
    Together,
    /// Two films, the second when the first has all that is spare.
    Late,
}

impl Scene {
    pub(super) const PAIRS: [Scene; 2] = [Scene::Together, Scene::Late];

    pub(super) fn title(self) -> &'static str {
        match self {
            Scene::Background => "a film and CUBIC",
            Scene::Together => "1 s apart",
            Scene::Late => "20 s apart",
        }
    }

    /// When the second connection starts, s.
    pub(super) fn second(self) -> u64 {
        match self {
            Scene::Background => 30,
            Scene::Together => 1,
            Scene::Late => 20,
        }
    }

    /// How long it is, s.
    pub(super) fn seconds(self) -> u64 {
        match self {
            Scene::Background => 60,
            Scene::Together => 30,
            Scene::Late => 50,
        }
    }

    /// The seconds in which both connections are compared: the last twenty of two films, when their windows have grown.
    pub(super) fn beside(self) -> Range<usize> {
        match self {
            Scene::Background => 31..60,
            Scene::Together => 10..30,
            Scene::Late => 30..50,
        }
    }

    /// What carries the connection beside a film.
    pub(super) fn second_carrier(self, film: Carrier) -> Carrier {
        if self.are_films() { film } else { Carrier::Cubic }
    }

    /// Whether both connections are films.
    pub(super) fn are_films(self) -> bool {
        self != Scene::Background
    }

    /// Whose films are of interest in it.
    pub(super) fn carriers(self) -> &'static [Carrier] {
        match self {
            Scene::Background => &Carrier::ALL,
            Scene::Together | Scene::Late => &Carrier::OURS,
        }
    }

    /// The same in the lab.
    pub(super) fn in_the_lab(self, queue: u32) -> Condition {
        let second = self.second() as u32;
        match self {
            Scene::Background => Condition::Testbed { queue },
            Scene::Together | Scene::Late => Condition::Pair { queue, second, end: self.seconds() as u32 },
        }
    }
}

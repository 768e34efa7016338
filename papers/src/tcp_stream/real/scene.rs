//! The kinds of scene: the connections, their times, and the seconds that count.

use std::ops::Range;

use super::carrier::Carrier;
use crate::tcp_stream::Condition;

/// The connections on the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Scene {
    /// Fig. 5: a video, and one CUBIC connection beside it from 30 s on.
    Background,
    /// Two videos, the second one second after the first.
    Together,
    /// Two videos, the second when the first has taken all spare capacity.
    Late,
}

impl Scene {
    pub(super) const PAIRS: [Scene; 2] = [Scene::Together, Scene::Late];

    pub(super) fn title(self) -> &'static str {
        match self {
            Scene::Background => "a video and CUBIC",
            Scene::Together => "1 s apart",
            Scene::Late => "20 s apart",
        }
    }

    /// The start of the second connection, s.
    pub(super) fn second(self) -> u64 {
        match self {
            Scene::Background => 30,
            Scene::Together => 1,
            Scene::Late => 20,
        }
    }

    /// The length of a run, s.
    pub(super) fn seconds(self) -> u64 {
        match self {
            Scene::Background => 60,
            Scene::Together => 30,
            Scene::Late => 50,
        }
    }

    /// The seconds in which both connections are compared: the last twenty of two videos, when their windows have
    /// grown.
    pub(super) fn beside(self) -> Range<usize> {
        match self {
            Scene::Background => 31..60,
            Scene::Together => 10..30,
            Scene::Late => 30..50,
        }
    }

    /// The congestion control of the connection beside a video.
    pub(super) fn second_carrier(self, video: Carrier) -> Carrier {
        if self.are_videos() { video } else { Carrier::Cubic }
    }

    /// True if both connections carry videos.
    pub(super) fn are_videos(self) -> bool {
        self != Scene::Background
    }

    /// The congestion controls of the video that are run in this scene.
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

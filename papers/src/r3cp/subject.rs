//! The controls that the paper compares.

use crate::figure;
use crate::page::Tone;

/// A control of a stored video, or its absence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// The paper's protocol.
    R3cpPlus,
    /// The same without prediction, congestion control and skipping.
    R3cp,
    /// Additive increase and multiplicative decrease.
    Tfcc,
    /// The video's own pace, without retransmission.
    NoControl,
    /// No video at all, in Fig. 9.
    NoVideo,
}

impl Subject {
    /// All controls.
    pub const CONTROLS: [Subject; 4] = [Subject::R3cpPlus, Subject::R3cp, Subject::Tfcc, Subject::NoControl];
    /// The rivals of R3CP+.
    pub const RIVALS: [Subject; 3] = [Subject::R3cp, Subject::Tfcc, Subject::NoControl];
    /// The subjects of Fig. 9.
    pub const BESIDE_TCP: [Subject; 3] = [Subject::R3cpPlus, Subject::Tfcc, Subject::NoVideo];

    /// True if thresholds and store have an effect on it.
    pub(super) const fn has_settings(self) -> bool {
        matches!(self, Subject::R3cpPlus | Subject::R3cp | Subject::Tfcc)
    }

    /// The parameters of the scenarios that it sets.
    pub(super) const fn settings(self) -> (&'static str, &'static str) {
        match self {
            Subject::R3cpPlus => ("control", "r3cp+"),
            Subject::R3cp => ("control", "r3cp"),
            Subject::Tfcc => ("control", "tfcc"),
            Subject::NoControl => ("control", "none"),
            Subject::NoVideo => ("videos", "0"),
        }
    }
}

impl figure::Subject for Subject {
    fn name(self) -> &'static str {
        match self {
            Subject::R3cpPlus => "R3CP+",
            Subject::R3cp => "R3CP",
            Subject::Tfcc => "TFCC",
            Subject::NoControl => "no control",
            Subject::NoVideo => "no video",
        }
    }

    fn tone(self) -> Tone {
        Tone(match self {
            Subject::R3cpPlus => 2,
            Subject::R3cp => 1,
            Subject::Tfcc => 3,
            Subject::NoControl => 5,
            Subject::NoVideo => 0,
        })
    }
}

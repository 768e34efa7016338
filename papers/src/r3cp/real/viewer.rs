//! The ways in which a video is watched.

use crate::figure::Subject;
use crate::page::Tone;

/// A viewer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Viewer {
    /// `thalweg play` under R3CP+, with a store of this many seconds.
    R3cpPlus(u32),
    /// The same under R3CP.
    R3cp,
    /// Under TFCC.
    Tfcc,
    /// Plain RTP at the video's pace, without retransmission.
    Plain,
    /// A player that reads from the kernel's TCP, under CUBIC.
    Cubic,
    /// Under BBR.
    Bbr,
}

impl Viewer {
    /// The options of `thalweg play`; none of a player over TCP.
    pub(super) fn options(self) -> Option<[String; 2]> {
        let (control, store) = match self {
            Viewer::R3cpPlus(store) => ("r3cp+", store),
            Viewer::R3cp => ("r3cp", 2),
            Viewer::Tfcc => ("tfcc", 2),
            Viewer::Plain => ("none", 0),
            Viewer::Cubic | Viewer::Bbr => return None,
        };
        Some([format!("--control={control}"), format!("--store={store}s")])
    }

    /// The kernel's name of the congestion control.
    pub(super) fn tcp(self) -> &'static str {
        if self == Viewer::Bbr { "bbr" } else { "cubic" }
    }
}

impl Subject for Viewer {
    fn name(self) -> &'static str {
        match self {
            Viewer::R3cpPlus(10) => "R3CP+, store of 10 s",
            Viewer::R3cpPlus(_) => "R3CP+",
            Viewer::R3cp => "R3CP",
            Viewer::Tfcc => "TFCC",
            Viewer::Plain => "plain RTP",
            Viewer::Cubic => "player over CUBIC",
            Viewer::Bbr => "player over BBR",
        }
    }

    fn tone(self) -> Tone {
        Tone(match self {
            Viewer::R3cpPlus(10) => 4,
            Viewer::R3cpPlus(_) => 2,
            Viewer::R3cp => 1,
            Viewer::Tfcc => 3,
            Viewer::Plain => 5,
            Viewer::Cubic => 0,
            Viewer::Bbr => 6,
        })
    }
}

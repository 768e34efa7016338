//! Frames of a coded video, as MPEG orders them.

/// The coding of a frame, the least important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Predicted from the I or P on both sides of it.
    B,
    /// Predicted from the I or P before it.
    P,
    /// Independent of other frames.
    I,
}

impl Kind {
    /// Every kind, the least important first.
    pub const ALL: [Kind; 3] = [Kind::B, Kind::P, Kind::I];

    /// The kind with a letter.
    pub fn of(letter: &str) -> Option<Kind> {
        match letter {
            "I" => Some(Kind::I),
            "P" => Some(Kind::P),
            "B" => Some(Kind::B),
            _ => None,
        }
    }
}

/// The class of a frame of pictures or sound, by which a sender chooses. The least important is first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// A frame of the video.
    Picture(Kind),
    /// A frame of the audio, which is never skipped.
    Audio,
}

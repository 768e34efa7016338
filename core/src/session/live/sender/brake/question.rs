//! The question to a path: how its loss changes with the repair that is sent.
//!
//! There are two ways to ask. *Less* repair costs losses that are not repaired meanwhile, and relieves a full path at once.
//! *More* repair costs bytes for a second, and loses nothing on a lossy path. On a full path it loses as much more as it adds,
//! but not for long: so much more shows soon. A law that sends nearly all that its window allows has no more to send.

/// The loss ratio up to which more repair is sent. Ours: the full path of a bottleneck that shows no delay is then a seventh
/// too small at most, and repair makes up for a part of what a second of more repair loses.
const MOST_LOSS: f64 = 0.15;
/// The ratio of the added repair to the loss ratio, and the least and the greatest part of all packets that is added. Ours: on a
/// full path the loss ratio is then three times as high, which half a second shows at 10 Mb/s.
const CONTRAST: f64 = 2.0;
const ADDED: (f64, f64) = (0.1, 0.2);
/// The ratio of the repair that is taken away to the least that would end the loss of a full path. Ours: the measured rates
/// err by less; more leaves more losses unrepaired.
const EXCESS: f64 = 1.1;

/// The change of the repair that is sent, during a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session::live::sender) enum Question {
    /// More than the law chooses.
    More,
    /// Less than the law's window.
    Less,
}

impl Question {
    /// The question about a loss ratio of `p` to a law whose window is but a `bound` to what it sends, and the window that asks in
    /// the place of `window`, which it sends on average for `k` source packets.
    pub(super) fn about(p: f64, (window, bound): (f64, f64), k: f64) -> (Question, f64) {
        let (odds, all) = (p / (1.0 - p), k + window);
        let more = window + all * (CONTRAST * odds).clamp(ADDED.0, ADDED.1);
        if p <= MOST_LOSS && more <= bound {
            return (Question::More, more);
        }
        // Without it the loss ratio of a full path would fall to zero.
        (Question::Less, (window - all * EXCESS * odds / (1.0 + EXCESS * odds)).max(0.0))
    }
}

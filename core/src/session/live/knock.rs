//! The interval of hellos and requests that are not answered.

use crate::time::Span;

/// The interval at first. Ours: a peer that starts is found within a tenth of a second; hellos take 14 kb/s at most.
pub(super) const KNOCK: Span = Span::from_millis(100);
/// The time for which they are that frequent; a peer that does not answer for longer gets fewer. Ours: time to start both
/// ends by hand; afterwards those of a forgotten end take a tenth of that.
const EAGER: Span = Span::from_secs(10);
/// The interval of those fewer.
const WAIT: Span = Span::from_secs(1);

/// The wait before the next one, after `unanswered` without an answer.
pub(super) fn interval(unanswered: Span) -> Span {
    if unanswered < EAGER { KNOCK } else { WAIT }
}

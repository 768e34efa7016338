//! The latency that both ends of a stream keep.

use crate::time::Span;

/// The latency that one end wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Time from input to output. If it is left to the path, the sender's proposal; zero from a receiver, and from an end
    /// that discloses nothing yet.
    pub span: Span,
    /// True if the latency is left to the path, so that a number of the other end applies.
    pub is_auto: bool,
}

impl Wanted {
    /// Those of a field and its flag.
    pub(super) fn of(micros: u32, auto: u8) -> Wanted {
        Wanted { span: Span::from_micros(micros.into()), is_auto: auto != 0 }
    }

    /// The latency that both ends keep, of the one that a sender wants and that of its receiver: of two numbers the longer, of
    /// one that number, otherwise the sender's proposal, because the sender knows the round trip.
    #[must_use]
    pub fn agreed(self, receiver: Wanted) -> Span {
        match (self.is_auto, receiver.is_auto) {
            (false, false) => self.span.max(receiver.span),
            (true, false) => receiver.span,
            (_, true) => self.span,
        }
    }

    /// Returns whether both ends leave the latency to the path.
    #[must_use]
    pub fn is_auto_with(self, receiver: Wanted) -> bool {
        self.is_auto && receiver.is_auto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_wins_over_auto_and_the_longer_of_two_applies() {
        let millis = Span::from_millis;
        let (number, auto) =
            (|span| Wanted { span: millis(span), is_auto: false }, |span| Wanted { span: millis(span), is_auto: true });
        for (sender, receiver, agreed) in [
            (number(90), number(150), 150),
            (number(150), number(90), 150),
            (number(90), auto(0), 90),
            (auto(175), number(60), 60),
            (auto(175), auto(0), 175),
        ] {
            assert_eq!(sender.agreed(receiver), millis(agreed), "{sender:?} {receiver:?}");
        }
    }
}

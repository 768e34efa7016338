//! The overhead account of §III-A.

/// What was wasted, and what may have been. Eq. (9).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Overhead {
    /// w: packets that are known to have told the receiver nothing new.
    pub useless: u64,
    /// t: packets that are known to have arrived.
    pub received: u64,
    /// |F|: packets in flight.
    pub in_flight: u64,
    /// Sum over F: the packets in flight that are expected to be useless.
    pub p_useless: f64,
}

impl Overhead {
    /// u: useless packets for each one that was needed, 0 before there was any. Can be infinite.
    pub fn u(&self) -> f64 {
        self.share(0.0, 0.0)
    }

    /// u if one more packet were in flight that is useless with probability `p_useless`.
    pub fn with(&self, p_useless: f64) -> f64 {
        self.share(1.0, p_useless)
    }

    pub(super) fn sent(&mut self, p_useless: f64) {
        self.in_flight += 1;
        self.p_useless += p_useless;
    }

    /// A packet is in flight no more: it arrived, or it counts as lost.
    pub(super) fn landed(&mut self, p_useless: f64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // Rounding must not pile up over a long stream.
        self.p_useless = if self.in_flight == 0 { 0.0 } else { (self.p_useless - p_useless).max(0.0) };
    }

    pub(super) fn arrived(&mut self, useful: bool) {
        self.received += 1;
        self.useless += u64::from(!useful);
    }

    fn share(&self, more: f64, p_useless: f64) -> f64 {
        let wasted = self.useless as f64 + self.p_useless + p_useless;
        let needed = (self.received + self.in_flight) as f64 + more - wasted;
        if wasted <= 0.0 {
            0.0
        } else if needed <= 0.0 {
            f64::INFINITY
        } else {
            wasted / needed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §III: 95 originals at 5 % loss need 100 packets; 110 are an overhead of .10.
    #[test]
    fn ten_packets_too_many_for_a_hundred_are_a_tenth() {
        let account = Overhead { useless: 10, received: 110, ..Overhead::default() };
        assert_eq!(account.u(), 0.1);
    }

    #[test]
    fn nothing_sent_is_no_overhead_and_nothing_needed_is_boundless() {
        assert_eq!(Overhead::default().u(), 0.0);
        assert_eq!(Overhead { useless: 1, received: 1, ..Overhead::default() }.u(), f64::INFINITY);
    }

    #[test]
    fn what_is_in_flight_counts_by_its_probability() {
        let mut account = Overhead { useless: 1, received: 7, ..Overhead::default() };
        account.sent(0.25);
        account.sent(0.0);
        assert_eq!(account.u(), 1.25 / (9.0 - 1.25));
        assert_eq!(account.with(0.5), 1.75 / (10.0 - 1.75));
        account.landed(0.25);
        account.arrived(true);
        assert_eq!(account.u(), 1.0 / 8.0);
    }
}

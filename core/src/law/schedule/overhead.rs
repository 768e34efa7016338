//! The overhead account of §III-A.

/// Useless packets, known and expected. Eq. (9).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Overhead {
    /// w: packets that are known not to have been innovative.
    pub useless: u64,
    /// t: packets that are known to have arrived.
    pub received: u64,
    /// |F|: packets in flight.
    pub in_flight: u64,
    /// The sum over F: the number of packets in flight that are expected to be useless.
    pub p_useless: f64,
}

impl Overhead {
    /// u: useless packets for each needed one, 0 before there was any. Can be infinite.
    pub fn u(&self) -> f64 {
        self.share(0.0, 0.0)
    }

    /// u with one more packet in flight that is useless with probability `p_useless`.
    pub fn with(&self, p_useless: f64) -> f64 {
        self.share(1.0, p_useless)
    }

    pub(super) fn sent(&mut self, p_useless: f64) {
        self.in_flight += 1;
        self.p_useless += p_useless;
    }

    /// Removes a packet from those in flight: it arrived, or was declared lost.
    pub(super) fn landed(&mut self, p_useless: f64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // Rounding errors must not accumulate over a long stream.
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
    fn ten_useless_packets_per_hundred_are_an_overhead_of_a_tenth() {
        let account = Overhead { useless: 10, received: 110, ..Overhead::default() };
        assert_eq!(account.u(), 0.1);
    }

    #[test]
    fn overhead_is_zero_without_packets_and_infinite_if_all_are_useless() {
        assert_eq!(Overhead::default().u(), 0.0);
        assert_eq!(Overhead { useless: 1, received: 1, ..Overhead::default() }.u(), f64::INFINITY);
    }

    #[test]
    fn packets_in_flight_count_by_their_probability() {
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

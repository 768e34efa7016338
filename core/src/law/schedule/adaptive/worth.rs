//! Weights of originals, and the cost of one that cannot be decoded.

use super::super::{Place, View};

/// Half a burst of the paper, packets: the mean wait of an original before it is sent.
const HALF_A_BURST: f64 = 4.5;
/// The probability of being useless below which a packet is worth a free opportunity.
pub(super) const LIKELY: f64 = 0.5;
/// The round trip in packet times above which an undecodable original costs the time to the first free opportunity, m,
/// plus LONG² / r: the less likely one comes within the round trip, the longer. No path of the paper has more.
pub(super) const LONG: f64 = 20.0;

/// The weight w_l of an original.
pub(super) fn weight(view: &View<'_>) -> impl Fn(&Place) -> f64 {
    let (rtt, slot) = (view.path.rtt.as_secs_f64(), view.path.slot.as_secs_f64());
    let usual = (rtt + HALF_A_BURST * slot).max(f64::MIN_POSITIVE);
    let now = view.now;
    move |place| {
        let share = (now.since(place.entered).as_secs_f64() + rtt) / usual;
        share * share * share
    }
}

/// r: the round trip in packet times.
pub(super) fn round_trip(view: &View<'_>) -> f64 {
    view.path.rtt.as_secs_f64() / view.path.slot.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// r + slack: the cost of an undecodable original, packet times.
pub(super) fn lack(view: &View<'_>, slack: f64) -> f64 {
    let rtt = round_trip(view);
    rtt.min(LONG * LONG / rtt.max(1.0) + view.queue.m() as f64) + slack
}

/// The probability of being useless up to which a packet may precede a backlog on the fastest paths.
const FEW: f64 = 0.05;

/// The probability of being useless above which a packet may not precede a backlog, if the next packet is lost with
/// `eps`. On a fast path thousands are in flight; there a small `eps` itself as the bound would keep repair two
/// standard deviations behind the losses, each of which would delay a flight for two round trips.
pub(super) fn max_useless_under_backlog(view: &View<'_>, eps: f64) -> f64 {
    (eps * (round_trip(view) / LONG).max(1.0)).min(FEW.max(eps))
}

/// The part of the probability that something is missing which one packet removes: that probability divided by the
/// number of packets that are expected to be missing if any is.
pub(super) fn repair_value(p_all: f64, q: f64) -> f64 {
    let repair_value = 1.0 - p_all;
    repair_value * (repair_value / q.max(f64::MIN_POSITIVE)).min(1.0)
}

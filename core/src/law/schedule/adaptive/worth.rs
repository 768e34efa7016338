//! Weights of originals, and the cost of one that cannot be decoded.

use super::super::{Place, View};

/// Half a burst of the paper, packets: what an original waits before it is sent, on average.
const HALF_A_BURST: f64 = 4.5;
/// Probability of being useless below which a packet is worth a free opportunity.
pub(super) const LIKELY: f64 = 0.5;
/// Packet times of a round trip above which the first free opportunity after what waits counts in its place, or so much
/// later as it is less likely to come within the round trip: LONG² / r. No path of the paper has more.
pub(super) const LONG: f64 = 20.0;

/// w_l.
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

/// r + slack: what an original costs that is not decodable, packet times.
pub(super) fn lack(view: &View<'_>, slack: f64) -> f64 {
    let rtt = round_trip(view);
    rtt.min(LONG * LONG / rtt.max(1.0) + view.queue.m() as f64) + slack
}

/// A packet that is useless with no more than this may go before a crowd on the fastest lines.
const FEW: f64 = 0.05;

/// The probability above which a useless packet may not go before what waits in a crowd, if the next packet is lost with `eps`. On
/// a fast line thousands are in flight, and with a small `eps` itself repair would stay two standard deviations behind the losses:
/// each of these would hold up a flight for two round trips.
pub(super) fn useless_in_crowd(view: &View<'_>, eps: f64) -> f64 {
    (eps * (round_trip(view) / LONG).max(1.0)).min(FEW.max(eps))
}

/// Effect of one packet against the probability that something is missing: one part of it in as many packets as are
/// expected to be missing where something is.
pub(super) fn doubt(p_all: f64, q: f64) -> f64 {
    let doubt = 1.0 - p_all;
    doubt * (doubt / q.max(f64::MIN_POSITIVE)).min(1.0)
}

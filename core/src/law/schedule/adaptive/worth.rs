//! What is weighed: how much an original counts, and what one that cannot be decoded costs.

use super::super::{Place, View};

/// Half a burst of the paper, packets: what an original waits before it is sent, on average.
const HALF_A_BURST: f64 = 4.5;
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

//! Claims on Fig. 5: one film, alone and then beside CUBIC.

use super::simulation::PLAYBACK_MBPS;
use super::{Carrier, Court, Part, Series, Wanted, difference};

/// 90 % of 100 Mb/s.
const MOST_OF_THE_LINK: f64 = 90.0;

const FILM_BESIDE: fn(&Series) -> f64 = |series| series.film_mbps(30, 60);

pub(super) fn fills_the_link(court: &Court<'_>) -> Vec<Part> {
    let alone = court.rates(court.reading.ours, |series| series.film_mbps(20, 30));
    vec![Part::new("the film, 20 to 30 s, Mb/s", alone, Wanted::Above(MOST_OF_THE_LINK))]
}

pub(super) fn adjusts(court: &Court<'_>) -> Vec<Part> {
    let (ours, cubics) = (court.rates(court.reading.ours, FILM_BESIDE), court.rates(Carrier::Cubic, FILM_BESIDE));
    vec![
        Part::new("the film, CUBIC - TCP Stream, Mb/s", difference(&cubics, &ours), Wanted::Above(0.0)),
        Part::new("the film, Mb/s", ours, Wanted::Within(PLAYBACK_MBPS, 1.25 * PLAYBACK_MBPS)),
    ]
}

pub(super) fn leaves_more(court: &Court<'_>) -> Vec<Part> {
    let background = |carrier| court.rates(carrier, |series| series.background_mbps(30, 60));
    let more = difference(&background(court.reading.ours), &background(Carrier::Cubic));
    vec![Part::new("background, beside TCP Stream - beside CUBIC, Mb/s", more, Wanted::Above(0.0))]
}

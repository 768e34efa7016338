//! Claims about Fig. 5: one video, alone and then beside CUBIC.

use super::simulation::PLAYBACK_MBPS;
use super::{Carrier, Evaluator, Part, Series, Wanted, difference};

/// 90 % of 100 Mb/s.
const MOST_OF_THE_LINK: f64 = 90.0;

const VIDEO_BESIDE: fn(&Series) -> f64 = |series| series.video_mbps(30, 60);

pub(super) fn fills_the_link(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let alone = evaluator.rates(evaluator.reading.ours, |series| series.video_mbps(20, 30));
    vec![Part::new("the video, 20 to 30 s, Mb/s", alone, Wanted::Above(MOST_OF_THE_LINK))]
}

pub(super) fn adjusts(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let (ours, cubics) =
        (evaluator.rates(evaluator.reading.ours, VIDEO_BESIDE), evaluator.rates(Carrier::Cubic, VIDEO_BESIDE));
    vec![
        Part::new("the video, CUBIC - TCP Stream, Mb/s", difference(&cubics, &ours), Wanted::Above(0.0)),
        Part::new("the video, Mb/s", ours, Wanted::Within(PLAYBACK_MBPS, 1.25 * PLAYBACK_MBPS)),
    ]
}

pub(super) fn leaves_more(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let background = |carrier| evaluator.rates(carrier, |series| series.background_mbps(30, 60));
    let more = difference(&background(evaluator.reading.ours), &background(Carrier::Cubic));
    vec![Part::new("background, beside TCP Stream - beside CUBIC, Mb/s", more, Wanted::Above(0.0))]
}

//! The bars that the project sets for R3CP+ on sockets.

use super::record::Record;
use super::scene::Scene;
use super::viewer::Viewer;
use super::{Job, Results};
use crate::bar::Bar;
use crate::figure::Subject;

/// The share of the link that the video leaves, of which CUBIC gets at least .85: 1.5 Mb/s less the mean rate of the
/// MPEG-1 video with headers.
const LEFT_KBPS: f64 = 1_500.0 - 400.0;

/// A bar of a run.
fn bar(results: &Results, (scene, viewer): (Scene, Viewer), what: &str, of: fn(&Record) -> f64, least: f64) -> Bar {
    let measured = results.get(&Job::of(scene, viewer)).map_or(f64::NAN, of);
    let what = format!("{}, {}: {what}", scene.title(), viewer.name());
    Bar { what, wanted: format!("at least {least}"), measured, holds: measured >= least }
}

/// A bar that a number must not exceed.
fn most(results: &Results, (scene, viewer): (Scene, Viewer), what: &str, of: fn(&Record) -> f64, most: f64) -> Bar {
    let below = bar(results, (scene, viewer), what, of, 0.0);
    Bar { wanted: format!("at most {most}"), holds: below.measured <= most, ..below }
}

fn playback(record: &Record) -> f64 {
    record.viewers.first().map_or(f64::NAN, |viewer| viewer.playback)
}

fn still(record: &Record) -> f64 {
    record.viewers.first().map_or(f64::NAN, |viewer| viewer.still)
}

fn first(record: &Record) -> f64 {
    record.viewers.first().and_then(|viewer| viewer.first).unwrap_or(f64::NAN)
}

fn seek(record: &Record) -> f64 {
    record.viewers.first().map_or(f64::NAN, |viewer| viewer.median_seek(Scene::Seeks(0, 0).seeks().len()))
}

fn cubic(record: &Record) -> f64 {
    record.flows_kbps.unwrap_or(f64::NAN) / LEFT_KBPS
}

/// All bars.
pub(super) fn all(results: &Results) -> Vec<Bar> {
    use Viewer::{Cubic, Plain, R3cpPlus, Tfcc};
    let (beside, lossy) = (Scene::Beside, Scene::Lossy);
    let rival = |viewer| results.get(&Job::of(beside, viewer)).map_or(f64::NAN, playback);
    let above = |viewer: Viewer| {
        let more = bar(results, (beside, R3cpPlus(2)), "", playback, 0.0);
        let what = format!("{}, R3CP+: playback less that of {}", beside.title(), viewer.name());
        let measured = more.measured - rival(viewer);
        Bar { what, wanted: "above 0".into(), measured, holds: measured > 0.0 }
    };
    let seeks = [(Scene::Seeks(60, 0), 1.5), (Scene::Seeks(200, 2), 2.5), (Scene::Seeks(200, 5), 2.5)];
    let starts = seeks.into_iter().flat_map(|(scene, limit)| {
        let subject = (scene, R3cpPlus(2));
        [
            most(results, subject, "seconds to the first frame", first, limit),
            most(results, subject, "seconds from a key to the first frame after the seek, the median", seek, limit),
        ]
    });
    let bars = vec![
        bar(results, (beside, R3cpPlus(2)), "playback", playback, 0.8),
        bar(results, (beside, R3cpPlus(10)), "playback", playback, 0.9),
        above(Plain),
        above(Tfcc),
        bar(results, (beside, R3cpPlus(2)), "CUBIC's share of what the video leaves", cubic, 0.85),
        bar(results, (lossy(2), R3cpPlus(2)), "playback", playback, 0.97),
        bar(results, (lossy(5), R3cpPlus(2)), "playback", playback, 0.94),
        most(results, (lossy(2), R3cpPlus(2)), "seconds without a picture", still, 0.0),
        most(results, (lossy(5), R3cpPlus(2)), "seconds without a picture", still, 0.0),
        most(results, (lossy(2), R3cpPlus(2)), "seconds to the first frame", first, 2.5),
        bar(results, (lossy(2), Cubic), "seconds without a picture", still, 1.0),
        bar(results, (lossy(5), Cubic), "seconds without a picture", still, 1.0),
    ];
    bars.into_iter().chain(starts).collect()
}

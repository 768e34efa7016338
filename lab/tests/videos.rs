//! Real videos, if they are available: their known properties must result from the traces and match the model.

use std::path::Path as FilePath;

use thalweg_core::time::Span;
use thalweg_lab::traffic::video::Kind;
use thalweg_lab::traffic::video_model::Shape;
use thalweg_lab::traffic::video_trace::Trace;

/// A trace of the shared videos; none, after a message, if they are not available.
fn trace(name: &str, frame_time: Option<Span>) -> Option<Trace> {
    let shared = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/frames");
    if !shared.exists() {
        println!("skipped, there is no ../shared/data/frames");
        return None;
    }
    let text = std::fs::read_to_string(shared.join(name)).expect(name);
    Some(Trace::parse(&text, frame_time).expect(name))
}

#[test]
fn videos_have_the_rate_and_the_peak_that_their_collection_states() {
    for (name, frames, kbps, peak) in [
        ("sintel_trailer_mpeg1_ibbp12_24fps_480x272.csv", 1_253, 378.0, 6.1),
        ("sintel_trailer_720p24_h264_debsrc.csv", 1_253, 1_034.0, 18.1),
    ] {
        let Some(trace) = trace(name, None) else { return };
        assert_eq!(trace.frames().len(), frames);
        // 24 frames a second, from times that are rounded to a tenth of a millisecond.
        assert!((trace.frame_time().as_millis_f64() - 1e3 / 24.0).abs() < 0.1 / 1_252.0, "{:?}", trace.frame_time());
        let rate = trace.mean_rate().as_mbps_f64() * 1e3;
        assert!((rate - kbps).abs() < 0.5, "{name}: {rate} kb/s");
        let largest = trace.frames().iter().map(|frame| frame.size.0).max().expect("frames") as f64;
        let mean = rate * 1e3 / 8.0 / 24.0;
        assert!((largest / mean - peak).abs() < 0.05, "{name}: {}", largest / mean);
    }
}

#[test]
fn the_camera_in_temporal_layers_has_5_mbps_at_30_frames_a_second() {
    let Some(trace) = trace("mot17-10-temp.trace", Some(Span::from_secs(1) / 30)) else { return };
    assert_eq!(trace.frames().len(), 640);
    let rate = trace.mean_rate().as_mbps_f64();
    assert!((rate - 5.0).abs() < 0.05, "{rate} Mb/s");
}

#[test]
fn the_shapes_of_the_model_are_those_of_the_videos() {
    for (name, shape) in [
        ("sintel_trailer_mpeg1_ibbp12_24fps_480x272.csv", Shape::SINTEL),
        ("bbb_mpeg1_ibbp12_24fps_480x272.csv", Shape::BUNNY),
    ] {
        let Some(trace) = trace(name, None) else { return };
        for kind in [Kind::I, Kind::P, Kind::B] {
            let (mean, deviation) = moments(&trace, kind, |size| size);
            assert!((mean - shape.mean.of(kind)).abs() < 0.5, "{name} {kind:?}: mean {mean}");
            let variation = deviation / mean;
            assert!((variation - shape.variation.of(kind)).abs() < 0.005, "{name} {kind:?}: variation {variation}");
        }
        let groups = groups(&trace);
        let [within, next] = [0, 1].map(|lag| correlation(&groups, lag));
        assert!((within - shape.share).abs() < 0.005, "{name}: {within} within a group");
        assert!((next / within - shape.correlation).abs() < 0.01, "{name}: {next} with the next group");
    }
}

/// Mean and standard deviation of `of`, applied to the sizes of the frames of a kind.
fn moments(trace: &Trace, kind: Kind, of: impl Fn(f64) -> f64) -> (f64, f64) {
    let frames = trace.frames().iter().filter(|frame| frame.kind == Some(kind));
    let values: Vec<f64> = frames.map(|frame| of(frame.size.0 as f64)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| libm::pow(value - mean, 2.0)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

/// The logarithms of the sizes, standardized for each kind, group by group.
fn groups(trace: &Trace) -> Vec<Vec<f64>> {
    let of_kinds = [Kind::I, Kind::P, Kind::B].map(|kind| (kind, moments(trace, kind, libm::log)));
    let mut groups: Vec<Vec<f64>> = Vec::new();
    for frame in trace.frames() {
        let Some((kind, (mean, deviation))) = of_kinds.iter().find(|(kind, _)| frame.kind == Some(*kind)) else {
            continue;
        };
        if *kind == Kind::I {
            groups.push(Vec::new());
        }
        groups.last_mut().expect("an I first").push((libm::log(frame.size.0 as f64) - mean) / deviation);
    }
    groups
}

/// The mean product of two different frames that are `lag` groups apart.
fn correlation(groups: &[Vec<f64>], lag: usize) -> f64 {
    let sum = |group: &[f64]| group.iter().sum::<f64>();
    let (mut products, mut pairs) = (0.0, 0.0);
    for (one, other) in groups.iter().zip(&groups[lag..]) {
        // A frame is no pair with itself.
        let own = if lag == 0 { one.iter().map(|value| value * value).sum() } else { 0.0 };
        products += sum(one) * sum(other) - own;
        pairs += (one.len() * other.len()) as f64 - if lag == 0 { one.len() as f64 } else { 0.0 };
    }
    products / pairs
}

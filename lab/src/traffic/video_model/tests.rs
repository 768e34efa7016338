use super::*;
use crate::traffic::video::{HEADERS, Spacing};

/// Large enough that rounding to whole bytes does not matter.
const RATE: Rate = Rate::from_mbps(30);

fn video(shape: Shape, seed: u64) -> Frames {
    Frames::new(Model { shape, ..Model::of(RATE) }, Rng::new(seed)).expect("a video")
}

#[test]
fn the_video_of_r3cp_has_the_frames_and_about_the_packets_of_the_paper() {
    // 378 kb/s are means of 7500, 2625 and 1031.25 bytes; 14 400 frames make 28 120 packets of at most 1310 bytes.
    let model = Model::of(Rate::from_bps(378_000));
    for (kind, bytes) in [(Kind::I, 7_500.0), (Kind::P, 2_625.0), (Kind::B, 1_031.25)] {
        assert!((model.mean(kind) - bytes).abs() < 0.001, "{kind:?}: {}", model.mean(kind));
    }
    let frames = Frames::new(model, Rng::new(1)).expect("a video");
    let packets: u64 = frames.take(14_400).map(|frame| frame.size.0.div_ceil(1_310)).sum();
    assert!(packets.abs_diff(28_120) < 281, "{packets}");
}

#[test]
fn frames_come_in_the_pattern_of_the_group() {
    let kinds: Vec<Kind> = video(Shape::SINTEL, 2).take(24).filter_map(|frame| frame.kind).collect();
    let group = Model::gop_of("IBBPBBPBBPBB").expect("a group");
    assert_eq!(kinds, [group.clone(), group].concat());
}

#[test]
fn sizes_have_the_mean_and_the_variance_of_their_kind() {
    let frames: Vec<Frame> = video(Shape::STAR_WARS, 3).take(240_000).collect();
    for kind in [Kind::I, Kind::P, Kind::B] {
        let of_kind = frames.iter().filter(|frame| frame.kind == Some(kind));
        let mean = Model::of(RATE).mean(kind);
        let scaled: Vec<f64> = of_kind.map(|frame| frame.size.0 as f64 / mean).collect();
        let n = scaled.len() as f64;
        let seen = scaled.iter().sum::<f64>() / n;
        assert!((seen - 1.0).abs() < 5.0 * 0.4 / n.sqrt(), "{kind:?}: {seen}");
        // With w = 1 + cv² the kurtosis of a lognormal is w⁴ + 2 w³ + 3 w² - 3.
        let w = 1.0 + 0.16f64;
        let kurtosis = libm::pow(w, 4.0) + 2.0 * libm::pow(w, 3.0) + 3.0 * w * w - 3.0;
        let variance = scaled.iter().map(|size| libm::pow(size - 1.0, 2.0)).sum::<f64>() / n;
        assert!((variance - 0.16).abs() < 5.0 * 0.16 * ((kurtosis - 1.0) / n).sqrt(), "{kind:?}: {variance}");
    }
}

#[test]
fn the_mean_rate_is_the_one_that_was_asked_for() {
    let end = 20_000u64;
    let packets = Packets { payload: Bytes(1310), spacing: Spacing::Even };
    let mut source = VideoModel::new(Model::of(RATE), packets, Rng::new(4)).expect("a video");
    let mut bytes = 0;
    while source.next() < Time::ZERO + Span::from_secs(end) {
        bytes += source.emit().0 - HEADERS.0;
    }
    let rate = Rate::of(Bytes(bytes), Span::from_secs(end)).as_mbps_f64();
    // A group has 60 + 3 x 21 + 8 x 8.25 = 189 parts, with variance 0.16 (60² + 3 x 21² + 8 x 8.25²), twice a second.
    let deviation = (0.16 * (3_600.0 + 1_323.0 + 544.5f64)).sqrt() / 189.0;
    assert!((rate / 30.0 - 1.0).abs() < 5.0 * deviation / (2.0 * end as f64).sqrt(), "{rate}");
}

#[test]
fn scenes_correlate_frames_as_the_model_says() {
    let videos = 20_000;
    let standard = |frame: &Frame, kind: Kind, cv: f64| {
        let variance = libm::log1p(cv * cv);
        (libm::log(frame.size.0 as f64 / Model::of(RATE).mean_of(Shape::SINTEL, kind)) + variance / 2.0)
            / variance.sqrt()
    };
    // Many videos, so that the samples are independent: the first I, the first P, and the I of the next two groups.
    let mut sums = [0.0; 3];
    for seed in 0..videos {
        let frames: Vec<Frame> = video(Shape::SINTEL, seed).take(25).collect();
        let i = |place: usize| standard(&frames[place], Kind::I, 0.51);
        let others = [standard(&frames[3], Kind::P, 0.82), i(12), i(24)];
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum += i(0) * other;
        }
    }
    for (sum, expected) in sums.into_iter().zip([0.78, 0.78 * 0.74, 0.78 * 0.74 * 0.74f64]) {
        // The product of two normals with correlation c has variance 1 + c².
        let seen = sum / videos as f64;
        assert!((seen - expected).abs() < 5.0 * ((1.0 + expected * expected) / videos as f64).sqrt(), "{seen}");
    }
}

impl Model {
    fn mean_of(self, shape: Shape, kind: Kind) -> f64 {
        Model { shape, ..self }.mean(kind)
    }
}

#[test]
fn several_videos_do_not_send_their_largest_frames_together() {
    let packets = Packets { payload: Bytes(1310), spacing: Spacing::Burst };
    let starts: std::collections::BTreeSet<Time> = (0..20)
        .map(|seed| VideoModel::new(Model::of(RATE), packets, Rng::new(seed)).expect("a video").next())
        .collect();
    assert_eq!(starts.len(), 20);
    assert!(starts.iter().all(|start| *start < Time::ZERO + Model::of(RATE).frame_time));
}

#[test]
fn impossible_videos_are_refused() {
    let base = Model::of(RATE);
    let shape = |change: fn(&mut Shape)| {
        let mut model = Model::of(RATE);
        change(&mut model.shape);
        model
    };
    for (model, why) in [
        (Model { rate: Rate::from_bps(0), ..base.clone() }, "the rate of a video must be above zero"),
        (Model { frame_time: Span::ZERO, ..base.clone() }, "a video has at most 1000 frames a second"),
        (Model { frame_time: Span::MAX, ..base.clone() }, "a frame lasts at most an hour"),
        (Model { gop: vec![], ..base.clone() }, "a group has 1 to 1000 frames"),
        (Model { gop: vec![Kind::B], ..base.clone() }, "a group starts with an I"),
        (shape(|shape| shape.mean.p = 0.0), "mean sizes are above 0 and finite"),
        (shape(|shape| shape.variation.b = f64::NAN), "coefficients of variation are from 0 to 10"),
        (shape(|shape| shape.share = 1.1), "a share is from 0 to 1"),
        (shape(|shape| shape.correlation = -0.1), "a correlation is from 0 to 1"),
    ] {
        let packets = Packets { payload: Bytes(1310), spacing: Spacing::Even };
        assert_eq!(VideoModel::new(model, packets, Rng::new(1)).expect_err(why), why);
    }
    assert!(Model::gop_of("IBBX").is_err_and(|why| why == "'IBBX', expected frames of a group such as IBBPBBPBBPBB"));
}

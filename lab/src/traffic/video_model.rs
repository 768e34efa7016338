//! A synthetic video: frames of random sizes in the pattern of MPEG's groups of pictures (GOPs).
//!
//! The size of a frame is lognormal, with a mean and a coefficient of variation for its kind. A first-order
//! autoregressive process with one step per GOP models the scene: it makes all frames of a GOP, and to a lesser degree
//! those of the next ones, large or small together. With s² = ln(1 + cv²), x the scene and e the frame's own random
//! part, both normal with mean 0 and variance 1:
//!
//! ```text
//! ln size = ln mean - s²/2 + s (sqrt(share) x + sqrt(1 - share) e)
//! x' = correlation x + sqrt(1 - correlation²) e'
//! ```
//!
//! so that the logarithms of two frames, n GOPs apart, correlate by share x correlation^n.
//!
//! In sending order, a display pattern like IBBPBBPBBPBB keeps its letters: every I and P precedes the two B that need
//! it, and GOPs are open, so that the B frames behind an I belong to the GOP before. After the first frames of a video
//! the order sent is I BB P BB P BB P BB either way.

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::Source;
use super::video::{Frame, Kind, LEAST_FRAME_TIME, Packets, Player};

/// A value for each kind of frame.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, reason = "each field is the kind of its name")]
pub struct PerKind {
    pub i: f64,
    pub p: f64,
    pub b: f64,
}

impl PerKind {
    /// The value of `kind`.
    pub fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::I => self.i,
            Kind::P => self.p,
            Kind::B => self.b,
        }
    }
}

/// The distribution of frame sizes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    /// Mean sizes; only their ratios count, since the rate is given. Above 0.
    pub mean: PerKind,
    /// Coefficients of variation: standard deviation / mean. From 0 to 10.
    pub variation: PerKind,
    /// Share of the variance of ln size that a frame has in common with its GOP, from 0 to 1.
    pub share: f64,
    /// Correlation of the scene from one GOP to the next, from 0 to 1.
    pub correlation: f64,
}

impl Shape {
    /// The stand-in for the video of R3CP+'s evaluation (Star Wars in MPEG-1, 378 kb/s), of which only rate, pattern
    /// and numbers of frames and packets are known: I 60 000, P 21 000, B 8250 bits, coefficient of variation 0.4, no
    /// scenes.
    pub const STAR_WARS: Shape = Shape {
        mean: PerKind { i: 60_000.0, p: 21_000.0, b: 8_250.0 },
        variation: PerKind { i: 0.4, p: 0.4, b: 0.4 },
        share: 0.0,
        correlation: 0.0,
    };

    /// The trailer of Sintel (Blender Foundation) in MPEG-1, IBBPBBPBBPBB, 24 frames a second, 378 kb/s: measured over
    /// its 1253 frames, I 5609, P 2490, B 1315 bytes. Share and correlation are those of the logarithms, each kind
    /// standardized: 0.78 within a GOP, 0.58 with the next.
    pub const SINTEL: Shape = Shape {
        mean: PerKind { i: 5_609.0, p: 2_490.0, b: 1_315.0 },
        variation: PerKind { i: 0.51, p: 0.82, b: 1.04 },
        share: 0.78,
        correlation: 0.74,
    };

    /// The first 30 s of Big Buck Bunny (Blender Foundation), coded likewise, 790 kb/s: measured over 720 frames,
    /// I 14 608, P 5334, B 2316 bytes; 0.70 within a GOP, 0.53 with the next.
    pub const BUNNY: Shape = Shape {
        mean: PerKind { i: 14_608.0, p: 5_334.0, b: 2_316.0 },
        variation: PerKind { i: 0.46, p: 0.64, b: 0.49 },
        share: 0.70,
        correlation: 0.75,
    };
}

/// The parameters of a modeled video.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// Mean rate of the video, without any headers; above 0.
    pub rate: Rate,
    /// Time of one frame, from [`LEAST_FRAME_TIME`] to an hour.
    pub frame_time: Span,
    /// The kinds of a GOP in the order in which they are sent, 1 to 1000 of them; the first is an I.
    pub gop: Vec<Kind>,
    /// The distribution of the sizes.
    pub shape: Shape,
}

impl Model {
    /// A video of `rate` in the most common form: 24 frames a second, IBBPBBPBBPBB, the shape of [`Shape::STAR_WARS`].
    pub fn of(rate: Rate) -> Model {
        use Kind::{B, I, P};
        let gop = vec![I, B, B, P, B, B, P, B, B, P, B, B];
        Model { rate, frame_time: Span::from_secs_f64(1.0 / 24.0), gop, shape: Shape::STAR_WARS }
    }

    /// The kinds of a GOP written as a word, such as IBBPBBPBBPBB.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn gop_of(word: &str) -> Result<Vec<Kind>, String> {
        let refuse = || {
            format!("'{}', expected frames of a group such as IBBPBBPBBPBB", word.chars().take(40).collect::<String>())
        };
        let kinds: Option<Vec<Kind>> = word.chars().map(|letter| Kind::of(letter.encode_utf8(&mut [0; 4]))).collect();
        kinds.ok_or_else(refuse)
    }

    /// Checks that such a video is possible.
    ///
    /// # Errors
    /// Names the value that is impossible, and its range.
    pub fn check(&self) -> Result<(), String> {
        let Model { rate, frame_time, gop, shape } = self;
        let all = |values: &PerKind, good: &dyn Fn(f64) -> bool| [values.i, values.p, values.b].into_iter().all(good);
        let rules = [
            (rate.as_bps() > 0, "the rate of a video must be above zero"),
            (*frame_time >= LEAST_FRAME_TIME, "a video has at most 1000 frames a second"),
            (*frame_time <= Span::from_secs(3_600), "a frame lasts at most an hour"),
            ((1..=1_000).contains(&gop.len()), "a group has 1 to 1000 frames"),
            (gop.first() == Some(&Kind::I), "a group starts with an I"),
            (all(&shape.mean, &|mean| mean > 0.0 && mean.is_finite()), "mean sizes are above 0 and finite"),
            (all(&shape.variation, &|cv| (0.0..=10.0).contains(&cv)), "coefficients of variation are from 0 to 10"),
            ((0.0..=1.0).contains(&shape.share), "a share is from 0 to 1"),
            ((0.0..=1.0).contains(&shape.correlation), "a correlation is from 0 to 1"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule.into()))
    }

    /// The mean size of a frame of `kind`, in bytes.
    pub fn mean(&self, kind: Kind) -> f64 {
        let gop: f64 = self.gop.iter().map(|kind| self.shape.mean.of(*kind)).sum();
        let bytes = self.rate.as_bps() as f64 / 8.0 * self.frame_time.as_secs_f64() * self.gop.len() as f64;
        self.shape.mean.of(kind) * bytes / gop
    }
}

/// The frames of a modeled video, without end, from the start of a GOP on.
#[derive(Clone, PartialEq, Debug)]
pub struct Frames {
    model: Model,
    rng: Rng,
    /// x of the module's equations.
    scene: f64,
    /// The index of the next frame in its GOP.
    place: usize,
}

impl Frames {
    /// # Errors
    /// The model does not pass [`Model::check`].
    pub fn new(model: Model, mut rng: Rng) -> Result<Frames, String> {
        model.check()?;
        let scene = rng.normal();
        Ok(Frames { model, rng, scene, place: 0 })
    }

    fn draw(&mut self) -> Frame {
        let Shape { variation, share, correlation, .. } = self.model.shape;
        let kind = self.model.gop[self.place];
        let variance = libm::log1p(variation.of(kind) * variation.of(kind));
        let chance = share.sqrt() * self.scene + (1.0 - share).sqrt() * self.rng.normal();
        let size = self.model.mean(kind) * libm::exp(variance.sqrt() * chance - variance / 2.0);
        self.place += 1;
        if self.place == self.model.gop.len() {
            self.place = 0;
            self.scene = correlation * self.scene + (1.0 - correlation * correlation).sqrt() * self.rng.normal();
        }
        // `as` saturates; a frame has at least one byte.
        Frame { kind: Some(kind), size: Bytes(((size + 0.5) as u64).max(1)) }
    }
}

impl Iterator for Frames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        Some(self.draw())
    }
}

/// Plays a modeled video.
#[derive(Clone, PartialEq, Debug)]
pub struct VideoModel {
    frames: Frames,
    player: Player,
}

impl VideoModel {
    /// A video joined in progress: its first frame is a random one of a GOP, and starts within one frame time after
    /// zero, so that several videos do not send their I frames all at once.
    ///
    /// # Errors
    /// The model does not pass [`Model::check`].
    pub fn new(model: Model, packets: Packets, mut rng: Rng) -> Result<VideoModel, String> {
        let (length, frame_time) = (model.gop.len() as u64, model.frame_time);
        let place = rng.below(length);
        let starts = Time::from_nanos(rng.below(frame_time.as_nanos()));
        let mut frames = Frames::new(model, rng)?;
        for _ in 0..place {
            frames.draw();
        }
        let player = Player::new(packets, frame_time, starts, || frames.draw());
        Ok(VideoModel { frames, player })
    }
}

impl Source for VideoModel {
    fn next(&self) -> Time {
        self.player.next()
    }

    fn emit(&mut self) -> Bytes {
        self.player.emit(|| self.frames.draw())
    }
}

#[cfg(test)]
mod tests;

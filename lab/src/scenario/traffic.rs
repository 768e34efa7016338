//! Cross traffic as scenarios write it.

use std::sync::Arc;

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use toml::Spanned;

use super::element::load;
use super::quantity::{FrameTime, Quantity};
use super::{Fault, Files, Section};
use crate::packet::HEADERS;
use crate::path::Traffic;
use crate::traffic::cbr::Cbr;
use crate::traffic::on_off::{Bursts, OnOff};
use crate::traffic::poisson::Poisson;
use crate::traffic::video::{Frame, Kind, Packets, Spacing};
use crate::traffic::video_model::{self as model, Model, Shape, VideoModel};
use crate::traffic::video_trace::{Trace, VideoTrace};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvenText {
    rate: Quantity<Rate>,
    packet: Spanned<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnOffText {
    rate: Quantity<Rate>,
    packet: Spanned<u16>,
    on: Quantity<Span>,
    off: Quantity<Span>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VideoTraceText {
    file: Spanned<String>,
    payload: u16,
    fps: Option<FrameTime>,
    #[serde(default)]
    spacing: Spacing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    fps: Option<FrameTime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VideoText {
    rate: Quantity<Rate>,
    #[serde(default)]
    payload: u16,
    fps: Option<FrameTime>,
    gop: Option<Spanned<String>>,
    #[serde(default)]
    shape: ShapeText,
    #[serde(default)]
    spacing: Spacing,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ShapeText {
    #[default]
    StarWars,
    Sintel,
    Bunny,
}

const KINDS: &str = "on_off, cbr, poisson, video or video_trace";

/// The source that `section` describes as one of `kind`, and its mean rate; a video's rate is without headers.
pub(super) fn read(
    kind: &Spanned<String>,
    section: Section<'_>,
    rng: Rng,
    files: &mut Files<'_>,
) -> Result<(Traffic, Rate), Fault> {
    let span = section.span.clone();
    let refuse = |why: &str| Fault::at(&span, why);
    match kind.get_ref().as_str() {
        "cbr" => {
            let EvenText { rate, packet } = section.rest()?;
            let packet = whole(packet)?;
            spaced(rate.0, packet).map_err(refuse)?;
            Ok((Cbr::new(rate.0, packet).into(), rate.0))
        }
        "on_off" => {
            let OnOffText { rate, packet, on, off } = section.rest()?;
            let packet = whole(packet)?;
            let gap = spaced(rate.0, packet).map_err(refuse)?;
            if on.0 < gap {
                return Err(refuse("'on' is shorter than the time of one packet at 'rate'"));
            }
            let bursts = Bursts { rate: rate.0, on: on.0, off: off.0, packet };
            Ok((OnOff::new(bursts, rng).into(), bursts.mean_rate()))
        }
        "poisson" => {
            let EvenText { rate, packet } = section.rest()?;
            let packet = whole(packet)?;
            spaced(rate.0, packet).map_err(refuse)?;
            Ok((Poisson::new(rate.0, packet, rng).into(), rate.0))
        }
        "video_trace" => {
            let VideoTraceText { file, payload, fps, spacing } = section.rest()?;
            let trace = load(&file, files, |text| Trace::parse(text, fps.map(|fps| fps.0)))?;
            let rate = trace.mean_rate();
            Ok((VideoTrace::new(trace.clone(), packets(rate, payload, spacing).map_err(refuse)?).into(), rate))
        }
        "video" => {
            let text: VideoText = section.rest()?;
            let rate = text.rate.0;
            let packets = packets(rate, text.payload, text.spacing).map_err(refuse)?;
            let video = VideoModel::new(model(text)?, packets, rng).map_err(|why| refuse(&why))?;
            Ok((video.into(), rate))
        }
        other => Err(Fault::at(&kind.span(), format!("no traffic of kind '{other}', expected {KINDS}"))),
    }
}

/// The frames of a video in decoding order, the time of one frame, and the payload of a packet.
pub(super) type Frames = (Arc<[(Kind, Bytes)]>, Span, Bytes);

/// The frames of a stored video of `duration` that `section` describes: a file of frames, again and again, or a model. A
/// file whose name is empty is none; otherwise the file has the rate, and `rate` is ignored.
pub(super) fn frames(
    mut section: Section<'_>,
    rng: &Rng,
    duration: Span,
    files: &mut Files<'_>,
) -> Result<Frames, Fault> {
    let span = section.span.clone();
    let refuse = |why: &str| Fault::at(&span, why);
    let payload = section.optional::<u16>("payload")?.unwrap_or(1_310);
    let payload = Bytes(payload.into());
    if payload == Bytes(0) {
        return Err(refuse("'payload' must be above 0"));
    }
    let file: Option<Spanned<String>> = section.optional("file")?;
    if let Some(file) = file.filter(|file| !file.get_ref().is_empty()) {
        section.take("rate");
        let FileText { fps } = section.rest()?;
        let trace = load(&file, files, |text| Trace::parse(text, fps.map(|fps| fps.0)))?;
        let typed = |frame: &Frame| frame.kind.map(|kind| (kind, frame.size));
        let kinds: Option<Vec<(Kind, Bytes)>> = trace.frames().iter().map(typed).collect();
        let kinds = kinds.ok_or_else(|| Fault::at(&file.span(), "has no column 'type'"))?;
        let count = (duration.as_secs_f64() / trace.frame_time().as_secs_f64()).ceil() as usize;
        return Ok((kinds.into_iter().cycle().take(count).collect(), trace.frame_time(), payload));
    }
    let model = model(section.rest()?)?;
    let frame_time = model.frame_time;
    let count = (duration.as_secs_f64() / frame_time.as_secs_f64()).ceil() as usize;
    let frames = model::Frames::new(model, rng.clone()).map_err(|why| refuse(&why))?;
    let typed = |frame: Frame| frame.kind.map(|kind| (kind, frame.size));
    Ok((frames.filter_map(typed).take(count).collect(), frame_time, payload))
}

fn model(text: VideoText) -> Result<Model, Fault> {
    let mut model = Model::of(text.rate.0);
    if let Some(fps) = text.fps {
        model.frame_time = fps.0;
    }
    if let Some(gop) = text.gop {
        model.gop = Model::gop_of(gop.get_ref()).map_err(|why| Fault::at(&gop.span(), why))?;
    }
    model.shape = match text.shape {
        ShapeText::StarWars => Shape::STAR_WARS,
        ShapeText::Sintel => Shape::SINTEL,
        ShapeText::Bunny => Shape::BUNNY,
    };
    Ok(model)
}

/// The packetization of a video of `rate`.
fn packets(rate: Rate, payload: u16, spacing: Spacing) -> Result<Packets, &'static str> {
    if payload == 0 {
        return Err("'payload' must be above 0");
    }
    let payload = Bytes(payload.into());
    spaced(rate, payload)?;
    Ok(Packets { payload, spacing })
}

/// The size of a packet, headers included.
pub(super) fn whole(packet: Spanned<u16>) -> Result<Bytes, Fault> {
    match Bytes((*packet.get_ref()).into()) {
        size if size >= HEADERS => Ok(size),
        size => {
            let why = format!(
                "a packet of {} bytes, expected at least the {} of its IPv4 and UDP headers",
                size.0, HEADERS.0
            );
            Err(Fault::at(&packet.span(), why))
        }
    }
}

/// The time of one packet, which must be long enough for a computer to keep up.
fn spaced(rate: Rate, packet: Bytes) -> Result<Span, &'static str> {
    match rate.time_for(packet) {
        Span::MAX => Err("the rate of traffic must be above zero"),
        gap if gap < Span::from_micros(1) => {
            Err("more than a million packets a second: lower the rate or send larger packets")
        }
        gap => Ok(gap),
    }
}

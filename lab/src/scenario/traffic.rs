//! Cross traffic as scenarios write it.

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use toml::Spanned;

use super::element::load;
use super::quantity::{FrameTime, Quantity};
use super::{Fault, Files, Section};
use crate::path::Traffic;
use crate::traffic::cbr::Cbr;
use crate::traffic::on_off::{Bursts, OnOff};
use crate::traffic::poisson::Poisson;
use crate::traffic::video::{Packets, Spacing};
use crate::traffic::video_model::{Model, Shape, VideoModel};
use crate::traffic::video_trace::{Trace, VideoTrace};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvenText {
    rate: Quantity<Rate>,
    packet: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnOffText {
    rate: Quantity<Rate>,
    packet: u16,
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
struct VideoText {
    rate: Quantity<Rate>,
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

/// The source that `section` describes as one of `kind`.
pub(super) fn read(
    kind: &Spanned<String>,
    section: Section<'_>,
    rng: Rng,
    files: &mut Files<'_>,
) -> Result<Traffic, Fault> {
    let span = section.span.clone();
    let refuse = |why: &str| Fault::at(&span, why);
    match kind.get_ref().as_str() {
        "cbr" => {
            let EvenText { rate, packet } = section.rest()?;
            spaced(rate.0, packet).map_err(refuse)?;
            Ok(Cbr::new(rate.0, Bytes(packet.into())).into())
        }
        "on_off" => {
            let OnOffText { rate, packet, on, off } = section.rest()?;
            let gap = spaced(rate.0, packet).map_err(refuse)?;
            if on.0 < gap {
                return Err(refuse("'on' is shorter than the time of one packet at 'rate'"));
            }
            Ok(OnOff::new(Bursts { rate: rate.0, on: on.0, off: off.0, packet: Bytes(packet.into()) }, rng).into())
        }
        "poisson" => {
            let EvenText { rate, packet } = section.rest()?;
            spaced(rate.0, packet).map_err(refuse)?;
            Ok(Poisson::new(rate.0, Bytes(packet.into()), rng).into())
        }
        "video_trace" => {
            let VideoTraceText { file, payload, fps, spacing } = section.rest()?;
            let trace = load(&file, files, |text| Trace::parse(text, fps.map(|fps| fps.0)))?;
            Ok(VideoTrace::new(trace.clone(), packets(trace.mean_rate(), payload, spacing).map_err(refuse)?).into())
        }
        "video" => {
            let text: VideoText = section.rest()?;
            let packets = packets(text.rate.0, text.payload, text.spacing).map_err(refuse)?;
            let film = VideoModel::new(model(text)?, packets, rng).map_err(|why| refuse(&why))?;
            Ok(film.into())
        }
        other => Err(Fault::at(&kind.span(), format!("no traffic of kind '{other}', expected {KINDS}"))),
    }
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

/// How a film of `rate` becomes packets.
fn packets(rate: Rate, payload: u16, spacing: Spacing) -> Result<Packets, &'static str> {
    if payload == 0 {
        return Err("packets with a payload of nothing carry no film");
    }
    spaced(rate, payload)?;
    Ok(Packets { payload: Bytes(payload.into()), spacing })
}

/// The time of one packet, which must be long enough for a computer to keep up with.
fn spaced(rate: Rate, packet: u16) -> Result<Span, &'static str> {
    match rate.time_for(Bytes(packet.into())) {
        Span::MAX => Err("traffic of rate zero sends nothing"),
        gap if gap < Span::from_micros(1) => {
            Err("more than a million packets a second: lower the rate or send larger packets")
        }
        gap => Ok(gap),
    }
}

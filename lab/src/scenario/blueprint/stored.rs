//! `kind = "stored"`: a stored video under a control that its receiver runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use thalweg_core::law::predict;
use thalweg_core::law::rate::r3cp;
use thalweg_core::law::registry::Parameters as _;
use thalweg_core::rng::Rng;
use thalweg_core::session::stored::control::Control;
use thalweg_core::time::{Span, Time};
use toml::Spanned;

use crate::end::stored::Parameters;
use crate::experiment::Kind;
use crate::scenario::fault::Fault;
use crate::scenario::section::Section;
use crate::scenario::{Files, traffic};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredText {
    control: Option<Spanned<String>>,
    predictor: Option<Spanned<String>>,
    /// The media time after each period from which frames to skip are chosen, too.
    horizon: Option<Spanned<String>>,
    /// Constants of R3CP+.
    #[serde(default)]
    constants: BTreeMap<String, Spanned<toml::Value>>,
}

/// The payload that a datagram of an Ethernet path holds beside all headers.
const MAX_PAYLOAD: u64 = 1_400;

pub(super) fn read(mut section: Section<'_>, rng: &Rng, duration: Span, files: &mut Files<'_>) -> Result<Kind, Fault> {
    let span = section.span.clone();
    let video = section.section("video")?.ok_or_else(|| Fault::at(&span, "missing 'video'"))?;
    let at = video.span.clone();
    let (frames, frame_time, payload) = traffic::frames(video, rng, duration, files)?;
    if payload.0 > MAX_PAYLOAD {
        return Err(Fault::at(&at, format!("payload of {} bytes, expected at most {MAX_PAYLOAD}", payload.0)));
    }
    let text: StoredText = section.rest()?;
    let refused = |at: &Spanned<String>, why: &dyn core::fmt::Display| Fault::at(&at.span(), why.to_string());
    let control = match &text.control {
        Some(text) => text.get_ref().parse().map_err(|why| refused(text, &format!("control: {why}")))?,
        None => Control::default(),
    };
    let predictor = match &text.predictor {
        Some(text) => text.get_ref().parse().map_err(|why| refused(text, &format!("predictor: {why}")))?,
        None => predict::Choice::default(),
    };
    let horizon = match &text.horizon {
        Some(text) => text.get_ref().parse().map_err(|why| refused(text, &why))?,
        None => Span::ZERO,
    };
    let mut constants = Vec::new();
    for (name, value) in text.constants {
        let text = match value.get_ref() {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        r3cp::Parameters::default().set(&name, &text).map_err(|why| Fault::at(&value.span(), why.to_string()))?;
        constants.push((name, text));
    }
    let stored = Parameters { frames, frame_time, payload, control, constants, predictor, horizon };
    stored.ends(0, Time::ZERO, &Rng::new(0)).map_err(|why| Fault::at(&span, why.to_string()))?;
    Ok(Kind::Stored(stored))
}

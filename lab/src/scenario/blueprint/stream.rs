//! `kind = "stream"` and `kind = "tfrc"`: media of a constant rate.

use core::ops::Range;
use std::collections::BTreeMap;

use serde::Deserialize;
use thalweg_core::law::redundancy::dp_fec;
use thalweg_core::law::redundancy::geneva::{self, Geneva};
use thalweg_core::session::live::DEFAULT_LATENCY;
use thalweg_core::session::live::sender::Repair;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use toml::Spanned;

use crate::experiment::{Kind, Live, Media, Stream};
use crate::scenario::fault::Fault;
use crate::scenario::quantity::Quantity;
use crate::scenario::section::Section;
use crate::scenario::traffic::whole;
use crate::stream::receiver::ReportSize;
use crate::stream::scheme::Scheme;
use crate::stream::sender::Srtt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamText {
    rate: Spanned<Quantity<Rate>>,
    #[serde(default = "full")]
    packet: Spanned<u16>,
    scheme: Option<Spanned<String>>,
    syn: Option<Spanned<Quantity<Span>>>,
    state: Option<Spanned<String>>,
    #[serde(default)]
    srtt: SrttText,
    reports: Option<Spanned<u16>>,
    latency: Option<Spanned<Quantity<Span>>>,
    #[serde(default)]
    geneva: BTreeMap<String, Spanned<f64>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SrttText {
    #[default]
    Highest,
    Mean,
}

fn full() -> Spanned<u16> {
    Spanned::new(0..0, 1500)
}

/// Media of a constant rate, and what protects or slows it.
pub(super) fn read(kind: &str, section: Section<'_>) -> Result<Kind, Fault> {
    let span = section.span.clone();
    let text: StreamText = section.rest()?;
    let media = media(&text)?;
    let syn = syn(&text, media)?;
    let reports = text.reports.clone().map(whole).transpose()?;
    let reports = reports.map_or(ReportSize::Rfc8888, ReportSize::Fixed);
    let stream = |scheme| {
        let srtt = match text.srtt {
            SrttText::Highest => Srtt::Highest,
            SrttText::Mean => Srtt::Mean,
        };
        Kind::Stream(Stream { media, syn, scheme, srtt, reports })
    };
    let latency = latency(&text)?;
    let block =
        |scheme: Scheme| fits(&scheme, media, syn).map(|()| stream(scheme)).map_err(|why| Fault::at(&span, why));
    let live = |repair| {
        let live = Live { media, repair, latency };
        live.check().map_err(|why| Fault::at(&text.packet.span(), why.to_string())).map(|()| Kind::Live(live))
    };
    let Some(scheme) = &text.scheme else {
        return if kind == "tfrc" { Ok(Kind::Tfrc(media)) } else { Err(Fault::at(&span, "missing 'scheme'")) };
    };
    if kind == "tfrc" {
        return Err(Fault::at(&scheme.span(), "'scheme' is for kind = \"stream\", of which tfrc is one"));
    }
    let digits = |prefix: &str| scheme.get_ref().strip_prefix(prefix).and_then(repair);
    Ok(match scheme.get_ref().as_str() {
        "geneva" => block(Scheme::Geneva(parameters(&text)?))?,
        "dp-fec" => block(Scheme::DpFec(dp_fec::Parameters::default()))?,
        "none" => stream(Scheme::None),
        "udp" => stream(Scheme::Udp),
        "tfrc" => Kind::Tfrc(media),
        "cbr" => stream(Scheme::Cbr(on_the_wire(media, syn, 8))),
        "live" => live(Repair::Geneva(law(&text)?))?,
        "live-none" => live(Repair::None)?,
        other => match (digits("static"), digits("cbr"), digits("live-static")) {
            (Some(repair), ..) => block(Scheme::Static(repair))?,
            (_, Some(repair), _) => stream(Scheme::Cbr(on_the_wire(media, syn, repair))),
            (.., Some(repair @ 1..=200)) => live(Repair::Static(repair))?,
            _ => return Err(Fault::at(&scheme.span(), format!("no scheme '{other}', expected {SCHEMES}"))),
        },
    })
}

const SCHEMES: &str = "geneva, staticN (N repair packets a block), none, dp-fec, tfrc, udp, cbr or cbrN (the constant \
                       rate of staticN on the wire), live, live-staticN or live-none (the sessions of send and recv)";

/// More repair packets than a block of any published scheme has.
const MOST_REPAIR: u32 = 1_000;

fn repair(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|repair| *repair <= MOST_REPAIR)
}

/// Source and repair packets of a block of a Reed-Solomon code over GF(2^8): what sessions make, and cut longer ones to.
const MOST_SYMBOLS: u64 = 255;

/// Whether one code takes the largest block.
fn fits(scheme: &Scheme, media: Media, syn: Span) -> Result<(), String> {
    let bits = u128::from(media.packet.0) * 8 * 1_000_000_000;
    let k = (u128::from(media.rate.as_bps()) * u128::from(syn.as_nanos())).div_ceil(bits.max(1)) as u64;
    let repair = u64::from(scheme.most());
    match k + repair {
        symbols if symbols > MOST_SYMBOLS => Err(format!(
            "a block of up to {k} source and {repair} repair packets, {MOST_SYMBOLS} are the most of one code: lower 'rate', \
             'syn' or the repair, or raise 'packet'"
        )),
        _ => Ok(()),
    }
}

/// The rate of `media` and `repair` packets every `syn`.
fn on_the_wire(media: Media, syn: Span, repair: u32) -> Rate {
    let extra = Rate::of(media.packet * u64::from(repair), syn);
    Rate::from_bps(media.rate.as_bps().saturating_add(extra.as_bps()))
}

/// What a stream puts on the wire for certain, or would if TFRC let it; none for others than streams.
pub(super) fn least_rate(kind: &Kind) -> Option<Rate> {
    match kind {
        Kind::Stream(Stream { scheme: Scheme::Cbr(rate), .. }) => Some(*rate),
        Kind::Stream(stream) => Some(on_the_wire(stream.media, stream.syn, stream.scheme.least())),
        Kind::Live(Live { media, .. }) | Kind::Tfrc(media) => Some(media.rate),
        Kind::Tcp(_) | Kind::Transfers(..) | Kind::Open(_) => None,
    }
}

fn media(text: &StreamText) -> Result<Media, Fault> {
    let (rate, packet) = (text.rate.get_ref().0, whole(text.packet.clone())?);
    match rate.time_for(packet) {
        Span::MAX => Err(Fault::at(&text.rate.span(), "media of rate zero sends nothing")),
        gap if gap < Span::from_micros(1) => {
            let why = "more than a million packets a second: lower 'rate' or raise 'packet'";
            Err(Fault::at(&text.rate.span(), why))
        }
        _ => Ok(Media { rate, packet }),
    }
}

/// The length of a block, which must hold a packet.
fn syn(text: &StreamText, media: Media) -> Result<Span, Fault> {
    let Some(syn) = &text.syn else { return Ok(SYN) };
    let range = media.rate.time_for(media.packet)..=Span::from_secs(10);
    match syn.get_ref().0 {
        length if range.contains(&length) => Ok(length),
        length => {
            let why =
                format!("'syn' is {length}, expected {}, the time of a packet, to {}", range.start(), range.end());
            Err(Fault::at(&syn.span(), why))
        }
    }
}

/// Time from input to output of the live profile, within what `thalweg send` takes.
fn latency(text: &StreamText) -> Result<Span, Fault> {
    let Some(latency) = &text.latency else { return Ok(DEFAULT_LATENCY) };
    let range = Span::from_millis(5)..=Span::from_secs(10);
    match latency.get_ref().0 {
        length if range.contains(&length) => Ok(length),
        length => {
            let why = format!("'latency' is {length}, expected {} to {}", range.start(), range.end());
            Err(Fault::at(&latency.span(), why))
        }
    }
}

/// SYN of the paper (§3.2.1).
const SYN: Span = Span::from_millis(10);

fn law(text: &StreamText) -> Result<Geneva, Fault> {
    Geneva::new(parameters(text)?).map_err(|why| Fault::at(&of_law(text), why.to_string()))
}

/// Where constants of the law stand; where the stream does, if they are the paper's.
fn of_law(text: &StreamText) -> Range<usize> {
    text.geneva.values().next().map_or_else(|| text.rate.span(), Spanned::span)
}

fn parameters(text: &StreamText) -> Result<geneva::Parameters, Fault> {
    let mut parameters = geneva::Parameters::default();
    for (name, value) in &text.geneva {
        let refuse = |why: String| Fault::at(&value.span(), why);
        if ["k", "syn"].contains(&name.as_str()) {
            return Err(refuse(format!("{name} follows from the stream")));
        }
        parameters.set(name, &value.get_ref().to_string()).map_err(|why| refuse(why.to_string()))?;
    }
    if let Some(state) = &text.state {
        parameters.set("state", state.get_ref()).map_err(|why| Fault::at(&state.span(), why.to_string()))?;
    }
    parameters.check().map_err(|why| Fault::at(&of_law(text), why.to_string()))?;
    Ok(parameters)
}

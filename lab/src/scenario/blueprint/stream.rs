//! `kind = "stream"` and `kind = "tfrc"`: media of a constant rate.

mod scheme;

use core::ops::Range;
use std::collections::BTreeMap;

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::rate;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::redundancy::{Choice, Law};
use thalweg_core::law::registry::{Parameters as _, Scope};
use thalweg_core::session::live::{DEFAULT_LATENCY, LATENCIES, sender};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use toml::Spanned;

pub(in crate::scenario) use self::scheme::is_scheme;
pub use self::scheme::schemes;
use self::scheme::{choice, repair, session};
use crate::experiment::{Kind, Live, Media, Stream};
use crate::own::Repair;
use crate::scenario::Laws;
use crate::scenario::fault::Fault;
use crate::scenario::quantity::{Between, Quantity};
use crate::scenario::section::Section;
use crate::scenario::traffic::whole;
use crate::stream::MOST_SYMBOLS;
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
    rate_law: Option<Spanned<String>>,
    max_rate: Option<Spanned<Quantity<Rate>>>,
    follows: Option<Spanned<bool>>,
    pause: Option<Spanned<Between>>,
    alpha: Option<Spanned<f64>>,
    beta: Option<Spanned<f64>>,
    /// Constants of the scheme's law.
    #[serde(default)]
    constants: BTreeMap<String, Spanned<f64>>,
    /// The same for GENEVA alone, so that schemes can be compared with it.
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

/// Media of a constant rate, and its protection or rate control.
pub(super) fn read(kind: &str, section: Section<'_>, laws: &Laws) -> Result<Kind, Fault> {
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
    let of_session = OfSession::read(&text)?;
    let greediness = greediness(&text)?;
    let block =
        |scheme: Scheme| fits(&scheme, media, syn).map(|()| stream(scheme)).map_err(|why| Fault::at(&span, why));
    let live = |repair| {
        let live = of_session.live(media, repair);
        live.check().map_err(|why| Fault::at(&text.packet.span(), why.to_string())).map(|()| Kind::Live(live))
    };
    let Some(scheme) = &text.scheme else {
        return match kind {
            "tfrc" => Ok(Kind::Tfrc(media, greediness)),
            _ => Err(Fault::at(&span, "missing 'scheme'")),
        };
    };
    if kind == "tfrc" {
        return Err(Fault::at(
            &scheme.span(),
            "'scheme' cannot be used with kind = \"tfrc\", which is a scheme of kind = \"stream\"",
        ));
    }
    let refused = |why: ParameterError| Fault::at(&of_law(&text, || text.rate.span()), why.to_string());
    let unfit = |why: ParameterError| Fault::at(&of_law(&text, || scheme.span()), why.to_string());
    let name = scheme.get_ref().as_str();
    let unknown =
        |_| Fault::at(&scheme.span(), format!("no scheme '{name}', expected {}{}", schemes(), laws.repairs_too()));
    if let Some(law) = laws.repair(name) {
        return block(own(law, &text)?);
    }
    Ok(match (name, session(name)) {
        ("udp", _) => stream(Scheme::Udp),
        ("tfrc", _) => Kind::Tfrc(media, greediness),
        ("cbr", _) => stream(Scheme::Cbr(on_the_wire(media, syn, 8))),
        (_, Some(law)) => {
            let choice = choice(law).map_err(unknown)?;
            live(sender::redundancy(&with_constants(choice, &text)?).map_err(unfit)?)?
        }
        _ => match name.strip_prefix("cbr").and_then(repair) {
            Some(repair) => stream(Scheme::Cbr(on_the_wire(media, syn, repair))),
            None => {
                let choice = choice(name).map_err(unknown)?;
                if choice.description().scope == Scope::Sessions {
                    return Err(unfit(ParameterError::Refused(format!("{name} runs in sessions alone: live-{name}"))));
                }
                block(Scheme::Blocks(Law::new(&with_constants(choice, &text)?, &()).map_err(refused)?))?
            }
        },
    })
}

/// Blocks with repair by a law of one's own, which has no constants in a scenario.
fn own(law: &Repair, text: &StreamText) -> Result<Scheme, Fault> {
    match text.constants.values().next() {
        Some(constant) => Err(Fault::at(&constant.span(), format!("'{}' has no constants in a scenario", law.name()))),
        None => Ok(Scheme::Own(law.clone())),
    }
}

/// Checks that one code can hold the largest block.
fn fits(scheme: &Scheme, media: Media, syn: Span) -> Result<(), String> {
    let bits = u128::from(media.packet.0) * 8 * 1_000_000_000;
    let k = (u128::from(media.rate.as_bps()) * u128::from(syn.as_nanos())).div_ceil(bits.max(1)) as u64;
    let repair = u64::from(scheme.most());
    match k + repair {
        symbols if symbols > MOST_SYMBOLS => Err(format!(
            "a block of up to {k} source and {repair} repair packets, expected at most {MOST_SYMBOLS} together: lower \
             'rate', 'syn' or the repair, or raise 'packet'"
        )),
        _ => Ok(()),
    }
}

/// The rate of `media` plus `repair` packets every `syn`.
fn on_the_wire(media: Media, syn: Span, repair: u32) -> Rate {
    let extra = Rate::of(media.packet * u64::from(repair), syn);
    Rate::from_bps(media.rate.as_bps().saturating_add(extra.as_bps()))
}

/// The minimum rate that a stream sends, or would send if TFRC allowed it; none for flows that are no streams.
pub(super) fn least_rate(kind: &Kind) -> Option<Rate> {
    match kind {
        Kind::Stream(Stream { scheme: Scheme::Cbr(rate), .. }) => Some(*rate),
        Kind::Stream(stream) => Some(on_the_wire(stream.media, stream.syn, stream.scheme.least())),
        Kind::Live(Live { media, .. }) | Kind::Tfrc(media, _) => Some(media.rate),
        Kind::Tunnel(tunnel) => tunnel.config.rate.fixed(),
        Kind::Tcp(_) | Kind::Transfers(..) | Kind::Stored(_) | Kind::Open(_) => None,
    }
}

fn media(text: &StreamText) -> Result<Media, Fault> {
    let (rate, packet) = (text.rate.get_ref().0, whole(text.packet.clone())?);
    match rate.time_for(packet) {
        Span::MAX => Err(Fault::at(&text.rate.span(), "the rate of media must be above zero")),
        gap if gap < Span::from_micros(1) => {
            let why = "more than a million packets a second: lower 'rate' or raise 'packet'";
            Err(Fault::at(&text.rate.span(), why))
        }
        _ => Ok(Media { rate, packet }),
    }
}

/// The duration of a block, which must hold a packet.
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

/// The rate law of a live session; `none` is none.
fn rate_law(text: &StreamText) -> Result<Option<rate::Choice>, Fault> {
    let Some(law) = &text.rate_law else { return Ok(None) };
    if text.scheme.as_ref().is_none_or(|scheme| session(scheme.get_ref()).is_none()) {
        return Err(Fault::at(&law.span(), "'rate_law' needs scheme = \"live\" or \"live-LAW\""));
    }
    let choice: Option<rate::Choice> = match law.get_ref().as_str() {
        "none" => None,
        name => Some(name.parse().map_err(|why: ParameterError| Fault::at(&law.span(), why.to_string()))?),
    };
    match choice.as_ref().and_then(rate::Choice::fixed) {
        Some(zero) if zero.as_bps() == 0 => Err(Fault::at(&law.span(), "a fixed rate must be above zero")),
        _ => Ok(choice),
    }
}

/// The keys that only a session has.
struct OfSession {
    latency: Span,
    rate_law: Option<rate::Choice>,
    max_rate: Option<Rate>,
    follows: bool,
    pause: Option<Range<Span>>,
}

impl OfSession {
    fn read(text: &StreamText) -> Result<OfSession, Fault> {
        let is_live = text.scheme.as_ref().is_some_and(|scheme| session(scheme.get_ref()).is_some());
        let (max_rate, pause) = (text.max_rate.as_ref().map(Spanned::span), text.pause.as_ref().map(Spanned::span));
        let follows = text.follows.as_ref().map(Spanned::span);
        if let Some(span) = [max_rate, follows, pause].into_iter().flatten().next().filter(|_| !is_live) {
            return Err(Fault::at(&span, "'max_rate', 'follows' and 'pause' need scheme = \"live\" or \"live-LAW\""));
        }
        Ok(OfSession {
            latency: latency(text)?,
            rate_law: rate_law(text)?,
            max_rate: text.max_rate.as_ref().map(|most| most.get_ref().0),
            follows: text.follows.as_ref().is_some_and(|follows| *follows.get_ref()),
            pause: text.pause.as_ref().map(|pause| pause.get_ref().0.clone()),
        })
    }

    /// The session of `media` with `repair`.
    fn live(self, media: Media, repair: Law) -> Live {
        let OfSession { latency, rate_law, max_rate, follows, pause } = self;
        Live { media, repair, rate_law, latency, max_rate, follows, pause }
    }
}

/// The parameters of GCA; none for TFRC itself.
fn greediness(text: &StreamText) -> Result<Option<Greediness>, Fault> {
    let given = [("alpha", &text.alpha), ("beta", &text.beta)];
    let mut greediness = None;
    for (name, value) in given.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        if text.scheme.as_ref().is_some_and(|scheme| scheme.get_ref() != "tfrc") {
            return Err(Fault::at(&value.span(), format!("'{name}' needs kind = \"tfrc\" or scheme = \"tfrc\"")));
        }
        let set = greediness.get_or_insert_with(Greediness::default).set(name, &value.get_ref().to_string());
        set.map_err(|why| Fault::at(&value.span(), why.to_string()))?;
    }
    Ok(greediness)
}

/// The time from input to output of the live profile, within the range that `thalweg send` accepts.
fn latency(text: &StreamText) -> Result<Span, Fault> {
    let Some(latency) = &text.latency else { return Ok(DEFAULT_LATENCY) };
    match latency.get_ref().0 {
        length if LATENCIES.contains(&length) => Ok(length),
        length => {
            let why = format!("'latency' is {length}, expected {} to {}", LATENCIES.start(), LATENCIES.end());
            Err(Fault::at(&latency.span(), why))
        }
    }
}

/// SYN of the paper (§3.2.1).
const SYN: Span = Span::from_millis(10);

/// The place of the law's constants in the text, or another one if all of them are the paper's.
fn of_law(text: &StreamText, otherwise: impl FnOnce() -> Range<usize>) -> Range<usize> {
    let mut constants = text.constants.values().chain(text.geneva.values());
    constants.next().map_or_else(otherwise, Spanned::span)
}

/// A law with the constants of the text.
fn with_constants(mut choice: Choice, text: &StreamText) -> Result<Choice, Fault> {
    let law = choice.description();
    let geneva = text.geneva.iter().filter(|_| law.name == "geneva");
    for (name, value) in text.constants.iter().chain(geneva) {
        let refuse = |why: String| Fault::at(&value.span(), why);
        if ["k", "syn"].contains(&name.as_str()) {
            return Err(refuse(format!("{name} follows from the stream and cannot be set")));
        }
        choice.set(name, &value.get_ref().to_string()).map_err(|why| refuse(why.to_string()))?;
    }
    if let Some(state) = text.state.as_ref().filter(|_| law.parameters.contains(&"state")) {
        choice.set("state", state.get_ref()).map_err(|why| Fault::at(&state.span(), why.to_string()))?;
    }
    Ok(choice)
}

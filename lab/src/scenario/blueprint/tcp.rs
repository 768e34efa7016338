//! `kind = "tcp"` and `kind = "transfers"`.

use core::fmt;
use core::ops::Range;

use serde::Deserialize as Read;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use thalweg_core::law::registry::Parameters;
use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::law::window::{Choice, Start};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use toml::Spanned;

use crate::experiment::{Kind, StoredVideo, Tcp};
use crate::scenario::Laws;
use crate::scenario::fault::Fault;
use crate::scenario::quantity::Quantity;
use crate::scenario::section::Section;
use crate::tcp::{DELAYED_ACK, Dialect, Law, Recovery, SenderConfig, Timeouts, Video};
use crate::traffic::transfers::Load;

#[derive(Read)]
#[serde(deny_unknown_fields)]
struct TcpText {
    #[serde(default = "newreno")]
    tcp: Spanned<String>,
    #[serde(default = "yes")]
    sack: bool,
    #[serde(default)]
    prr: Prr,
    #[serde(default = "rfc")]
    like: Spanned<String>,
    #[serde(default)]
    delayed_ack: DelayedAck,
    initial_window: Option<Spanned<u32>>,
    ssthresh: Option<Spanned<f64>>,
    min_rto: Option<Quantity<Span>>,
    mss: Option<Spanned<u16>>,
    receive_window: Option<Spanned<u32>>,
    playback: Option<Spanned<Quantity<Rate>>>,
    thresholds: Option<Spanned<String>>,
    on_loss: Option<Spanned<String>>,
    video: Option<Spanned<f64>>,
    playout_delay: Option<Quantity<Span>>,
    rebuffer: Option<Quantity<Span>>,
}

fn newreno() -> Spanned<String> {
    Spanned::new(0..0, Choice::default().to_string())
}

fn rfc() -> Spanned<String> {
    Spanned::new(0..0, "rfc".to_owned())
}

fn yes() -> bool {
    true
}

pub(super) fn read(section: Section<'_>, laws: &Laws) -> Result<Tcp, Fault> {
    let span = section.span.clone();
    let text: TcpText = section.rest()?;
    let base = SenderConfig::new(0);
    let law = law(&text, laws)?;
    // Linux uses PRR, and the RFCs do not require it.
    let prr = text.prr.0.unwrap_or(text.sack && matches!(law, Law::BuiltIn(Choice::LinuxReno(_) | Choice::Cubic(_))));
    let dialect = match text.like.get_ref().as_str() {
        "rfc" => Dialect::Rfc,
        "linux" => Dialect::Linux,
        "ns3" => Dialect::Ns3,
        other => {
            let why = format!("'like' is '{other}', expected rfc, linux or ns3");
            return Err(Fault::at(&text.like.span(), why));
        }
    };
    let video = video(&text, &law, &span)?;
    let recovery = match (text.sack, prr) {
        (true, false) => Recovery::Sack,
        (true, true) => Recovery::SackPrr,
        (false, false) => Recovery::NewReno,
        (false, true) => return Err(Fault::at(&span, "'prr' requires 'sack'")),
    };
    let mut start = Start::default();
    if let Some(window) = text.initial_window {
        let set = start.set("iw", &window.get_ref().to_string());
        set.map_err(|why| Fault::at(&window.span(), format!("initial_window: {why}")))?;
    }
    if let Some(threshold) = text.ssthresh {
        let set = start.set("ssthresh", &threshold.get_ref().to_string());
        set.map_err(|why| Fault::at(&threshold.span(), why.to_string()))?;
    }
    let mut timeouts = Timeouts::default();
    if let Some(least) = text.min_rto {
        timeouts.least = least.0;
        timeouts.initial = timeouts.initial.max(least.0);
        timeouts.most = timeouts.most.max(least.0);
    }
    Ok(Tcp {
        law,
        start,
        recovery,
        dialect,
        delayed_ack: text.delayed_ack.0,
        timeouts,
        mss: above_zero(text.mss, "'mss' must be above 0")?.map_or(base.mss, |mss| Bytes(mss.into())),
        receive_window: above_zero(text.receive_window, "'receive_window' must be above 0")?
            .unwrap_or(base.receive_window),
        video,
    })
}

/// The congestion control law. A scenario may leave open which one it is, and still make the choices that TCP Stream's
/// paper leaves open.
fn law(text: &TcpText, laws: &Laws) -> Result<Law, Fault> {
    let name = text.tcp.get_ref();
    let unknown = |why| Fault::at(&text.tcp.span(), format!("tcp: {why}{}", laws.windows_too()));
    let mut law = match laws.window(name) {
        Some(own) => Law::from(own.clone()),
        None => Law::BuiltIn(name.parse().map_err(unknown)?),
    };
    for (name, value) in [("thresholds", &text.thresholds), ("on_loss", &text.on_loss)] {
        let Some(value) = value else { continue };
        let set = match &mut law {
            Law::BuiltIn(Choice::TcpStream(variant)) => variant.set(name, value.get_ref()),
            _ => Variant::default().set(name, value.get_ref()),
        };
        set.map_err(|why| Fault::at(&value.span(), why.to_string()))?;
    }
    Ok(law)
}

/// A video and its player.
fn video(text: &TcpText, law: &Law, span: &Range<usize>) -> Result<Option<StoredVideo>, Fault> {
    let Some(rate) = &text.playback else {
        let needed = matches!(law, Law::BuiltIn(choice) if choice.description().needs_playback);
        let alone = text.video.as_ref().map(Spanned::span).or_else(|| needed.then(|| span.clone()));
        return alone.map_or(Ok(None), |span| Err(Fault::at(&span, "missing 'playback', the rate of the video")));
    };
    let rate = match rate.get_ref().0 {
        zero if zero.as_bps() == 0 => return Err(Fault::at(&rate.span(), "the rate of a video must be above zero")),
        rate => rate,
    };
    let span_of = |text: &Option<Quantity<Span>>, default| text.as_ref().map_or(default, |span| span.0);
    let played = text.video.as_ref().map(|size| match *size.get_ref() {
        bytes if (1.0..=1e15).contains(&bytes) => Ok(Video {
            size: Bytes(bytes as u64),
            rate,
            playout_delay: span_of(&text.playout_delay, PLAYOUT_DELAY),
            rebuffer: span_of(&text.rebuffer, REBUFFER),
        }),
        _ => Err(Fault::at(&size.span(), "expected the size of a video in bytes, 1 to 1e15")),
    });
    Ok(Some(StoredVideo { rate, played: played.transpose()? }))
}

/// The playout delay of TCP Stream's paper, §5.1.
const PLAYOUT_DELAY: Span = Span::from_secs(10);
/// The amount of video that a stalled player waits for, a common value of players.
const REBUFFER: Span = Span::from_secs(2);

fn above_zero<T: Default + PartialEq + Copy>(value: Option<Spanned<T>>, why: &str) -> Result<Option<T>, Fault> {
    match value {
        Some(value) if *value.get_ref() == T::default() => Err(Fault::at(&value.span(), why)),
        value => Ok(value.map(Spanned::into_inner)),
    }
}

/// `true`, `false`, or `"auto"`: the usual choice for the law. Parameters that are text by default turn the first two
/// into text.
#[derive(Default)]
struct Prr(Option<bool>);

impl<'de> Deserialize<'de> for Prr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Choice;

        impl Visitor<'_> for Choice {
            type Value = Prr;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or \"auto\"")
            }

            fn visit_bool<E: Error>(self, prr: bool) -> Result<Prr, E> {
                Ok(Prr(Some(prr)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Prr, E> {
                match (text, text.parse()) {
                    ("auto", _) => Ok(Prr(None)),
                    (_, Ok(prr)) => Ok(Prr(Some(prr))),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(Choice)
    }
}

/// `true`, `false`, or the time that an acknowledgement waits for a second segment.
struct DelayedAck(Option<Span>);

impl Default for DelayedAck {
    fn default() -> DelayedAck {
        DelayedAck(Some(DELAYED_ACK))
    }
}

impl<'de> Deserialize<'de> for DelayedAck {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Choice;

        impl Visitor<'_> for Choice {
            type Value = DelayedAck;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a duration such as \"40ms\"")
            }

            fn visit_bool<E: Error>(self, delayed: bool) -> Result<DelayedAck, E> {
                Ok(if delayed { DelayedAck::default() } else { DelayedAck(None) })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<DelayedAck, E> {
                text.parse().map(|span| DelayedAck(Some(span))).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Choice)
    }
}

/// Finite transfers as they arrive.
pub(super) fn transfers(mut section: Section<'_>, laws: &Laws) -> Result<Kind, Fault> {
    let span = section.span.clone();
    let places = ["arrivals", "mean", "rate", "shape", "most"].map(|key| (key, section.span_of(key)));
    let place = |key: &str| places.iter().find(|(known, _)| *known == key).and_then(|(_, span)| span.clone());
    let arrivals: f64 = section.require("arrivals")?;
    let (mean, rate) = (section.optional::<f64>("mean")?, section.optional::<Quantity<Rate>>("rate")?);
    let (shape, most) = (section.optional::<f64>("shape")?, section.optional::<u64>("most")?);
    let tcp = read(section, laws)?;
    let mut load = match (mean, rate) {
        (Some(mean), None) => Load { mean, ..Load::geneva_table_1(arrivals) },
        (None, Some(rate)) => Load::of(rate.0, tcp.mss + HEADERS, arrivals),
        (mean, _) => {
            let both = mean.and(place("rate")).unwrap_or(span);
            return Err(Fault::at(&both, "expected either 'mean', in packets, or 'rate', of all transfers together"));
        }
    };
    load.shape = shape.unwrap_or(load.shape);
    load.most = most;
    load.check().map_err(|unfit| {
        // The mean may result from 'rate' and 'arrivals'.
        let at = place(unfit.name).or_else(|| place("rate")).unwrap_or_else(|| span.clone());
        Fault::at(&at, unfit.to_string())
    })?;
    Ok(Kind::Transfers(tcp, load))
}

/// The size of the IPv4 and TCP headers before the payload.
const HEADERS: Bytes = Bytes(40);

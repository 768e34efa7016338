//! Path elements as scenarios write them.

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use toml::Spanned;

use super::quantity::{Quantity, Queue, Share};
use super::{Fault, Files, Section};
use crate::node::jitter::{self, Jitter};
use crate::node::loss::{Gilbert, Loss};
use crate::node::recorded::{Columns, Index, Recorded, Recording};
use crate::node::trace_link::{Trace, TraceLink};
use crate::node::{corrupt, drop_tail, duplicate, reorder, tap, wire};
use crate::path::Element;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireText {
    delay: Quantity<Span>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DropTailText {
    rate: Quantity<Rate>,
    queue: Queue,
    #[serde(default)]
    steps: Vec<StepText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a time and a rate, as in { at = \"40s\", rate = \"2mbit\" }")]
struct StepText {
    at: Quantity<Span>,
    rate: Quantity<Rate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceLinkText {
    trace: Spanned<String>,
    queue: Queue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LossText {
    rate: Share,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GilbertElliottText {
    p: Share,
    r: Share,
    loss_bad: Share,
    #[serde(default)]
    loss_good: Share,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JitterText {
    distribution: DistributionText,
    #[serde(default)]
    keep_order: bool,
}

/// Exactly one of the keys: serde could read an enum of them as well, but its errors use Rust's terms.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "one distribution with its time, as in { exponential = \"500us\" }")]
struct Distributions {
    uniform: Option<Quantity<Span>>,
    exponential: Option<Quantity<Span>>,
    normal: Option<NormalText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "both times, as in { mean = \"2ms\", deviation = \"500us\" }")]
struct NormalText {
    mean: Quantity<Span>,
    deviation: Quantity<Span>,
}

#[derive(Deserialize)]
#[serde(try_from = "Distributions")]
struct DistributionText(jitter::Distribution);

impl TryFrom<Distributions> for DistributionText {
    type Error = &'static str;

    fn try_from(all: Distributions) -> Result<DistributionText, &'static str> {
        Ok(DistributionText(match (all.uniform, all.exponential, all.normal) {
            (Some(most), None, None) => jitter::Distribution::Uniform(most.0),
            (None, Some(mean), None) => jitter::Distribution::Exponential(mean.0),
            (None, None, Some(NormalText { mean, deviation })) => {
                jitter::Distribution::Normal { mean: mean.0, deviation: deviation.0 }
            }
            _ => {
                return Err("jitter has one of uniform, exponential and normal, as in { exponential = \"500us\" }");
            }
        }))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReorderText {
    share: Share,
    by: Quantity<Span>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DuplicateText {
    share: Share,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CorruptText {
    share: Share,
    bytes: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedText {
    file: Spanned<String>,
    index: IndexText,
    sent: String,
    delay: String,
    lost: Option<String>,
    least: Option<Quantity<Span>>,
    #[serde(default)]
    keep_order: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum IndexText {
    Packet,
    Time,
    Near,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TapText {
    keep: u16,
}

const KINDS: &str = "wire, drop_tail, trace_link, loss, gilbert_elliott, jitter, reorder, duplicate, corrupt, recorded \
                     or tap";

/// The element that `section` describes as one of `kind`.
pub(super) fn read(
    kind: &Spanned<String>,
    section: Section<'_>,
    rng: Rng,
    files: &mut Files<'_>,
) -> Result<Element, Fault> {
    let span = section.span.clone();
    Ok(match kind.get_ref().as_str() {
        "wire" => wire::Wire::new(section.rest::<WireText>()?.delay.0).into(),
        "drop_tail" => drop_tail(section.rest()?).map_err(|why| Fault::at(&span, why))?.into(),
        "trace_link" => trace_link(section.rest()?, files)?.into(),
        "loss" => Loss::independent(section.rest::<LossText>()?.rate.0, rng).into(),
        "gilbert_elliott" => Loss::bursts(gilbert(section.rest()?), rng).into(),
        "jitter" => jitter(section.rest()?, rng).into(),
        "reorder" => {
            let ReorderText { share, by } = section.rest()?;
            reorder::Reorder::new(share.0, by.0, rng).into()
        }
        "duplicate" => duplicate::Duplicate::new(section.rest::<DuplicateText>()?.share.0, rng).into(),
        "corrupt" => {
            let CorruptText { share, bytes } = section.rest()?;
            corrupt::Corrupt::new(share.0, bytes.into(), rng).into()
        }
        "recorded" => recorded(section.rest()?, files)?.into(),
        "tap" => tap::Tap::new(section.rest::<TapText>()?.keep.into()).into(),
        other => return Err(Fault::at(&kind.span(), format!("no element of kind '{other}', expected {KINDS}"))),
    })
}

fn drop_tail(text: DropTailText) -> Result<drop_tail::DropTail, &'static str> {
    match text.rate.0.as_bps() {
        0 => Err("the rate of a link must be above zero"),
        _ => {
            let link = drop_tail::DropTail::new(text.rate.0, text.queue.0);
            let changes: Vec<_> = text.steps.iter().map(|step| (Time::ZERO + step.at.0, step.rate.0)).collect();
            let steps = (!changes.is_empty()).then(|| drop_tail::Steps::new(&changes)).transpose()?;
            Ok(match steps {
                Some(steps) => link.with_steps(steps),
                None => link,
            })
        }
    }
}

fn gilbert(text: GilbertElliottText) -> Gilbert {
    let GilbertElliottText { p, r, loss_bad, loss_good } = text;
    Gilbert { to_bad: p.0, to_good: r.0, loss_bad: loss_bad.0, loss_good: loss_good.0 }
}

fn jitter(text: JitterText, rng: Rng) -> Jitter {
    Jitter::new(text.distribution.0, text.keep_order, rng)
}

fn trace_link(text: TraceLinkText, files: &mut Files<'_>) -> Result<TraceLink, Fault> {
    let trace = load(&text.trace, files, Trace::parse)?;
    Ok(TraceLink::new(trace, text.queue.0))
}

fn recorded(text: RecordedText, files: &mut Files<'_>) -> Result<Recorded, Fault> {
    let RecordedText { file, index, sent, delay, lost, least, keep_order } = text;
    let columns = Columns { sent, delay, lost, least: least.map(|least| least.0) };
    let index = match index {
        IndexText::Packet => Index::Packet,
        IndexText::Time => Index::Time,
        IndexText::Near => Index::Near,
    };
    Ok(Recorded::new(load(&file, files, |text| Recording::parse(text, &columns))?, index, keep_order))
}

/// Loads and parses a file that the scenario names.
pub(super) fn load<T>(
    file: &Spanned<String>,
    files: &mut Files<'_>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Fault> {
    files(file.get_ref())
        .and_then(|text| parse(&text))
        .map_err(|why| Fault::at(&file.span(), format!("'{}' {why}", file.get_ref())))
}

//! Shares by need: the streams of one group a line, or the flows of one link.

use core::marker::PhantomData;
use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thalweg_core::law::ParameterError;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::share::link::{self, Flow};
use thalweg_core::law::rate::share::{Need, Norm, multipliers};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::{Bytes, Seconds};

use super::equation::greediness;
use super::line::parsed;
use super::{Replayed, without_settings, write_answer};

/// A question about shares without constants, and its last answer.
pub(super) struct Shares<Q: Question> {
    answer: Option<Q::Answer>,
    question: PhantomData<Q>,
}

/// A line of input, and its answer.
pub(super) trait Question: DeserializeOwned {
    /// The line of output.
    type Answer: Serialize;

    /// The answer.
    ///
    /// # Errors
    /// A value is out of its range.
    fn answer(&self) -> Result<Self::Answer, String>;
}

/// Streams that share by their needs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Needs {
    demand: Vec<f64>,
    rtt: Option<Vec<f64>>,
    p: Option<Vec<f64>>,
    #[serde(default = "sum")]
    norm: String,
}

/// The default of `norm`.
fn sum() -> String {
    Norm::default().to_string()
}

#[derive(Serialize)]
pub(super) struct Multipliers {
    m: Vec<f64>,
    alpha: Vec<f64>,
}

impl Needs {
    /// A value for each stream; without `values` that of a path which all share, where any will do.
    fn each(&self, name: &str, values: &Option<Vec<f64>>) -> Result<Vec<f64>, String> {
        let streams = self.demand.len();
        match values {
            None => Ok(vec![1.0; streams]),
            Some(values) if values.len() == streams => Ok(values.clone()),
            Some(values) => Err(format!("demand has {streams} streams, {name} {}", values.len())),
        }
    }
}

impl Question for Needs {
    type Answer = Multipliers;

    fn answer(&self) -> Result<Multipliers, String> {
        let norm: Norm = self.norm.parse().map_err(|error: ParameterError| format!("norm: {error}"))?;
        let (rtt, p) = (self.each("rtt", &self.rtt)?, self.each("p", &self.p)?);
        let streams = self.demand.iter().zip(rtt.into_iter().zip(p));
        let needs: Vec<Need> = streams.map(|(&demand, (rtt, p))| Need { demand, rtt: Seconds(rtt), p }).collect();
        let m = multipliers(&needs, norm).map_err(text)?;
        let alpha = m.iter().map(|m| Greediness::times(*m).map(|it| it.alpha()).map_err(text));
        Ok(Multipliers { alpha: alpha.collect::<Result<_, _>>()?, m })
    }
}

/// Flows that share a link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    capacity: f64,
    flows: Vec<LinkFlow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkFlow {
    s: u32,
    rtt: f64,
    alpha: f64,
    beta: f64,
    cap: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct LinkShare {
    p: f64,
    x: Vec<f64>,
}

impl Question for Link {
    type Answer = LinkShare;

    fn answer(&self) -> Result<LinkShare, String> {
        let flow = |flow: &LinkFlow| {
            let LinkFlow { s, rtt, alpha, beta, cap } = *flow;
            let greediness = greediness(alpha, beta)?;
            Ok(Flow { segment: Bytes(s.into()), rtt: Seconds(rtt), greediness, cap })
        };
        let flows = self.flows.iter().map(flow).collect::<Result<Vec<_>, String>>()?;
        let link::Share { p, x } = link::share(self.capacity, &flows).map_err(text)?;
        Ok(LinkShare { p, x })
    }
}

fn text(error: ParameterError) -> String {
    error.to_string()
}

impl<Q: Question> Shares<Q> {
    pub(super) fn new(settings: &[(String, String)]) -> Result<Shares<Q>, ParameterError> {
        without_settings(settings)?;
        Ok(Shares { answer: None, question: PhantomData })
    }
}

impl<Q: Question> Replayed for Shares<Q> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        self.answer = Some(parsed::<Q>(line)?.answer()?);
        Ok(())
    }

    fn write(&self, _shown: Option<&[&str]>, output: &mut dyn Write) -> io::Result<()> {
        write_answer(&self.answer, output)
    }
}

impl<Q: Question> Probe for Shares<Q> {
    /// Shows nothing: the answer is more than a row of numbers.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}

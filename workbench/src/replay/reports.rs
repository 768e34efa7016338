//! Laws of repair over a receiver's reports.

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::redundancy::{self, LossReport, Redundancy};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::Seconds;

use super::Replayed;
use super::line::{parsed, sample};

/// A law of repair over reports.
pub(super) struct Reports {
    law: redundancy::Law,
    name: &'static str,
    /// The time of the last report, if the law needs it.
    last_t: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    lost: u32,
    delivered: u32,
    // May be null, but not left out.
    #[serde(deserialize_with = "Option::deserialize")]
    srtt: Option<f64>,
    t: Option<f64>,
}

impl Replayed for Reports {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let report: Report = parsed(line)?;
        if self.law.needs_time() {
            let missing = || format!("{} needs t, the time of the report in seconds", self.name);
            self.pass(report.t.ok_or_else(missing)?)?;
        }
        self.law.on_report(&LossReport {
            lost: report.lost,
            delivered: report.delivered,
            srtt: sample("srtt", report.srtt)?,
            at: Seconds(report.t.unwrap_or_default()),
        });
        Ok(())
    }
}

impl Reports {
    /// The law of `choice` with `settings`.
    pub(super) fn new(choice: &redundancy::Choice, settings: &[(String, String)]) -> Result<Reports, ParameterError> {
        let mut choice = choice.clone();
        settings.iter().try_for_each(|(name, value)| choice.set(name, value))?;
        let law = redundancy::Law::new(&choice, &())?;
        Ok(Reports { law, name: choice.description().name, last_t: f64::NEG_INFINITY })
    }

    /// Advances to the time `t` of a report.
    fn pass(&mut self, t: f64) -> Result<(), String> {
        if t < self.last_t {
            return Err(format!("t decreases, from {} to {t} seconds", self.last_t));
        }
        self.last_t = t;
        Ok(())
    }
}

impl Probe for Reports {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

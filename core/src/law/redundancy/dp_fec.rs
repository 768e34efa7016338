//! A stand-in for DP-FEC (K. Matsuzono, H. Asaeda, J. Murai, Journal of Information Processing 20(1), 2012).
//!
//! **Only the outline is published in the GENEVA paper (§5), every number here is ours**, so this law's behavior is no
//! evidence about DP-FEC itself. The outline: observe the variation of the intervals between loss events, estimate from
//! it the harm done to TCP, raise the redundancy gradually, halve it at once when the estimate exceeds a threshold;
//! round trip and media rate play no part.
//!
//! | outline | here |
//! |---|---|
//! | redundancy | `f`, packets per block, 1 to 60, from 1 |
//! | gradually | +1 every 10 reports |
//! | loss event | the first loss at least one ERTT after the start of the previous event |
//! | variation | mean of the last 4 intervals against `reference`, a mean with gain 1/16 |
//! | harm | `impact` = 1 - mean / reference, tested once there are 4 intervals |
//! | at once by half | impact above 0.5: f = max(1, f / 2), and the 4 intervals are discarded |

use super::parameter::{known, number, positive, within};
use super::{LossReport, ParameterError, Redundancy, smoothed, whole};
use crate::law::registry::{self, Entry, Scope};
use crate::probe::{Probe, Visitor};

/// The state of the stand-in.
#[derive(Clone, PartialEq, Debug)]
pub struct DpFec {
    parameters: Parameters,
    f: f64,
    reports: u32,
    /// Seconds.
    ertt: Option<f64>,
    /// The start of the latest loss event, in seconds.
    event: Option<f64>,
    intervals: Vec<f64>,
    /// Seconds.
    reference: Option<f64>,
    /// The estimate of the last test.
    impact: Option<f64>,
}

/// The constants of the stand-in.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// The smallest window, and the initial one. At least 1 packet.
    pub fwnd_min: f64,
    /// The largest window. At most 65535 packets.
    pub fwnd_max: f64,
    /// The number of reports from one increase to the next. At least 1.
    pub every: u32,
    /// The number of intervals that are compared with the reference. 1 to 1000.
    pub keep: u32,
    /// The weight of a new interval in the reference. Above 0, at most 1.
    pub gain: f64,
    /// The impact above which the window is halved.
    pub threshold: f64,
    /// The weight of the old value in ERTT. 0 to below 1.
    pub alpha: f64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { fwnd_min: 1.0, fwnd_max: 60.0, every: 10, keep: 4, gain: 1.0 / 16.0, threshold: 0.5, alpha: 0.9 }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["fwnd_min", "fwnd_max", "every", "keep", "gain", "threshold", "alpha"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, <Parameters as registry::Parameters>::NAMES)?;
        let value = number(name, value)?;
        match name {
            "fwnd_min" => within(name, value, 1.0..=65535.0).map(|()| self.fwnd_min = value),
            "fwnd_max" => within(name, value, 1.0..=65535.0).map(|()| self.fwnd_max = value),
            "every" => within(name, value, 1.0..=1e9).map(|()| self.every = value as u32),
            "keep" => within(name, value, 1.0..=1000.0).map(|()| self.keep = value as u32),
            "gain" => within(name, value, positive(1.0)).map(|()| self.gain = value),
            "threshold" => within(name, value, 0.0..=1.0).map(|()| self.threshold = value),
            _ => within(name, value, 0.0..1.0).map(|()| self.alpha = value),
        }
    }
}

impl DpFec {
    /// A sender without reports so far.
    ///
    /// # Errors
    /// The smallest window is above the largest.
    pub fn new(parameters: Parameters) -> Result<DpFec, ParameterError> {
        let Parameters { fwnd_min, fwnd_max, .. } = parameters;
        if fwnd_min > fwnd_max {
            return Err(ParameterError::Refused(format!("fwnd_min = {fwnd_min} is above fwnd_max = {fwnd_max}")));
        }
        let f = fwnd_min;
        let intervals = Vec::with_capacity(parameters.keep as usize);
        Ok(DpFec { parameters, f, reports: 0, ertt: None, event: None, intervals, reference: None, impact: None })
    }

    /// The constants in force.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The interval from the last event to a new one that a loss at `at` begins; none if it begins none, or the first.
    fn begins_event(&mut self, at: f64) -> Option<f64> {
        let interval = self.event.map(|event| at - event);
        let separate = interval.is_none_or(|interval| interval >= self.ertt.unwrap_or(0.0));
        if separate {
            self.event = Some(at);
        }
        interval.filter(|_| separate)
    }

    /// Tests the last intervals against the reference, which is then updated with the newest one.
    fn judge(&mut self, interval: f64) {
        if self.intervals.len() == self.parameters.keep as usize {
            self.intervals.remove(0);
        }
        self.intervals.push(interval);
        let reference = self.reference.unwrap_or(interval);
        if self.intervals.len() == self.parameters.keep as usize && reference > 0.0 {
            let mean = self.intervals.iter().sum::<f64>() / self.intervals.len() as f64;
            let impact = 1.0 - mean / reference;
            self.impact = Some(impact);
            if impact > self.parameters.threshold {
                self.f = (self.f / 2.0).max(self.parameters.fwnd_min);
                self.intervals.clear();
            }
        }
        self.reference = Some(reference + self.parameters.gain * (interval - reference));
    }
}

impl Redundancy for DpFec {
    fn on_report(&mut self, report: &LossReport) {
        self.ertt = smoothed(self.ertt, report.srtt, self.parameters.alpha);
        self.reports += 1;
        if self.reports == self.parameters.every {
            self.reports = 0;
            self.f = (self.f + 1.0).min(self.parameters.fwnd_max);
        }
        if report.lost > 0
            && let Some(interval) = self.begins_event(report.at.0)
        {
            self.judge(interval);
        }
    }

    fn repair(&self) -> u32 {
        whole(self.f) as u32
    }

    fn bounds(&self) -> (f64, f64) {
        (self.parameters.fwnd_min, self.parameters.fwnd_max)
    }

    fn needs_time(&self) -> bool {
        true
    }
}

impl Entry<()> for DpFec {
    const NAME: &'static str = "dp-fec";
    const ABOUT: &'static str =
        "a stand-in for DP-FEC, of which only an outline is known: its results are not those of DP-FEC itself";
    const SCOPE: Scope = Scope::Lab;
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<DpFec, ParameterError> {
        DpFec::new(parameters.clone())
    }
}

impl Probe for DpFec {
    /// Shows `f`, `repair` and `impact`, the estimate of the last test.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("f", self.f);
        visit("repair", f64::from(self.repair()));
        visit("impact", self.impact.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::registry::Parameters as _;
    use crate::units::Seconds;

    fn at(seconds: f64, lost: u32) -> LossReport {
        LossReport { lost, delivered: 30, srtt: Some(Seconds(0.02)), at: Seconds(seconds) }
    }

    #[test]
    fn it_grows_by_one_every_ten_reports_up_to_60() {
        let mut law = DpFec::new(Parameters::default()).unwrap();
        let windows: Vec<u32> = (1..=1000)
            .map(|n| {
                law.on_report(&at(f64::from(n) * 0.01, 0));
                law.repair()
            })
            .collect();
        assert_eq!((windows[8], windows[9], windows[19], windows[589], windows[999]), (1, 2, 3, 60, 60));
    }

    #[test]
    fn loss_events_that_come_closer_halve_it() {
        let mut law = DpFec::new(Parameters { every: u32::MAX, ..Parameters::default() }).unwrap();
        law.f = 9.0;
        // Five events a second apart: reference and mean are 1 s, no impact.
        for t in 0..5 {
            law.on_report(&at(f64::from(t), 1));
        }
        assert_eq!((law.f, law.impact), (9.0, Some(0.0)));
        // The same event lasts for one ERTT.
        law.on_report(&at(4.01, 7));
        assert_eq!(law.intervals.len(), 4);
        // Then every 0.2 s. The third such interval makes the mean 0.4; the reference includes two: 1 - 0.05 -
        // 0.046875.
        for t in [4.2, 4.4] {
            law.on_report(&at(t, 1));
        }
        assert_eq!(law.f, 9.0);
        law.on_report(&at(4.6, 1));
        assert_eq!(law.f, 4.5);
        assert!((law.impact.unwrap() - (1.0 - 0.4 / 0.903_125)).abs() < 1e-9);
        assert!(law.intervals.is_empty());
    }

    #[test]
    fn a_log_whose_clock_runs_backwards_does_not_upset_it() {
        let mut law = DpFec::new(Parameters::default()).unwrap();
        for t in [5.0, 1.0, 1.0, 9.0, 9.0, 9.0] {
            law.on_report(&at(t, 1));
        }
        assert!(law.f.is_finite());
    }

    #[test]
    fn settings_are_checked() {
        let mut p = Parameters::default();
        for (name, value) in [("every", "0"), ("gain", "0"), ("keep", "1e9"), ("threshold", "x"), ("f", "1")] {
            assert!(p.set(name, value).is_err(), "{name}={value}");
        }
        p.set("fwnd_min", "70").unwrap();
        assert!(DpFec::new(p).is_err());
    }
}

//! Repair of one's own.

use thalweg_core::law::redundancy::{LossReport, Redundancy};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::{Context, Law, Running};

/// A law of repair of one's own before it runs. Its context has the shape of the stream's blocks.
pub type Repair = Law<dyn RepairLaw, Blocks>;

/// A law that answers each report with the number of repair packets of the next block: [`Redundancy`] with calls that
/// may fail.
///
/// # Errors
/// Each text that a call returns is a [`super::Fault`], and so is a number of packets out of its range.
pub trait RepairLaw: Send {
    /// Takes one report into account. There is one for each block, unless it is lost.
    fn on_report(&mut self, report: &LossReport) -> Result<(), String>;

    /// The number of repair packets of a block, of which the fraction is dropped. 0 to [`Blocks::most`]. The sender
    /// reads it once after the constructor and once after each report.
    fn repair(&self) -> Result<f64, String>;

    /// W_tot, the packets in flight as the law counts them, for `w_mean`; none for a law that has none. It is read with `repair`.
    fn w_tot(&self) -> Result<Option<f64>, String> {
        Ok(None)
    }

    /// Visits values to record, NaN where one is not known yet.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}

/// The blocks of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Blocks {
    /// The rate of the media, headers included.
    pub rate: Rate,
    /// The size of every packet on the wire.
    pub packet: Bytes,
    /// SYN: the duration of a block, and the interval of reports.
    pub syn: Span,
    /// Source packets of a block, with their fraction. Above 0.
    pub k: f64,
    /// The largest number of repair packets of a block, which one code holds beside its source packets. 0 to 254.
    pub most: u32,
}

/// The values of a law of repair after a report.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Amounts {
    /// Repair packets of a block.
    pub repair: u32,
    /// W_tot, if the law has one.
    pub w_tot: Option<f64>,
}

/// A law of repair of one's own in a run.
#[derive(Debug)]
pub struct RunningRepair {
    running: Running<dyn RepairLaw, Amounts>,
    most: u32,
}

impl RunningRepair {
    /// The law of the flow of `context`, before its first report.
    pub(crate) fn begin(law: &Repair, context: &Context<Blocks>) -> RunningRepair {
        let most = context.config.most;
        RunningRepair { running: Running::new(law, context, |law| amounts(law, most)), most }
    }

    /// The law until its first fault.
    pub fn running(&self) -> &Running<dyn RepairLaw, Amounts> {
        &self.running
    }
}

/// The whole repair packets that `law` gives, tolerating a rounding error just below a whole number, and its W_tot.
fn amounts(law: &dyn RepairLaw, most: u32) -> Result<Amounts, String> {
    let repair = law.repair()?;
    if !(0.0..=f64::from(most)).contains(&repair) {
        return Err(format!("repair is {repair}, expected 0 to {most} packets"));
    }
    Ok(Amounts { repair: (repair + 1e-9) as u32, w_tot: law.w_tot()? })
}

impl Redundancy for RunningRepair {
    fn on_report(&mut self, report: &LossReport) {
        let (now, most) = (Time::ZERO + Span::from_secs_f64(report.at.0), self.most);
        self.running.handle(now, |law| law.on_report(report).and_then(|()| amounts(law, most)));
    }

    fn repair(&self) -> u32 {
        self.running.values().repair
    }

    fn w_tot(&self) -> Option<f64> {
        self.running.values().w_tot
    }

    fn bounds(&self) -> (f64, f64) {
        (0.0, self.most.into())
    }
}

impl Probe for RunningRepair {
    fn probe(&self, visit: &mut Visitor<'_>) {
        if let Some(law) = self.running.law() {
            law.probe(visit);
        }
    }
}

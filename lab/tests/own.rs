//! Laws of one's own: they run as built-in laws do, and a fault ends the run alone.

mod faults;
mod names;
mod paced;
mod same;
mod shown;

use std::path::Path;

use thalweg_core::law::redundancy::LossReport;
use thalweg_core::law::window::Acked;
use thalweg_core::probe::Visitor;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::Experiment;
use thalweg_lab::own::{Blocks, Context, Repair, RepairLaw, Window, WindowLaw};
use thalweg_lab::scenario::{Blueprint, Laws};

/// The scenario `lab/dumbbell.toml` for a few seconds, with these laws and parameters.
fn dumbbell(laws: &Laws, set: &[(&str, &str)], seed: u64) -> Experiment {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/lab/dumbbell.toml");
    let text = std::fs::read_to_string(file).expect("it is there");
    let short = [("duration_s", "8"), ("warmup_s", "4"), ("n_tcp", "4")];
    let set: Vec<_> = short.iter().chain(set).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let blueprint = Blueprint::parse_with("dumbbell.toml", &text, &set, &mut |file| Err(format!("no {file}")), laws);
    blueprint.and_then(|blueprint| blueprint.experiment(seed)).unwrap_or_else(|error| panic!("{error}"))
}

fn windows(windows: Vec<Window>) -> Laws {
    Laws::new(windows, Vec::new()).expect("names that no other law has")
}

fn repairs(repairs: Vec<Repair>) -> Laws {
    Laws::new(Vec::new(), repairs).expect("names that no other law has")
}

/// A value of a law, or the text of its failure.
type Reply = Result<f64, String>;

/// The repair packets of a block after a report at a time, in seconds.
type Packets = fn(f64) -> Reply;

/// The names of the values that a TCP sender has itself.
const SENDER: [&str; 10] =
    ["cwnd", "ssthresh", "srtt", "rto", "flight", "pipe", "sent", "retransmitted", "timeouts", "recoveries"];

/// A window that never changes, and the functions that give its values at a time.
#[derive(Clone)]
struct Scripted {
    now: Time,
    gap: Option<Span>,
    cwnd: fn(Time) -> Reply,
    ssthresh: fn(Time) -> f64,
}

impl Default for Scripted {
    /// Ten segments.
    fn default() -> Scripted {
        Scripted { now: Time::ZERO, gap: None, cwnd: |_| Ok(10.0), ssthresh: |_| f64::INFINITY }
    }
}

impl Scripted {
    fn law(self) -> Window {
        Window::new("mine", move |_| Ok(Box::new(self.clone())))
    }
}

impl WindowLaw for Scripted {
    fn on_ack(&mut self, acked: &Acked) -> Result<(), String> {
        self.now = acked.now;
        Ok(())
    }

    fn on_loss(&mut self, now: Time, _flight: u32) -> Result<(), String> {
        self.now = now;
        Ok(())
    }

    fn on_recovered(&mut self, now: Time) -> Result<(), String> {
        self.now = now;
        Ok(())
    }

    fn on_timeout(&mut self, now: Time, _flight: u32, _again: bool) -> Result<(), String> {
        self.now = now;
        Ok(())
    }

    fn cwnd(&self) -> Reply {
        (self.cwnd)(self.now)
    }

    fn ssthresh(&self) -> Reply {
        Ok((self.ssthresh)(self.now))
    }

    fn gap(&self) -> Result<Option<Span>, String> {
        Ok(self.gap)
    }

    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("mine", self.now.as_secs_f64());
        SENDER.iter().for_each(|name| visit(name, -1.0));
    }
}

/// A number of repair packets that depends on the time of the last report alone.
#[derive(Clone)]
struct Repaired {
    now: f64,
    repair: Packets,
}

impl Repaired {
    fn law(repair: Packets) -> Repair {
        Repair::new("mine", move |_: &Context<Blocks>| Ok(Box::new(Repaired { now: 0.0, repair })))
    }
}

impl RepairLaw for Repaired {
    fn on_report(&mut self, report: &LossReport) -> Result<(), String> {
        self.now = report.at.0;
        Ok(())
    }

    fn repair(&self) -> Reply {
        (self.repair)(self.now)
    }

    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("mine", self.now);
    }
}

//! A campaign on a terminal: its progress, and signals that interrupt it.

use std::path::Path;

use thalweg_net::signal::Stop;
use thalweg_net::terminal::escaped;
use thalweg_workbench::campaign::{Campaign, Finished};
use thalweg_workbench::output::Output;
use thalweg_workbench::pool::Pool;
use thalweg_workbench::run::{self, Results};

use super::{failed, interrupted, plot, refused};
use crate::failure::Failure;
use crate::progress::Shown;

/// The results of a campaign, and the signal that interrupted it, if one did.
pub(super) struct Performed {
    results: Results,
    stop: Stop,
}

/// Performs all runs, `threads` at a time, and shows the progress.
pub(super) fn perform(campaign: &Campaign, output: &Output<'_>, threads: usize) -> Result<Performed, Failure> {
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot handle signals: {error}")))?;
    if let Some(late) = campaign.late().map_err(refused)? {
        eprintln!(
            "thalweg: lab: measuring begins at {}, but a flow of '{}' may start as late as {}; use a longer warm-up",
            late.warmup,
            escaped(&late.group),
            late.start
        );
    }
    let shown = Shown::default();
    let pool = Pool { threads, stopped: &|| stop.asked(), progress: &|at| shown.show(at) };
    let results = run::run(campaign, output, pool);
    shown.end();
    Ok(Performed { results: results.map_err(refused)?, stop })
}

impl Performed {
    /// The runs of one variant, in the order of the seeds.
    pub(super) fn of(&self, variant: usize) -> impl Iterator<Item = &Finished> {
        self.results.of(variant)
    }

    /// Draws a page of the campaign, if there is a file for it.
    pub(super) fn plot(
        &self,
        file: Option<&Path>,
        scenario: &str,
        campaign: &Campaign,
        threads: usize,
    ) -> Result<(), Failure> {
        let Some(file) = file else { return Ok(()) };
        plot::write(file, scenario, campaign, Pool { stopped: &|| self.stop.asked(), ..Pool::of(threads) })
    }

    /// Fails if a run is missing; the error names the number of completed runs.
    pub(super) fn complete(&self) -> Result<(), Failure> {
        match (self.results.missing, self.results.finished.len()) {
            (0, _) => Ok(()),
            (missing, kept) => {
                let all = missing + kept;
                let why = interrupted(&self.stop);
                Err(failed(format!("{why}: {kept} of {all} runs were completed, and only these count")))
            }
        }
    }

    /// The failure of a campaign that was interrupted before any result.
    pub(super) fn nothing_before(&self, what: &str) -> Failure {
        failed(format!("{} before {what}", interrupted(&self.stop)))
    }
}

//! The plans of the evaluations, with the lengths and seeds that the command line sets.

use std::path::Path;

use thalweg_net::error::plain;
use thalweg_papers::fec_arq::{self, Recording};
use thalweg_papers::geneva::{self, Length};
use thalweg_papers::{gca, r3cp, tcp_stream};

use super::{Args, BESIDE};
use crate::Failure;
use crate::verb::lab::failed;

impl Args {
    pub(super) fn fec_arq_plan(&self) -> Result<fec_arq::Plan, Failure> {
        let recordings = recordings(self.recordings.as_deref())?;
        let mut plan = if self.quick { fec_arq::Plan::quick(recordings) } else { fec_arq::Plan::paper(recordings) };
        plan.seeds = self.seeds.unwrap_or(plan.seeds);
        Ok(plan)
    }

    pub(super) fn tcp_stream_plan(&self) -> tcp_stream::Plan {
        let mut plan = if self.quick { tcp_stream::Plan::quick() } else { tcp_stream::Plan::paper() };
        if let Some(seeds) = self.seeds {
            (plan.seeds, plan.fig5_seeds) = (seeds, seeds);
        }
        plan.video_seconds = self.seconds.unwrap_or(plan.video_seconds);
        plan
    }

    pub(super) fn r3cp_plan(&self) -> r3cp::Plan {
        let plan = if self.quick { r3cp::Plan::quick() } else { r3cp::Plan::paper() };
        let (seeds, seconds) = (self.seeds.unwrap_or(plan.seeds), self.seconds.unwrap_or(plan.seconds));
        r3cp::Plan { seeds, seconds, ..plan }
    }

    pub(super) fn gca_plan(&self) -> gca::Plan {
        let plan = if self.quick { gca::Plan::quick() } else { gca::Plan::paper() };
        let (seeds, seconds) = (self.seeds.unwrap_or(plan.seeds), self.seconds.unwrap_or(plan.seconds));
        gca::Plan { seeds, seconds }
    }

    pub(super) fn geneva_plan(&self) -> geneva::Plan {
        let mut plan = if self.quick { geneva::Plan::quick() } else { geneva::Plan::paper() };
        if let Some(seeds) = self.seeds {
            (plan.seeds, plan.fig2_seeds) = (seeds, 2 * seeds);
        }
        if let Some(seconds) = self.seconds {
            plan.length = Length::Whole(seconds.into());
            plan.fig2_seconds = f64::from(seconds) * 2.0 / 3.0;
        }
        plan
    }
}

/// Reads the recordings that exist; in a folder that is named, all of them must exist.
fn recordings(folder: Option<&Path>) -> Result<Vec<Recording>, Failure> {
    let at = folder.unwrap_or(Path::new(BESIDE));
    let mut found = Vec::new();
    for name in Recording::STAND_INS {
        match std::fs::read_to_string(at.join(name)) {
            Ok(text) => found.push(Recording::parse(name, &text).map_err(failed)?),
            Err(_) if folder.is_none() => {}
            Err(error) => return Err(unreadable(&at.join(name), &error)),
        }
    }
    Ok(found)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    failed(format!("cannot read {}: {}", file.display(), plain(error)))
}

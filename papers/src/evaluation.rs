//! The common shape of all evaluations: jobs, their records, findings on claims, and a page.

use std::fmt::Debug;

use crate::claim::{Claim, Evaluator, Finding, Qualification, Statement};
use crate::drawing;
use crate::erratum::Erratum;
use crate::evidence::Evidence;
use crate::jobs::Jobs;
use crate::keep::{Keep, Resumed};
use crate::page::{Page, Section};
use crate::pool::{self, Pool, Task as _};
use crate::remark::Remark;
use crate::results::Results;

/// A paper's evaluation, whose value is the plan of its runs.
///
/// [`run`] makes [`Results`] of jobs, [`judge`] findings of results, and [`page`] a page of both.
pub trait Evaluation: Jobs {
    /// A reading of the points that the paper leaves open.
    type Reading: Copy + Debug;

    /// The paper.
    const PAPER: Paper;
    /// The paper's claims about numbers.
    const CLAIMS: &'static [Claim<Self, Self::Reading>];

    /// The findings on all claims under each reading.
    fn evidence(results: &Results<Self>) -> Evidence;

    /// The reason that a claim does not count if it holds, if there is one.
    fn qualification(_evaluator: &Evaluator<'_, Self, Self::Reading>, _claim: &str) -> Option<Qualification> {
        None
    }

    /// The result in a few sentences.
    fn summary(results: &Results<Self>, evidence: &Evidence) -> String;

    /// Sections on the whole result, before the description of the page.
    fn overview(_results: &Results<Self>) -> Vec<Section> {
        Vec::new()
    }

    /// Sections that belong to the claims.
    fn beside_claims(_results: &Results<Self>) -> Vec<Section> {
        Vec::new()
    }

    /// The figures and tables.
    fn measurements(results: &Results<Self>) -> Vec<Section>;

    /// The settings of the runs.
    fn options(&self) -> Section;
}

/// A paper, its claims, and what was found about them other than numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paper {
    /// The title of the page.
    pub title: &'static str,
    /// The reference, and the means of the evaluation.
    pub about: &'static str,
    /// Notes on the claims and their readings.
    pub notes: &'static [&'static str],
    /// The topics of the claims, if they are summarized by topic.
    pub topics: &'static [Remark],
    /// The bounds of the claims, and whose they are.
    pub bars: &'static [Remark],
    /// The known causes of claims that do not hold.
    pub causes: &'static [Remark],
    /// Findings about claims whose cause is not known.
    pub unexplained: &'static [Remark],
    /// The errors of the paper.
    pub errata: &'static [Erratum],
    /// A note on the errors.
    pub errata_note: &'static str,
}

/// Runs jobs of a plan; those that an interruption left out are missing in the results. A job with a record in `keep` is
/// not run again.
///
/// # Errors
/// A job is impossible, the lab has a fault, or a record cannot be stored.
pub fn run<P: Jobs>(plan: &P, jobs: &[P::Job], keep: Option<&Keep>, pool: Pool<'_>) -> Result<Results<P>, String> {
    let length = jobs.iter().map(|job| plan.task(*job).map(|task| task.length())).sum::<Result<u64, String>>()?;
    let finished =
        pool::run(jobs, length, pool, |nth, job| Ok(Resumed::begin(keep, nth, &jobs[nth], plan.task(*job)?)))?;
    let mut results = Results::new(plan.clone());
    finished.into_iter().for_each(|(nth, record)| results.insert(jobs[nth], record));
    Ok(results)
}

/// Judges every claim under a reading.
pub fn judge<E: Evaluation>(results: &Results<E>, reading: E::Reading) -> Vec<Finding> {
    let evaluator = Evaluator { results, reading };
    let finding = |claim: &Claim<E, E::Reading>| {
        let Claim { id, gate, source, text, judge } = *claim;
        let statement = Statement { id, gate, source, text };
        Finding { claim: statement, parts: judge(&evaluator), qualification: E::qualification(&evaluator, id) }
    };
    E::CLAIMS.iter().map(finding).collect()
}

/// The page about results that `command` made.
pub fn page<E: Evaluation>(results: &Results<E>, command: &str) -> Page {
    let Paper { title, about, notes, topics, bars, causes, unexplained, errata, errata_note } = E::PAPER;
    let evidence = E::evidence(results);
    let mut sections = Vec::new();
    if !topics.is_empty() {
        sections.push(evidence.how_far(topics));
    }
    sections.extend(E::overview(results));
    sections.extend([drawing::made(about, results.len(), command), evidence.claims(bars, notes)]);
    if !(causes.is_empty() && unexplained.is_empty()) {
        sections.push(evidence.causes(unexplained, causes));
    }
    sections.extend(E::beside_claims(results));
    sections.extend(E::measurements(results));
    sections.extend([evidence.parts(), drawing::errors(errata, errata_note), results.plan().options()]);
    Page { title: title.into(), summary: E::summary(results, &evidence), sections, ..Page::default() }
}

//! The jobs of an evaluation, each a run with a record.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::figure::Subject;
use crate::pool::Task;

/// The runs of an evaluation; the value is their plan.
///
/// A job is a condition, a subject that is compared with others, and a seed.
pub trait Jobs: Clone + Debug + Sync + Sized + 'static {
    /// One run.
    type Job: Copy + Ord + Debug + Send + Sync;
    /// The condition under which subjects are compared.
    type Condition: Copy;
    /// The subject of a run.
    type Subject: Subject;
    /// A choice among records of the same condition; `()` if there is one record only.
    type View: Clone + Debug + Default;
    /// The numbers of a run.
    type Record: Debug + Send + Serialize + DeserializeOwned;

    /// All jobs, in their order.
    fn jobs(&self) -> Vec<Self::Job>;

    /// The job of a condition and a subject.
    fn job(condition: Self::Condition, subject: Self::Subject, view: &Self::View, seed: u64) -> Self::Job;

    /// The seeds of a condition.
    fn seeds(&self, condition: Self::Condition, view: &Self::View) -> RangeInclusive<u64>;

    /// Begins a job.
    ///
    /// # Errors
    /// An error names the impossible job and gives the reason.
    fn task(&self, job: Self::Job) -> Result<impl Task<Record = Self::Record, Error = String>, String>;
}

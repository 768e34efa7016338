//! The paper's claims, and the findings about each under a setting.
//!
//! A part that compares two controls is judged by the 95 % interval of the difference between runs with the same seed.
//! Arithmetic is computed by the law's own code, and must be exact.

mod arithmetic;
mod list;
mod load;
mod paths;
mod time;

pub use self::list::CLAIMS;
use super::condition::Condition;
use super::plan::Plan;
use super::record::Record;
use super::setting::Setting;
use super::subject::Subject;
use crate::claim::{self, Gate, difference};
use crate::jobs::Jobs;
use crate::part::{Part, Wanted};

/// A claim of the paper, or one that follows from it.
pub type Claim = claim::Claim<Plan, Setting>;
/// The results and the setting by which claims are judged.
pub type Evaluator<'a> = claim::Evaluator<'a, Plan, Setting>;

impl Evaluator<'_> {
    /// A value for every seed, NaN if it is missing.
    fn values(&self, condition: Condition, subject: Subject, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        let job = |seed| Plan::job(condition, subject, &self.reading, seed);
        let seeds = 1..=self.results.plan().seeds;
        seeds.map(|seed| self.results.of(&job(seed)).map_or(f64::NAN, &of)).collect()
    }

    /// The difference of a value between two subjects, seed by seed.
    fn above(
        &self,
        condition: Condition,
        [more, less]: [Subject; 2],
        what: &str,
        of: impl Fn(&Record) -> f64,
        wanted: Wanted,
    ) -> Part {
        use crate::figure::Subject as _;
        let values = difference(&self.values(condition, more, &of), &self.values(condition, less, &of));
        Part::new(format!("{condition}: {what}, {} - {}", more.name(), less.name()), values, wanted)
    }

    /// All loads of Figs. 3, 5 and 6.
    fn loads(&self) -> Vec<Condition> {
        let plan = self.results.plan();
        let alone = plan.videos.iter().map(|&videos| Condition::Load { videos, tcp: 0 });
        alone.chain(plan.tcp.iter().map(|&tcp| Condition::Load { videos: 1, tcp })).collect()
    }

    /// The loads from .75 on: three videos and more, and every number of TCP flows, which fill the link.
    fn high_loads(&self) -> Vec<Condition> {
        let is_high = |load: &Condition| matches!(load, Condition::Load { videos, tcp } if *videos >= 3 || *tcp > 0);
        self.loads().into_iter().filter(is_high).collect()
    }
}

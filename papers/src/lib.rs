//! Published evaluations, run again: the runs, the papers' numbers, and verdicts on the papers' claims.
//!
//! | paper | module |
//! |---|---|
//! | GENEVA | [`geneva`] |
//! | hybrid FEC-ARQ | [`fec_arq`] |
//! | TCP Stream | [`tcp_stream`] |
//! | R3CP+ | [`r3cp`] |
//! | GCA | [`gca`] |
//!
//! Each module is one paper: the conditions of its runs, the numbers of a run ([`results`] holds them), figures, tables
//! and claims. Bounds of claims, causes of contradictions and errors of the paper are data in files of their own.
//!
//! All are an [`evaluation::Evaluation`] of [`jobs::Jobs`]: [`evaluation::run`] runs the jobs of a plan on several
//! threads ([`pool`]) and keeps their records if it shall ([`keep`]); [`evaluation::judge`] makes a [`claim::Finding`]
//! of each claim, of [`part`]s with intervals over seeds; [`evaluation::page`] makes a [`page::Page`], which is written
//! as HTML or Markdown. Figures, tables and findings are computed from the records alone, and these come from the
//! simulator, `thalweg-lab`. The feature `real` adds `tcp_stream::real` and `r3cp::real`: figures with the TCP of this
//! machine's kernel, and with `thalweg serve` and `play`.
//!
//! ```
//! use thalweg_papers::evaluation::{page, run};
//! use thalweg_papers::fec_arq::{Case, Plan};
//! use thalweg_papers::pool::Pool;
//!
//! let plan = Plan { bursts: 20, ..Plan::quick(Vec::new()) };
//! let jobs: Vec<_> = plan.jobs().into_iter().filter(|job| job.case == Case::TABLE_2[0]).collect();
//! let results = run(&plan, &jobs, None, Pool::of(1))?;
//! assert!(page(&results, "an example").to_markdown().contains("Table II"));
//! # Ok::<(), String>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "real")]
mod bar;
pub mod claim;
pub mod comparison;
pub mod drawing;
pub mod erratum;
pub mod evaluation;
pub mod evidence;
pub mod fec_arq;
pub mod figure;
pub mod gca;
pub mod geneva;
pub mod jobs;
pub mod keep;
pub mod page;
pub mod part;
#[cfg(feature = "real")]
mod program;
pub mod r3cp;
pub mod remark;
pub mod results;
pub mod tcp_stream;
pub mod work;

pub use thalweg_workbench::pool;

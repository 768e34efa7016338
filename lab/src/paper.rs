//! Published evaluations, run again: what to run, what the paper has, and what its claims are worth here.
//!
//! Everything in here is pure: a plan says which jobs there are, whoever has processors runs them, and figures, tables
//! and verdicts follow from the results alone.

pub mod claim;
pub mod erratum;
pub mod fec_arq;
pub mod figure;
pub mod geneva;
pub mod part;
pub mod remark;
pub mod results;
pub mod table;
pub mod tcp_stream;
pub mod work;

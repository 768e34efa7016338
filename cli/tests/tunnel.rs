//! `thalweg tunnel` and `thalweg pipe` as processes: bytes, ends and faults.
//!
//! Long tests run with `THALWEG_TEST_ALL=1` only.

mod bytes;
mod cut;
mod ends;
mod faults;
mod flood;
#[path = "../../core/tests/tunnel/forge.rs"]
mod forge;
mod many;
mod noise;
mod paths;
mod pipe;
mod programs;
mod stage;
mod wrong;

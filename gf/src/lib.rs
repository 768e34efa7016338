//! GF(2^8) arithmetic on slices, with the vector kernels of the machine it runs on.
//!
//! An erasure code spends its time in one operation, the product of a matrix and a column of symbols: [`mul_add`]. This
//! crate contains only that operation and the field in which it works ([`POLYNOMIAL`]), so that no other crate needs
//! `unsafe` for it.

mod field;
mod kernel;

pub use field::{ORDER, POLYNOMIAL, exp, log, mul};
pub use kernel::Kernel;

/// Adds to every output the sum of its row's multiples of the inputs, with the fastest [`Kernel`] of this machine.
///
/// `rows` holds one factor for each output and input, output by output. An input shorter than the outputs is treated as
/// padded with zeros.
///
/// # Panics
/// If the length of `rows` is not outputs times inputs, the outputs differ in length, or an input is longer than the
/// outputs.
pub fn mul_add(rows: &[u8], inputs: &[&[u8]], outputs: &mut [&mut [u8]]) {
    Kernel::best().mul_add(rows, inputs, outputs);
}

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! GF(2^8) arithmetic on slices, with the vector kernels of the machine it runs on.
//!
//! An erasure code spends its time in one operation, a matrix times a column of symbols: [`mul_add`]. This crate is
//! that operation, and the field it works in ([`POLYNOMIAL`]), and nothing else, so that no other crate needs `unsafe`
//! for it.

mod field;
mod kernel;

pub use field::{ORDER, POLYNOMIAL, exp, log, mul};
pub use kernel::Kernel;

/// Adds to every output the sum of its row's multiples of the inputs, by the fastest [`Kernel`] of this machine.
///
/// `rows` holds one factor for each output and input, output by output. An input shorter than the outputs counts as
/// padded with zeros.
///
/// # Panics
/// If `rows` is not as long as outputs times inputs, the outputs differ in length, or an input is longer than they.
pub fn mul_add(rows: &[u8], inputs: &[&[u8]], outputs: &mut [&mut [u8]]) {
    Kernel::best().mul_add(rows, inputs, outputs);
}

//! The portable kernel: a table of products, byte by byte.

use core::ops::Range;

use super::Factors;
use crate::field::multiples;

pub(super) fn mul_add(factors: Factors<'_>, inputs: &[&[u8]], outputs: &mut [&mut [u8]], at: Range<usize>) {
    for (i, output) in outputs.iter_mut().enumerate() {
        for (&factor, input) in factors.row(i).iter().zip(inputs) {
            let multiples = multiples(factor);
            let output = &mut output[at.clone()];
            output.iter_mut().zip(&input[at.clone()]).for_each(|(out, &byte)| *out ^= multiples[usize::from(byte)]);
        }
    }
}

//! The code that vector kernels share: the loops, generic over register operations, and the tables for byte shuffles.

use crate::field::carryless;

/// Defines the module's kernel: its entry point `mul_add`, for a machine with `$features`.
///
/// The module provides `WIDTH` (the bytes of a register), `load`, `store`, and a product in three steps, so that no
/// step is repeated: `prepare` takes a register of an input, `factor` takes a factor, and `add_product` adds the
/// product of both to a sum. `$outputs` are the numbers of outputs that are computed together, largest first.
/// `$vectors` registers of each of them hold the sums during one pass over all inputs.
macro_rules! vector_kernel {
    (features: $features:literal, vectors: $vectors:literal, outputs: [$($outputs:literal),+]) => {
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn mul_add(
            factors: Factors<'_>,
            inputs: &[&[u8]],
            outputs: &mut [&mut [u8]],
            at: core::ops::Range<usize>,
        ) {
            for at in at.step_by(WIDTH * $vectors) {
                let mut row = 0;
                $(
                    while let Some(group) = outputs[row..].first_chunk_mut::<$outputs>() {
                        add_to_group(factors.part(row, 0, inputs.len()), inputs, group, at);
                        row += $outputs;
                    }
                )+
            }
        }

        #[target_feature(enable = $features)]
        fn add_to_group<const OUTPUTS: usize>(
            factors: Factors<'_>,
            inputs: &[&[u8]],
            outputs: &mut [&mut [u8]; OUTPUTS],
            at: usize,
        ) {
            let rows: [&[u8]; OUTPUTS] = core::array::from_fn(|row| &factors.row(row)[..inputs.len()]);
            let mut sums = [[load(&[0; WIDTH]); $vectors]; OUTPUTS];
            for (i, input) in inputs.iter().enumerate() {
                let (bytes, _) = input[at..][..WIDTH * $vectors].as_chunks::<WIDTH>();
                let mut prepared = [prepare(load(&[0; WIDTH])); $vectors];
                for (prepared, bytes) in prepared.iter_mut().zip(bytes) {
                    *prepared = prepare(load(bytes));
                }
                for row in 0..OUTPUTS {
                    let factor = factor(rows[row][i]);
                    for v in 0..$vectors {
                        sums[row][v] = add_product(sums[row][v], factor, prepared[v]);
                    }
                }
            }
            for (output, sums) in outputs.iter_mut().zip(sums) {
                let (bytes, _) = output[at..][..WIDTH * $vectors].as_chunks_mut::<WIDTH>();
                for (bytes, sum) in bytes.iter_mut().zip(sums) {
                    store(add(load(bytes), sum), bytes);
                }
            }
        }
    };
}

pub(super) use vector_kernel;

/// For every factor, its products with the values of a byte's lower four bits and with those of its upper four.
pub(super) const fn nibble_products() -> [[[u8; 16]; 2]; 256] {
    let mut table = [[[0; 16]; 2]; 256];
    let mut i = 0;
    while i < 256 * 16 {
        let (factor, nibble) = (i / 16, i % 16);
        table[factor][0][nibble] = carryless(factor as u8, nibble as u8);
        table[factor][1][nibble] = carryless(factor as u8, (nibble << 4) as u8);
        i += 1;
    }
    table
}

use proptest::prelude::*;

use super::*;
use crate::mul;

/// A test case: an output length, the lengths of the inputs (at most that) and their offsets in their buffers, the
/// number of outputs and a seed.
fn shape() -> impl Strategy<Value = (usize, Vec<(usize, usize)>, usize, u64)> {
    let len = prop_oneof![0..300usize, 1300..1400usize];
    (len, 0..24usize, any::<bool>()).prop_flat_map(|(len, outputs, even)| {
        let ended = if even { len..=len } else { 0..=len };
        let inputs = proptest::collection::vec((ended, 0..65usize), 0..140);
        (Just(len), inputs, Just(outputs), any::<u64>())
    })
}

/// Pseudorandom bytes (SplitMix64's step).
fn noise(seed: &mut u64, len: usize) -> Vec<u8> {
    let mut byte = || {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((*seed ^ *seed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
    };
    (0..len).map(|_| byte()).collect()
}

/// Computes every output byte separately, from the definition.
fn by_definition(matrix: &[u8], inputs: &[&[u8]], outputs: &mut [Vec<u8>]) {
    for (i, output) in outputs.iter_mut().enumerate() {
        for (at, out) in output.iter_mut().enumerate() {
            for (j, input) in inputs.iter().enumerate() {
                *out ^= mul(matrix[i * inputs.len() + j], input.get(at).copied().unwrap_or(0));
            }
        }
    }
}

fn check((len, inputs, outputs, mut seed): (usize, Vec<(usize, usize)>, usize, u64)) {
    let matrix = noise(&mut seed, inputs.len() * outputs);
    let bytes: Vec<_> = inputs.iter().map(|&(len, start)| noise(&mut seed, start + len)).collect();
    let inputs: Vec<_> = bytes.iter().zip(&inputs).map(|(bytes, &(_, start))| &bytes[start..]).collect();
    let before: Vec<_> = (0..outputs).map(|_| noise(&mut seed, len)).collect();
    let mut expected = before.clone();
    by_definition(&matrix, &inputs, &mut expected);
    for kernel in Kernel::ALL.iter().filter(|kernel| kernel.is_available()) {
        // Each output starts at an offset equal to the number of outputs (misaligned), with guard bytes on both sides.
        let mut buffers: Vec<_> = before.iter().map(|sum| [&[7; 24][..outputs], sum, &[9; 64]].concat()).collect();
        let mut sums: Vec<_> = buffers.iter_mut().map(|buffer| &mut buffer[outputs..][..len]).collect();
        kernel.mul_add(&matrix, &inputs, &mut sums);
        for (buffer, expected) in buffers.iter().zip(&expected) {
            assert_eq!(buffer, &[&[7; 24][..outputs], expected, &[9; 64]].concat(), "{kernel:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_kernel_agrees_with_the_definition(shape in shape()) {
        check(shape);
    }
}

#[test]
fn every_length_up_to_300_is_right() {
    for len in 0..=300 {
        check((len, vec![(len, len % 7), (len / 2, 1), (len, 0)], 5, len as u64));
    }
}

#[test]
fn every_product_is_right_in_every_kernel() {
    let all: Vec<u8> = (0..=255).collect();
    for factor in 0..=255 {
        for kernel in Kernel::ALL.iter().filter(|kernel| kernel.is_available()) {
            let mut products = [0; 256];
            kernel.mul_add(&[factor], &[&all], &mut [&mut products]);
            assert!(all.iter().all(|&byte| products[usize::from(byte)] == mul(factor, byte)), "{kernel:?} {factor}");
        }
    }
}

#[test]
#[should_panic(expected = "longer")]
fn an_input_longer_than_the_outputs_is_refused() {
    crate::mul_add(&[1], &[&[0; 2]], &mut [&mut [0; 1]]);
}

//! The kernel of 64-bit ARM: two tables of 16 bytes.

use core::arch::aarch64::*;

use super::Factors;
use super::vector::{nibble_products, vector_kernel};

/// For every factor, its multiples of 0 ... 15 and of 0, 16 ... 240.
static NIBBLES: [[[u8; 16]; 2]; 256] = nibble_products();

const WIDTH: usize = 16;

vector_kernel!(features: "neon", vectors: 2, outputs: [4, 2, 1]);

#[target_feature(enable = "neon")]
fn load(bytes: &[u8; WIDTH]) -> uint8x16_t {
    // SAFETY: the reference covers the 16 bytes read, at any alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[target_feature(enable = "neon")]
fn store(vector: uint8x16_t, bytes: &mut [u8; WIDTH]) {
    // SAFETY: the reference covers the 16 bytes written, at any alignment.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), vector) }
}

#[target_feature(enable = "neon")]
fn add(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    veorq_u8(a, b)
}

/// The lower and the upper four bits of every byte.
#[target_feature(enable = "neon")]
fn prepare(input: uint8x16_t) -> [uint8x16_t; 2] {
    [vandq_u8(input, vdupq_n_u8(0x0f)), vshrq_n_u8::<4>(input)]
}

#[target_feature(enable = "neon")]
fn factor(factor: u8) -> [uint8x16_t; 2] {
    let [low, high] = &NIBBLES[usize::from(factor)];
    [load(low), load(high)]
}

#[target_feature(enable = "neon")]
fn add_product(sum: uint8x16_t, [low, high]: [uint8x16_t; 2], input: [uint8x16_t; 2]) -> uint8x16_t {
    add(sum, add(vqtbl1q_u8(low, input[0]), vqtbl1q_u8(high, input[1])))
}

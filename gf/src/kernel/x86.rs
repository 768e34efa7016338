//! The x86 kernels: multiplication by a bit matrix if the machine has GFNI, else by two tables of 16 bytes.
//!
//! `gf2p8mulb` multiplies in another field (polynomial 0x11B), but `gf2p8affineqb` applies any linear map to each byte,
//! and multiplication by a factor is such a map.

use super::vector::nibble_products;
use crate::field::carryless;

/// For every factor, the multiplication by it as the bit matrix that `gf2p8affineqb` takes.
static MATRICES: [u64; 256] = bit_matrices();

/// For every factor, its multiples of 0 ... 15 and of 0, 16 ... 240.
static NIBBLES: [[[u8; 16]; 2]; 256] = nibble_products();

pub(super) mod gfni_avx512 {
    use core::arch::x86_64::*;

    use super::MATRICES;
    use crate::kernel::{Factors, vector::vector_kernel};

    const WIDTH: usize = 64;

    vector_kernel!(features: "gfni,avx512f", vectors: 1, outputs: [16, 8, 4, 2, 1]);

    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8; WIDTH]) -> __m512i {
        // SAFETY: the reference covers the 64 bytes read, at any alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    fn store(vector: __m512i, bytes: &mut [u8; WIDTH]) {
        // SAFETY: the reference covers the 64 bytes written, at any alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
    }

    #[target_feature(enable = "avx512f")]
    fn add(a: __m512i, b: __m512i) -> __m512i {
        _mm512_xor_si512(a, b)
    }

    fn prepare(input: __m512i) -> __m512i {
        input
    }

    #[target_feature(enable = "avx512f")]
    fn factor(factor: u8) -> __m512i {
        _mm512_set1_epi64(MATRICES[usize::from(factor)].cast_signed())
    }

    #[target_feature(enable = "gfni,avx512f")]
    fn add_product(sum: __m512i, factor: __m512i, input: __m512i) -> __m512i {
        add(sum, _mm512_gf2p8affine_epi64_epi8::<0>(input, factor))
    }
}

pub(super) mod gfni_avx2 {
    use core::arch::x86_64::*;

    use super::MATRICES;
    pub(super) use super::avx2::{WIDTH, add, load, store};
    use crate::kernel::{Factors, vector::vector_kernel};

    vector_kernel!(features: "gfni,avx2", vectors: 2, outputs: [4, 2, 1]);

    fn prepare(input: __m256i) -> __m256i {
        input
    }

    #[target_feature(enable = "avx2")]
    fn factor(factor: u8) -> __m256i {
        _mm256_set1_epi64x(MATRICES[usize::from(factor)].cast_signed())
    }

    #[target_feature(enable = "gfni,avx2")]
    fn add_product(sum: __m256i, factor: __m256i, input: __m256i) -> __m256i {
        add(sum, _mm256_gf2p8affine_epi64_epi8::<0>(input, factor))
    }
}

pub(super) mod avx2 {
    use core::arch::x86_64::*;

    use super::NIBBLES;
    use crate::kernel::{Factors, vector::vector_kernel};

    pub(super) const WIDTH: usize = 32;

    vector_kernel!(features: "avx2", vectors: 2, outputs: [4, 2, 1]);

    #[target_feature(enable = "avx2")]
    pub(super) fn load(bytes: &[u8; WIDTH]) -> __m256i {
        // SAFETY: the reference covers the 32 bytes read, at any alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn store(vector: __m256i, bytes: &mut [u8; WIDTH]) {
        // SAFETY: the reference covers the 32 bytes written, at any alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn add(a: __m256i, b: __m256i) -> __m256i {
        _mm256_xor_si256(a, b)
    }

    /// The lower and the upper four bits of every byte.
    #[target_feature(enable = "avx2")]
    fn prepare(input: __m256i) -> [__m256i; 2] {
        let low = _mm256_set1_epi8(0x0f);
        [_mm256_and_si256(input, low), _mm256_and_si256(_mm256_srli_epi64::<4>(input), low)]
    }

    #[target_feature(enable = "avx2")]
    fn factor(factor: u8) -> [__m256i; 2] {
        let [low, high] = &NIBBLES[usize::from(factor)];
        [twice(low), twice(high)]
    }

    #[target_feature(enable = "avx2")]
    fn twice(table: &[u8; 16]) -> __m256i {
        _mm256_broadcastsi128_si256(super::ssse3::load(table))
    }

    #[target_feature(enable = "avx2")]
    fn add_product(sum: __m256i, [low, high]: [__m256i; 2], input: [__m256i; 2]) -> __m256i {
        add(sum, add(_mm256_shuffle_epi8(low, input[0]), _mm256_shuffle_epi8(high, input[1])))
    }
}

pub(super) mod ssse3 {
    use core::arch::x86_64::*;

    use super::NIBBLES;
    use crate::kernel::{Factors, vector::vector_kernel};

    const WIDTH: usize = 16;

    vector_kernel!(features: "ssse3", vectors: 2, outputs: [4, 2, 1]);

    #[target_feature(enable = "sse2")]
    pub(super) fn load(bytes: &[u8; WIDTH]) -> __m128i {
        // SAFETY: the reference covers the 16 bytes read, at any alignment.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "sse2")]
    fn store(vector: __m128i, bytes: &mut [u8; WIDTH]) {
        // SAFETY: the reference covers the 16 bytes written, at any alignment.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector) }
    }

    #[target_feature(enable = "sse2")]
    fn add(a: __m128i, b: __m128i) -> __m128i {
        _mm_xor_si128(a, b)
    }

    /// The lower and the upper four bits of every byte.
    #[target_feature(enable = "sse2")]
    fn prepare(input: __m128i) -> [__m128i; 2] {
        let low = _mm_set1_epi8(0x0f);
        [_mm_and_si128(input, low), _mm_and_si128(_mm_srli_epi64::<4>(input), low)]
    }

    #[target_feature(enable = "sse2")]
    fn factor(factor: u8) -> [__m128i; 2] {
        let [low, high] = &NIBBLES[usize::from(factor)];
        [load(low), load(high)]
    }

    #[target_feature(enable = "ssse3")]
    fn add_product(sum: __m128i, [low, high]: [__m128i; 2], input: [__m128i; 2]) -> __m128i {
        add(sum, add(_mm_shuffle_epi8(low, input[0]), _mm_shuffle_epi8(high, input[1])))
    }
}

/// For every factor, the multiplication by it as a bit matrix: byte 7 - i is the mask of the input bits whose sum is
/// bit i of the product.
const fn bit_matrices() -> [u64; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 * 64 {
        let (factor, from, to) = (i / 64, i / 8 % 8, i % 8);
        if carryless(factor as u8, 1 << from) >> to & 1 == 1 {
            table[factor] |= 1 << ((7 - to) * 8 + from);
        }
        i += 1;
    }
    table
}

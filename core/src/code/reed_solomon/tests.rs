use proptest::prelude::*;
use proptest::sample::subsequence;
use thalweg_gf::{exp, mul};

use super::*;
use crate::rng::Rng;

/// The code as RFC 5510 §8.2 writes it: V_{k,k} inverted by Gauss-Jordan elimination, times V_{k,n}. Each row holds the
/// factors of the source symbols in symbol k + row.
fn generator_by_inversion(k: usize, n: usize) -> Vec<Vec<u8>> {
    let vandermonde = |i: usize, j: usize| exp(i * j);
    let inverse = |a: u8| (1..=255).find(|&b| mul(a, b) == 1).expect("every element but zero has one");
    let mut left: Vec<Vec<u8>> = (0..k).map(|i| (0..k).map(|j| vandermonde(i, j)).collect()).collect();
    let mut right: Vec<Vec<u8>> = (0..k).map(|i| (k..n).map(|j| vandermonde(i, j)).collect()).collect();
    for column in 0..k {
        let pivot = (column..k).find(|&row| left[row][column] != 0).expect("V_{k,k} is regular");
        for side in [&mut left, &mut right] {
            side.swap(column, pivot);
        }
        let scale = inverse(left[column][column]);
        for side in [&mut left, &mut right] {
            side[column].iter_mut().for_each(|a| *a = mul(*a, scale));
        }
        for row in (0..k).filter(|&row| row != column) {
            let factor = left[row][column];
            for side in [&mut left, &mut right] {
                let pivot = side[column].clone();
                side[row].iter_mut().zip(pivot).for_each(|(a, b)| *a ^= mul(factor, b));
            }
        }
    }
    (0..n - k).map(|row| right.iter().map(|factors| factors[row]).collect()).collect()
}

/// Random source symbols of `len` bytes, and the `repair` symbols that our code makes of them.
fn block(k: usize, repair: usize, len: usize, seed: u64) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut rng = Rng::new(seed);
    let source: Vec<Vec<u8>> = (0..k).map(|_| (0..len).map(|_| rng.u32() as u8).collect()).collect();
    let mut repair = vec![vec![0xaa; len]; repair];
    Encoder::new(k).unwrap().encode(&slices(&source), 0, &mut slices_mut(&mut repair)).unwrap();
    (source, repair)
}

fn slices(symbols: &[Vec<u8>]) -> Vec<&[u8]> {
    symbols.iter().map(Vec::as_slice).collect()
}

fn slices_mut(symbols: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    symbols.iter_mut().map(Vec::as_mut_slice).collect()
}

/// Recovers the source symbols that `received` lacks.
fn decode_all(k: usize, received: &[(u8, &[u8])], len: usize) -> Vec<(u8, Vec<u8>)> {
    let missing: Vec<u8> = (0..k as u8).filter(|esi| received.iter().all(|(other, _)| other != esi)).collect();
    let mut recovered = vec![vec![0x55; len]; missing.len()];
    decode(k, received, &missing, &mut slices_mut(&mut recovered)).unwrap();
    missing.into_iter().zip(recovered).collect()
}

#[test]
fn repair_symbols_are_those_of_the_generator_matrix() {
    for (k, repair) in [(1, 254), (254, 1), (2, 3), (25, 8), (75, 20), (170, 85), (128, 127)] {
        let (source, symbols) = block(k, repair, 5, k as u64);
        for (row, symbol) in generator_by_inversion(k, k + repair).iter().zip(symbols) {
            let expected: Vec<u8> = (0..symbol.len())
                .map(|at| row.iter().zip(&source).fold(0, |sum, (&factor, symbol)| sum ^ mul(factor, symbol[at])))
                .collect();
            assert_eq!(symbol, expected, "k = {k}");
        }
    }
}

/// The same without a matrix: the polynomial's values at alpha^0 ... alpha^(k-1) are the source, the others the repair.
#[test]
fn repair_symbols_are_values_of_the_polynomial_through_the_source_symbols() {
    let mut rng = Rng::new(5510);
    for (k, n) in [(1, 2), (20, 30), (170, 255), (255, 255)] {
        let coefficients: Vec<u8> = (0..k).map(|_| rng.u32() as u8).collect();
        let horner = |x: u8| coefficients.iter().rev().fold(0, |sum, &coefficient| mul(sum, x) ^ coefficient);
        let values: Vec<Vec<u8>> = (0..n).map(|j| vec![horner(exp(j))]).collect();
        let mut repair = vec![vec![0]; n - k];
        Encoder::new(k).unwrap().encode(&slices(&values[..k]), 0, &mut slices_mut(&mut repair)).unwrap();
        assert_eq!(repair, values[k..], "k = {k}");
    }
}

/// The matrix of RFC 5510 §8.2 for k = 5, n = 12 by the Python package galois 0.4:
///
/// ```text
/// import galois, numpy as np
/// F = galois.GF(2**8, irreducible_poly=0x11D); a = F.primitive_element
/// V = lambda n: F([[int(a**(i * j)) for j in range(n)] for i in range(5)])
/// print((np.linalg.inv(V(5)) @ V(12))[:, 5:].T @ F([list(w) for w in (b"line", b"rive", b"stre", b"flow", b"fast")]))
/// ```
#[test]
fn an_independent_implementation_makes_the_same_repair_symbols() {
    let source: [&[u8]; 5] = [b"line", b"rive", b"stre", b"flow", b"fast"];
    let mut repair = vec![vec![0; 4]; 7];
    Encoder::new(5).unwrap().encode(&source, 0, &mut slices_mut(&mut repair)).unwrap();
    let expected = [
        [174, 153, 57, 250],
        [200, 154, 194, 133],
        [144, 154, 110, 69],
        [72, 92, 208, 247],
        [83, 34, 156, 160],
        [114, 37, 205, 92],
        [149, 245, 94, 15],
    ];
    assert_eq!(repair, expected);
}

#[test]
fn one_source_symbol_is_repeated() {
    let (source, repair) = block(1, 254, 100, 1);
    assert!(repair.iter().all(|symbol| symbol == &source[0]), "a polynomial of degree 0 is constant");
    assert_eq!(decode_all(1, &[(254, &repair[253])], 100), [(0, source[0].clone())]);
}

#[test]
fn repair_symbol_is_independent_of_the_others_encoded() {
    let (source, all) = block(20, 12, 64, 2);
    let mut encoder = Encoder::new(20).unwrap();
    for first in [7, 0, 11, 3] {
        let mut one = vec![vec![0; 64]];
        encoder.encode(&slices(&source), first, &mut slices_mut(&mut one)).unwrap();
        assert_eq!(one[0], all[first]);
    }
}

#[test]
fn short_symbols_count_as_padded() {
    let (source, _) = block(10, 0, 200, 3);
    let mut padded = source.clone();
    let short: Vec<&[u8]> = source.iter().enumerate().map(|(i, symbol)| &symbol[..20 * i]).collect();
    padded.iter_mut().enumerate().for_each(|(i, symbol)| symbol[20 * i..].fill(0));
    let mut repair = [vec![vec![1; 200]; 4], vec![vec![2; 200]; 4]];
    let mut encoder = Encoder::new(10).unwrap();
    encoder.encode(&short, 0, &mut slices_mut(&mut repair[0])).unwrap();
    encoder.encode(&slices(&padded), 0, &mut slices_mut(&mut repair[1])).unwrap();
    assert_eq!(repair[0], repair[1]);

    let source = (4..10).map(|i| (i as u8, short[i]));
    let received: Vec<_> = source.chain((10..14).zip(slices(&repair[0]))).collect();
    for (esi, symbol) in decode_all(10, &received, 200) {
        assert_eq!(symbol, padded[usize::from(esi)]);
    }
}

#[test]
fn decoder_recovers_only_the_requested_symbols() {
    let (source, repair) = block(9, 4, 30, 4);
    let received: Vec<_> = (3..9).zip(slices(&source[3..])).chain((9..13).zip(slices(&repair))).collect();
    let mut wanted = vec![vec![0; 30]];
    decode(9, &received, &[1], &mut slices_mut(&mut wanted)).unwrap();
    assert_eq!(wanted[0], source[1]);
}

#[test]
fn invalid_requests_are_refused_and_write_nothing() {
    assert_eq!(Encoder::new(0), Err(Error::BlockSize));
    assert_eq!(Encoder::new(256), Err(Error::BlockSize));
    let mut encoder = Encoder::new(2).unwrap();
    let mut out = vec![vec![7; 3]; 2];
    let [a, b, long]: [&[u8]; 3] = [&[1; 3], &[2; 3], &[3; 4]];
    assert_eq!(encoder.encode(&[a], 0, &mut slices_mut(&mut out)), Err(Error::Count));
    assert_eq!(encoder.encode(&[a, b], 252, &mut slices_mut(&mut out)), Err(Error::BlockSize));
    assert_eq!(encoder.encode(&[a, b], usize::MAX, &mut slices_mut(&mut out)), Err(Error::BlockSize));
    assert_eq!(encoder.encode(&[a, long], 0, &mut slices_mut(&mut out)), Err(Error::Length));

    let mut refused = |k, received: &[(u8, &[u8])], missing: &[u8]| {
        decode(k, received, missing, &mut slices_mut(&mut out)).expect_err("impossible")
    };
    assert_eq!(refused(0, &[], &[]), Error::BlockSize);
    assert_eq!(refused(2, &[(2, a)], &[0, 1]), Error::TooFew);
    assert_eq!(refused(2, &[(2, a), (2, b)], &[0, 1]), Error::SymbolId);
    assert_eq!(refused(2, &[(255, a), (2, b)], &[0, 1]), Error::SymbolId);
    assert_eq!(refused(2, &[(0, a), (2, b)], &[0, 1]), Error::SymbolId);
    assert_eq!(refused(2, &[(3, a), (2, b)], &[0, 4]), Error::SymbolId);
    assert_eq!(refused(2, &[(3, a), (2, b)], &[0]), Error::Count);
    assert_eq!(refused(2, &[(3, a), (2, long)], &[0, 1]), Error::Length);
    assert_eq!(out, vec![vec![7; 3]; 2]);
}

/// k, the ESIs that arrive (at least k of them, in any order) and the length of the symbols.
fn arrivals() -> impl Strategy<Value = (usize, Vec<u8>, usize)> {
    (1..=255usize).prop_flat_map(|k| (Just(k), k..=255)).prop_flat_map(|(k, n)| {
        (Just(k), subsequence((0..n as u8).collect::<Vec<_>>(), k..=n).prop_shuffle(), 0..150usize)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_k_of_n_symbols_recover_the_source((k, esis, len) in arrivals(), seed: u64) {
        let (source, repair) = block(k, MAX_SYMBOLS - k, len, seed);
        let all = [slices(&source), slices(&repair)].concat();
        let received: Vec<_> = esis.iter().map(|&esi| (esi, all[usize::from(esi)])).collect();
        for (esi, symbol) in decode_all(k, &received, len) {
            prop_assert_eq!(&symbol, &source[usize::from(esi)]);
        }
    }

    #[test]
    fn arbitrary_symbols_do_not_panic(
        k in 0..300usize,
        received in proptest::collection::vec((any::<u8>(), 0..9usize), 0..20),
        missing in proptest::collection::vec(any::<u8>(), 0..9),
        len in 0..9usize,
    ) {
        let received: Vec<_> = received.into_iter().map(|(esi, len)| (esi, &[0; 9][..len])).collect();
        let mut recovered = vec![vec![0; len]; missing.len()];
        let _ = decode(k, &received, &missing, &mut slices_mut(&mut recovered));
    }
}

//! Published crates that multiply slices in the field of RFC 5510, from which an encoder could be built.

use galois_2p8::{Field, IrreducablePolynomial, PrimitivePolynomialField};
use reed_solomon_erasure::galois_8::mul_slice_xor;
use thalweg_bench::race::Contestant;

/// The contestants: each crate's fastest public function to add multiples, applied symbol by symbol.
pub(crate) fn contestants<'a>(source: &'a [&'a [u8]], matrix: &'a [u8], repair: &[Vec<u8>]) -> Vec<Contestant<'a>> {
    let erasure = move |factor, input: &[u8], output: &mut [u8]| mul_slice_xor(factor, input, output);
    let field = PrimitivePolynomialField::new_might_panic(IrreducablePolynomial::Poly84320);
    let galois = move |factor, input: &[u8], output: &mut [u8]| field.add_scaled_multiword(output, input, factor);
    vec![
        ("reed-solomon-erasure 6.0 `simd-accel`".into(), by_symbol(source, matrix, repair, erasure)),
        ("galois_2p8 0.1 `simd`".into(), by_symbol(source, matrix, repair, galois)),
    ]
}

fn by_symbol<'a>(
    source: &'a [&'a [u8]],
    matrix: &'a [u8],
    expected: &[Vec<u8>],
    add_product: impl Fn(u8, &[u8], &mut [u8]) + 'a,
) -> Box<dyn FnMut() + 'a> {
    let mut sums = vec![vec![0; expected[0].len()]; expected.len()];
    let encode = move |sums: &mut [Vec<u8>]| {
        for (sum, factors) in sums.iter_mut().zip(matrix.chunks(source.len())) {
            sum.fill(0);
            factors.iter().zip(source).for_each(|(&factor, symbol)| add_product(factor, symbol, sum));
        }
    };
    encode(&mut sums);
    assert!(sums == expected, "the crate multiplies in the same field");
    Box::new(move || encode(&mut sums))
}

//! Equations over unknown originals, always solved as far as they go.
//!
//! Each equation that is kept says what one original is: a symbol, plus multiples of *free* originals, for which there is
//! no equation. In the words of linear algebra the equations are in reduced row echelon form [I | F], of which F alone is
//! kept. An original is decodable if and only if no free one is left in its equation.

use thalweg_gf as gf;

use crate::code::rlc::sum::add_multiples;

/// The equations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct System {
    equations: Vec<Equation>,
    /// The free originals, in the order of every equation's factors.
    free: Vec<u64>,
    /// Bytes of every symbol.
    len: usize,
}

/// original = symbol + the sum of factor times free original.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Equation {
    original: u64,
    factors: Vec<u8>,
    symbol: Vec<u8>,
}

/// What a sum of originals is when all but the free ones have been replaced: not nothing.
pub(super) struct Reduced {
    /// Of the free originals.
    factors: Vec<u8>,
    /// Of the original of each equation.
    replaced: Vec<u8>,
}

impl System {
    /// How many originals are free.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// Adds an unknown.
    pub(super) fn cover(&mut self, original: u64) {
        self.free.push(original);
        self.equations.iter_mut().for_each(|equation| equation.factors.push(0));
    }

    /// Of the sum of all unknowns times their `coefficient`, what the equations do not say; nothing if they say it all.
    pub(super) fn reduce(&self, coefficient: impl Fn(u64) -> u8) -> Option<Reduced> {
        let mut factors: Vec<u8> = self.free.iter().map(|&original| coefficient(original)).collect();
        let replaced: Vec<u8> = self.equations.iter().map(|equation| coefficient(equation.original)).collect();
        let rows = self.equations.iter().map(|equation| equation.factors.as_slice());
        add_multiples(replaced.iter().copied().zip(rows), &mut factors);
        factors.iter().any(|&factor| factor != 0).then_some(Reduced { factors, replaced })
    }

    /// Adds the equation that a reduced sum, and the multiples of the known originals, are together `symbol`.
    pub(super) fn insert<'a>(
        &mut self,
        reduced: Reduced,
        symbol: &'a [u8],
        known: impl Iterator<Item = (u8, &'a [u8])>,
    ) {
        self.lengthen(symbol.len());
        let (pivot, scale) = pivot(&reduced.factors);
        let mut sum = vec![0; self.len];
        let scaled = |factor| gf::mul(factor, scale);
        let known = known.map(|(factor, original)| (scaled(factor), original));
        add_multiples(known.chain([(scale, symbol)]), &mut sum);
        let replaced = self.equations.iter().map(|equation| equation.symbol.as_slice());
        add_multiples(reduced.replaced.into_iter().map(scaled).zip(replaced), &mut sum);
        self.solve(pivot, scale, reduced.factors, sum);
    }

    /// One of the unknowns has become known.
    pub(super) fn reveal(&mut self, original: u64, symbol: &[u8]) {
        self.lengthen(symbol.len());
        if let Some(column) = self.free.iter().position(|&free| free == original) {
            self.free.swap_remove(column);
            self.replace(column, symbol, &[]);
        } else if let Some(row) = self.equations.iter().position(|equation| equation.original == original) {
            // Now it says something about the free ones, of which there is at least one, or it would be solved.
            let equation = self.equations.swap_remove(row);
            let (pivot, scale) = pivot(&equation.factors);
            let mut sum = vec![0; self.len];
            add_multiples([(scale, symbol), (scale, &equation.symbol)].into_iter(), &mut sum);
            self.solve(pivot, scale, equation.factors, sum);
        }
    }

    /// Takes out the equations that have no free original left: what each is solved for is its symbol.
    pub(super) fn take_determined(&mut self) -> Vec<(u64, Vec<u8>)> {
        let determined = |equation: &mut Equation| equation.factors.iter().all(|&factor| factor == 0);
        let taken = self.equations.extract_if(.., determined).map(|equation| (equation.original, equation.symbol));
        let taken: Vec<_> = taken.collect();
        if self.equations.is_empty() && !taken.is_empty() {
            // Nothing stays allocated.
            *self = System { free: self.free.as_slice().to_vec(), ..System::default() };
        }
        taken
    }

    /// The sum of `factors` times the free originals, times `scale`, is `symbol`: solves that for the free original
    /// `pivot`, whose scaled factor is 1, and puts what it is into the other equations.
    fn solve(&mut self, pivot: usize, scale: u8, mut factors: Vec<u8>, symbol: Vec<u8>) {
        factors.swap_remove(pivot);
        factors.iter_mut().for_each(|factor| *factor = gf::mul(*factor, scale));
        let original = self.free.swap_remove(pivot);
        self.replace(pivot, &symbol, &factors);
        self.equations.push(Equation { original, factors, symbol });
    }

    /// Puts `symbol` plus `factors` times the free originals in the place of the one that was free at `column`.
    fn replace(&mut self, column: usize, symbol: &[u8], factors: &[u8]) {
        let (mut multiples, mut symbols, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for equation in &mut self.equations {
            let multiple = equation.factors.swap_remove(column);
            if multiple != 0 {
                multiples.push(multiple);
                symbols.push(equation.symbol.as_mut_slice());
                rows.push(equation.factors.as_mut_slice());
            }
        }
        gf::mul_add(&multiples, &[symbol], &mut symbols);
        gf::mul_add(&multiples, &[factors], &mut rows);
    }

    /// Makes all symbols at least this long.
    fn lengthen(&mut self, len: usize) {
        if len > self.len {
            self.len = len;
            self.equations.iter_mut().for_each(|equation| equation.symbol.resize(len, 0));
        }
    }
}

/// A factor that is not zero, and its inverse.
fn pivot(factors: &[u8]) -> (usize, u8) {
    let pivot = factors.iter().position(|&factor| factor != 0).expect("an equation that says something");
    (pivot, gf::exp(gf::ORDER - gf::log(factors[pivot])))
}

//! Equations over unknown originals, always solved as far as they go.
//!
//! Each equation kept states one original: a symbol, plus multiples of *free* originals, for which there is no
//! equation. In terms of linear algebra the equations are in reduced row echelon form [I | F], of which only F is kept.
//! An original is decodable if and only if no free one is left in its equation.

use thalweg_gf as gf;

use crate::code::rlc::sum::add_multiples;

/// The equations and their unknowns.
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

/// A nonzero sum of unknowns, in which each equation has replaced its original by free ones.
pub(super) struct Reduced {
    /// The factors of the free originals.
    factors: Vec<u8>,
    /// The coefficients of the equations' originals.
    replaced: Vec<u8>,
}

impl System {
    /// The number of free originals.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// Adds an unknown.
    pub(super) fn cover(&mut self, original: u64) {
        self.free.push(original);
        self.equations.iter_mut().for_each(|equation| equation.factors.push(0));
    }

    /// Reduces the sum of all unknowns times their `coefficient`; none if it follows from the equations.
    pub(super) fn reduce(&self, coefficient: impl Fn(u64) -> u8) -> Option<Reduced> {
        let mut factors: Vec<u8> = self.free.iter().map(|&original| coefficient(original)).collect();
        let replaced: Vec<u8> = self.equations.iter().map(|equation| coefficient(equation.original)).collect();
        let rows = self.equations.iter().map(|equation| equation.factors.as_slice());
        add_multiples(replaced.iter().copied().zip(rows), &mut factors);
        factors.iter().any(|&factor| factor != 0).then_some(Reduced { factors, replaced })
    }

    /// Adds an equation: `symbol` is the reduced sum plus the multiples of the known originals.
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

    /// Takes an unknown that has become known.
    pub(super) fn reveal(&mut self, original: u64, symbol: &[u8]) {
        self.lengthen(symbol.len());
        if let Some(column) = self.free.iter().position(|&free| free == original) {
            self.free.swap_remove(column);
            self.replace(column, symbol, &[]);
        } else if let Some(row) = self.equations.iter().position(|equation| equation.original == original) {
            // The equation now relates free originals, of which there is at least one, or it would be determined.
            let equation = self.equations.swap_remove(row);
            let (pivot, scale) = pivot(&equation.factors);
            let mut sum = vec![0; self.len];
            add_multiples([(scale, symbol), (scale, &equation.symbol)].into_iter(), &mut sum);
            self.solve(pivot, scale, equation.factors, sum);
        }
    }

    /// Removes an unknown that is no longer of interest. What the equations state about the others stays.
    pub(super) fn give_up(&mut self, original: u64) {
        if let Some(row) = self.equations.iter().position(|equation| equation.original == original) {
            self.equations.swap_remove(row);
        } else if let Some(column) = self.free.iter().position(|&free| free == original) {
            let states = |equation: &Equation| equation.factors[column] != 0;
            match self.equations.iter().position(states) {
                // Solved for this unknown, the equation replaces it in the others, and its original is free instead.
                Some(row) => {
                    let Equation { original, mut factors, mut symbol } = self.equations.swap_remove(row);
                    self.cover(original);
                    factors.push(1);
                    let scale = gf::exp(gf::ORDER - gf::log(factors[column]));
                    symbol.iter_mut().for_each(|byte| *byte = gf::mul(*byte, scale));
                    self.solve(column, scale, factors, symbol);
                    self.equations.pop();
                }
                None => {
                    self.free.swap_remove(column);
                    self.replace(column, &[], &[]);
                }
            }
        }
    }

    /// Removes and returns the originals that are determined: those whose equations have no free original left.
    pub(super) fn take_determined(&mut self) -> Vec<(u64, Vec<u8>)> {
        let determined = |equation: &mut Equation| equation.factors.iter().all(|&factor| factor == 0);
        let taken = self.equations.extract_if(.., determined).map(|equation| (equation.original, equation.symbol));
        let taken: Vec<_> = taken.collect();
        if self.equations.is_empty() && !taken.is_empty() {
            // No spare capacity stays allocated.
            *self = System { free: self.free.as_slice().to_vec(), ..System::default() };
        }
        taken
    }

    /// Solves an equation for the free original `pivot`, whose scaled factor is 1, and substitutes it in the other
    /// equations. The equation: `symbol` is `scale` times the sum of `factors` times the free originals.
    fn solve(&mut self, pivot: usize, scale: u8, mut factors: Vec<u8>, symbol: Vec<u8>) {
        factors.swap_remove(pivot);
        factors.iter_mut().for_each(|factor| *factor = gf::mul(*factor, scale));
        let original = self.free.swap_remove(pivot);
        self.replace(pivot, &symbol, &factors);
        self.equations.push(Equation { original, factors, symbol });
    }

    /// Substitutes `symbol` plus `factors` times the free originals for the original that was free at `column`.
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

/// The index of a nonzero factor, and the factor's inverse.
fn pivot(factors: &[u8]) -> (usize, u8) {
    let pivot = factors.iter().position(|&factor| factor != 0).expect("an equation that says something");
    (pivot, gf::exp(gf::ORDER - gf::log(factors[pivot])))
}

//! A decoder that keeps every packet, and eliminates from the start each time.

use thalweg_gf::{exp, log, mul};

/// The coefficients of all originals, and the symbol.
type Row = (Vec<u8>, Vec<u8>);

/// All packets received, in reduced row echelon form.
#[derive(Default)]
pub(super) struct Reference {
    rows: Vec<Row>,
}

impl Reference {
    /// Takes the combination of originals that begins with `first`, padded to `len`; true if the rank has grown.
    pub(super) fn handle(
        &mut self,
        first: u64,
        coefficients: &[u8],
        symbol: &[u8],
        (count, len): (usize, usize),
    ) -> bool {
        let mut row = vec![0; count];
        row[first as usize..][..coefficients.len()].copy_from_slice(coefficients);
        let mut symbol = symbol.to_vec();
        symbol.resize(len, 0);
        let rank = self.rows.len();
        self.rows.push((row, symbol));
        self.eliminate(count);
        self.rows.len() > rank
    }

    /// The original, if it can be computed.
    pub(super) fn decoded(&self, number: u64) -> Option<&[u8]> {
        let is_unit = |row: &[u8]| (0u64..).zip(row).all(|(at, &factor)| factor == u8::from(at == number));
        let (_, symbol) = self.rows.iter().find(|(row, _)| is_unit(row))?;
        Some(&symbol[2..][..usize::from(u16::from_be_bytes([symbol[0], symbol[1]]))])
    }

    /// The first original that cannot be computed.
    pub(super) fn edge(&self) -> u64 {
        (0..).find(|&number| self.decoded(number).is_none()).expect("there are finitely many")
    }

    fn eliminate(&mut self, columns: usize) {
        let mut rank = 0;
        for column in 0..columns {
            let Some(pivot) = (rank..self.rows.len()).find(|&row| self.rows[row].0[column] != 0) else { continue };
            self.rows.swap(rank, pivot);
            let inverse = exp(255 - log(self.rows[rank].0[column]));
            scale(&mut self.rows[rank], inverse);
            let pivot = self.rows[rank].clone();
            for row in (0..self.rows.len()).filter(|&row| row != rank) {
                let factor = self.rows[row].0[column];
                add(&mut self.rows[row], factor, &pivot);
            }
            rank += 1;
        }
        assert!(self.rows[rank..].iter().all(|(_, symbol)| symbol.iter().all(|&byte| byte == 0)), "a contradiction");
        self.rows.truncate(rank);
    }
}

fn scale((factors, symbol): &mut Row, by: u8) {
    factors.iter_mut().chain(symbol).for_each(|byte| *byte = mul(*byte, by));
}

fn add((factors, symbol): &mut Row, factor: u8, (other_factors, other_symbol): &Row) {
    let others = other_factors.iter().chain(other_symbol);
    factors.iter_mut().chain(symbol).zip(others).for_each(|(byte, &other)| *byte ^= mul(factor, other));
}

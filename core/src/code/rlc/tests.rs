use proptest::prelude::*;

use super::*;
use crate::rng::Rng;

mod decoding;
mod encoding;
mod properties;
mod reference;

const CONFIG: Config = Config { window: 64, buffer: 64, longest: 100 };

/// An encoder with `count` random originals of up to `config.longest` bytes, and the originals.
fn encoder(config: Config, count: usize, seed: u64) -> (Encoder, Vec<Vec<u8>>) {
    let mut rng = Rng::new(seed);
    let mut encoder = Encoder::new(config).unwrap();
    let originals: Vec<Vec<u8>> =
        (0..count).map(|_| (0..rng.u32() as usize % (config.longest + 1)).map(|_| rng.u32() as u8).collect()).collect();
    for (number, original) in (0..).zip(&originals) {
        assert_eq!(encoder.push(original), Ok(number));
    }
    (encoder, originals)
}

/// The identity of a symbol over `first..=last`, without zeros among its coefficients.
fn id(first: u64, last: u64, key: u16) -> RepairId {
    RepairId { first, last, key, density: Density::FULL }
}

fn repair(encoder: &Encoder, id: &RepairId) -> Vec<u8> {
    let mut symbol = vec![0xaa; LENGTH + 70_000];
    let len = encoder.repair(id, &mut symbol).unwrap();
    symbol.truncate(len);
    symbol
}

/// All originals that can be delivered.
fn drain(decoder: &mut Decoder) -> Vec<(u64, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some((number, original)) = decoder.poll_original() {
        all.push((number, original.to_vec()));
    }
    all
}

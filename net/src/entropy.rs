//! The only source of true randomness.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use thalweg_core::rng::Rng;
use thalweg_core::session::secure::Entropy;
use zeroize::Zeroizing;

/// A generator with an unpredictable seed of 64 bits and secret of 128 bits.
///
/// # Errors
/// The kernel has no `getrandom`.
pub fn rng() -> io::Result<Rng> {
    let mut words = [[0; 8]; 3];
    // getrandom(2) returns up to 256 bytes whole or not at all.
    getrandom(words.as_flattened_mut(), GetRandomFlags::empty())?;
    let [seed, first, second] = words.map(u64::from_ne_bytes);
    Ok(Rng::with_secret(seed, [first, second]))
}

/// A source of keys, seeded with 256 bits from the kernel.
///
/// # Errors
/// The kernel has no `getrandom`.
pub fn keys() -> io::Result<Entropy> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom(&mut seed[..], GetRandomFlags::empty())?;
    Ok(Entropy::new(*seed))
}

//! The only source of true randomness.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use thalweg_core::session::secure::Entropy;
use zeroize::Zeroizing;

/// A seed that nobody can guess.
///
/// # Errors
/// The kernel has no `getrandom`.
pub fn seed() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // Up to 256 bytes come whole or not at all.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}

/// A source of keys, seeded with 256 bits of the kernel's.
///
/// # Errors
/// The kernel has no `getrandom`.
pub fn keys() -> io::Result<Entropy> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom(&mut seed[..], GetRandomFlags::empty())?;
    Ok(Entropy::new(*seed))
}

//! Datagrams of an attacker.

use thalweg_core::rng::Rng;
use thalweg_core::session::MAX_DATAGRAM;

/// Makes the next datagram: random, random except for its kind and version, or one of `seen`, changed or cut.
pub(crate) fn forge(rng: &mut Rng, seen: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    if rng.chance(0.3) {
        let len = rng.below(MAX_DATAGRAM as u64 + 1);
        out.extend((0..len.div_ceil(8)).flat_map(|_| rng.u64().to_le_bytes()));
        out.truncate(len as usize);
        if let Some(head) = out.get_mut(..2).filter(|_| rng.chance(0.8)) {
            head.copy_from_slice(&[rng.below(8) as u8, rng.below(3) as u8]);
        }
        return;
    }
    out.extend_from_slice(&seen[rng.below(seen.len() as u64) as usize]);
    for _ in 0..rng.below(4) {
        let place = rng.below(out.len() as u64) as usize;
        out[place] = rng.u32() as u8;
    }
    if rng.chance(0.2) {
        out.truncate(rng.below(out.len() as u64 + 1) as usize);
    }
}

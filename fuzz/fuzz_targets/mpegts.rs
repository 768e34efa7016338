//! MPEG transport streams, cut at any position: the parsed packets do not depend on the cuts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_mpegts::align::Framer;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, bytes)) = data.split_first() else { return };
    assert_eq!(packets(bytes.chunks(usize::from(cut) + 1)), packets([bytes]));
});

fn packets<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut framer = Framer::new();
    let mut packets = Vec::new();
    for piece in pieces {
        framer.push(piece);
        packets.extend(core::iter::from_fn(|| framer.poll()).map(|packet| packet.as_bytes().to_vec()));
    }
    framer.finish();
    packets.extend(core::iter::from_fn(|| framer.poll()).map(|packet| packet.as_bytes().to_vec()));
    packets
}

//! Originals and repair symbols over a path that the input controls: it loses, reorders and duplicates packets. Decoded
//! originals equal those sent, and the number of innovative packets equals the number of originals that the decoder
//! learns in the end. Repair packets equal those of an independent encoder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::code::rlc::{Arrival, Config, Decoder, Density, Encoder, LENGTH, RepairId};
#[cfg(feature = "cu-fec")]
use thalweg_core::wire::{
    fecframe::Adui,
    rlc::{FLOW, RepairPayloadId},
};

const CONFIG: Config = Config { window: 24, buffer: 30, longest: 20 };

/// Far more repair symbols than are missing: one in 255 is not innovative.
const MANY: u16 = 200;

fuzz_target!(|script: &[u8]| {
    let (mut encoder, mut decoder) = (Encoder::new(CONFIG).expect("in range"), Decoder::new(CONFIG).expect("in range"));
    let (mut originals, mut innovative, mut late) = (Vec::new(), 0, None);
    let mut arrive = |decoder: &mut Decoder, packet: &Packet| {
        let arrival = match packet {
            Packet::Original(number, original) => decoder.handle_original(*number, original),
            Packet::Repair(id, symbol) => decoder.handle_repair(id, symbol),
        };
        innovative += u64::from(arrival.expect("a good packet of this window") == Arrival::Innovative);
    };
    for (key, &[kind, number]) in (0..).zip(script.as_chunks().0) {
        let kept = encoder.originals();
        let packet = if kept.is_empty() || kind & 1 == 0 && kept.end - decoder.edge() < CONFIG.buffer as u64 {
            // Forgets originals as if all had been acknowledged, so that there is space.
            encoder.forget(decoder.edge());
            let original = vec![number; usize::from(number) % (CONFIG.longest + 1)];
            originals.push(original.clone());
            Packet::Original(encoder.push(&original).expect("room"), original)
        } else {
            let last = kept.start + u64::from(number) % (kept.end - kept.start).min(CONFIG.window as u64);
            repair(
                &encoder,
                RepairId { first: kept.start, last, key, density: Density::new(kind >> 4).expect("four bits") },
            )
        };
        match kind >> 1 & 7 {
            0..=2 => {}
            3 => late = Some(packet),
            4 => (0..2).for_each(|_| arrive(&mut decoder, &packet)),
            _ => {
                arrive(&mut decoder, &packet);
                late.take().iter().for_each(|packet| arrive(&mut decoder, packet));
            }
        }
        while let Some((number, original)) = decoder.poll_original() {
            assert_eq!(original, originals[number as usize]);
        }
    }
    let end = encoder.originals().end;
    for key in 0..MANY {
        if decoder.edge() == end {
            break;
        }
        encoder.forget(decoder.edge());
        let first = encoder.originals().start;
        let last = end.min(first + CONFIG.window as u64) - 1;
        arrive(&mut decoder, &repair(&encoder, RepairId { first, last, key, density: Density::FULL }));
    }
    assert_eq!((decoder.edge(), decoder.deficit(), innovative), (end, 0, end));
});

enum Packet {
    Original(u64, Vec<u8>),
    Repair(RepairId, Vec<u8>),
}

fn repair(encoder: &Encoder, id: RepairId) -> Packet {
    let mut symbol = vec![0xff; LENGTH + CONFIG.longest];
    let len = encoder.repair(&id, &mut symbol).expect("a kept range");
    symbol.truncate(len);
    #[cfg(feature = "cu-fec")]
    assert_eq!(packet(id, &symbol), by_cu_fec(encoder, &id, len));
    Packet::Repair(id, symbol)
}

/// The repair packet of RFC 8681: its payload ID, and the symbol behind the flow ID.
#[cfg(feature = "cu-fec")]
fn packet(id: RepairId, symbol: &[u8]) -> Vec<u8> {
    [&RepairPayloadId::from(id).emit()[..], &[0; FLOW], symbol].concat()
}

/// The same repair packet, by the crate `cu-fec`.
#[cfg(feature = "cu-fec")]
fn by_cu_fec(encoder: &Encoder, id: &RepairId, len: usize) -> Vec<u8> {
    const LONGEST: usize = FLOW + LENGTH + CONFIG.longest;
    let config = cu_fec::RlcConfig::new(FLOW + len, CONFIG.window, cu_fec::Field::Gf256).expect("values in range");
    let first = cu_fec::EncodingSymbolId::new(id.first as u32);
    let mut theirs = cu_fec::RlcEncoder::<LONGEST, { CONFIG.window }>::new(config, first).expect("room");
    for number in id.first..=id.last {
        let mut source = vec![0; FLOW + len];
        Adui { flow: 0, adu: encoder.original(number).expect("kept") }.emit(&mut source);
        theirs.push_source(&source).expect("a symbol of this size");
    }
    let density = cu_fec::DensityThreshold::new(id.density.threshold()).expect("a threshold");
    let mut symbol = vec![0xff; FLOW + len];
    let id = theirs.encode_repair(cu_fec::RepairParameters::new(id.key, density), &mut symbol).expect("a window");
    [&id.to_bytes()[..], &symbol].concat()
}

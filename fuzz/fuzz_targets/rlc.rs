//! Any packets for a decoder of the random linear code, even ones that no encoder has produced: it does not panic,
//! keeps no more than a window and a buffer, delivers in order, and never loses knowledge.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::code::rlc::{Config, Decoder, Density, RepairId};

fuzz_target!(|data: &[u8]| {
    let Some((&[window, more, longest], mut script)) = data.split_first_chunk() else { return };
    let window = usize::from(window);
    let config = Config { window, buffer: window + usize::from(more), longest: usize::from(longest) };
    let Ok(mut decoder) = Decoder::new(config) else { return };
    let mut expected = 0;
    while let Some((&[kind, number, count, key, len], rest)) = script.split_first_chunk() {
        let (bytes, rest) = rest.split_at(usize::from(len).min(rest.len()));
        script = rest;
        let edge = decoder.edge();
        // The number is near the edge, or anywhere.
        let number = match kind & 8 {
            0 => (edge + u64::from(number)).saturating_sub(window as u64),
            _ => u64::from(number) << (kind >> 4 << 2),
        };
        match kind & 3 {
            0 => drop(decoder.handle_original(number, bytes)),
            1 => decoder.forget(number),
            _ => {
                let density = Density::new(kind >> 4).expect("four bits");
                let last = number.saturating_add(count.into());
                let id = RepairId { first: number, last, key: u16::from(key), density };
                drop(decoder.handle_repair(&id, bytes));
            }
        }
        assert!(decoder.edge() >= edge);
        assert!(decoder.kept() < config.window + config.buffer);
        assert!(decoder.deficit() <= config.window);
        assert!(!decoder.knows(decoder.edge()));
        if kind & 4 == 0 {
            while let Some((number, original)) = decoder.poll_original() {
                assert_eq!(number, expected);
                assert!(original.len() <= config.longest);
                expected += 1;
            }
            assert_eq!(expected, decoder.edge());
        }
    }
});

//! The content of repair symbols.

use thalweg_gf::mul;

use super::*;

/// The repair symbol byte by byte, as RFC 8681 §3.7.2 writes it, over originals with length and padding.
fn by_definition(originals: &[Vec<u8>], id: &RepairId) -> Vec<u8> {
    let covered = &originals[id.first as usize..=id.last as usize];
    let len = 2 + covered.iter().map(Vec::len).max().unwrap();
    let mut symbol = vec![0; len];
    for (coefficient, original) in id.coefficients().zip(covered) {
        let mut adui = (original.len() as u16).to_be_bytes().to_vec();
        adui.extend(original);
        adui.resize(len, 0);
        symbol.iter_mut().zip(adui).for_each(|(sum, byte)| *sum ^= mul(coefficient, byte));
    }
    symbol
}

#[test]
fn repair_symbols_are_the_rfcs_linear_combinations() {
    let config = Config { window: 300, buffer: 300, longest: 200 };
    let (encoder, originals) = encoder(config, 300, 1);
    for (first, last) in [(0, 0), (0, 1), (7, 9), (0, 63), (100, 164), (3, 299), (0, 299)] {
        for (key, dt) in [(0, 15), (1, 15), (65535, 15), (77, 7), (78, 0)] {
            let id = RepairId { first, last, key, density: Density::new(dt).unwrap() };
            assert_eq!(repair(&encoder, &id), by_definition(&originals, &id), "{id:?}");
        }
    }
}

/// The repair symbols that the crate `cu-fec` 1.3.0 makes of the same symbols, passed with length and padding
/// (`RlcConfig::new(6, 5, Field::Gf256)`). It needs a newer toolchain than ours, so it is no dependency here;
/// `fuzz/run` and `benches/run rlc` compare its encoder with ours on arbitrary symbols.
#[test]
fn an_independent_implementation_makes_the_same_repair_symbols() {
    let mut encoder = Encoder::new(Config { window: 5, buffer: 5, longest: 4 }).unwrap();
    for original in [&b"line"[..], b"rive", b"st", b"", b"fast"] {
        encoder.push(original).unwrap();
    }
    for (key, dt, expected) in [
        (1, 15, [0, 28, 30, 39, 18, 171]),
        (0, 15, [0, 225, 34, 239, 209, 78]),
        (65535, 15, [0, 20, 11, 210, 145, 194]),
        (4660, 7, [0, 111, 27, 222, 168, 214]),
        (8681, 0, [0, 118, 90, 219, 44, 65]),
    ] {
        let id = RepairId { density: Density::new(dt).unwrap(), ..id(0, 4, key) };
        assert_eq!(repair(&encoder, &id), expected, "key {key}, DT {dt}");
    }
}

#[test]
fn repair_for_short_originals_is_short() {
    let mut encoder = Encoder::new(Config { window: 10, buffer: 10, longest: 1200 }).unwrap();
    for original in [&b"l"[..], b"s", b"", &[7; 1200]] {
        encoder.push(original).unwrap();
    }
    assert_eq!(encoder.repair_len(0, 1), Ok(3));
    assert_eq!(encoder.repair_len(2, 2), Ok(2));
    assert_eq!(repair(&encoder, &id(0, 3, 1)).len(), 1202);
}

#[test]
fn forgotten_originals_free_buffer_space() {
    let (mut encoder, originals) = encoder(Config { window: 4, buffer: 4, longest: 9 }, 4, 2);
    assert_eq!(encoder.push(b"more"), Err(Error::Full));
    let before = repair(&encoder, &id(2, 3, 5));
    encoder.forget(2);
    assert_eq!(encoder.originals(), 2..4);
    assert_eq!(encoder.original(1), None);
    assert_eq!(encoder.original(2), Some(&originals[2][..]));
    assert_eq!(repair(&encoder, &id(2, 3, 5)), before);
    assert_eq!(encoder.push(b"more"), Ok(4));
    encoder.forget(u64::MAX);
    assert_eq!(encoder.originals(), 5..5);
    encoder.forget(0);
    assert_eq!(encoder.push(b""), Ok(5));
    assert_eq!(encoder.original(5), Some(&b""[..]));
}

#[test]
fn invalid_requests_are_refused_and_write_nothing() {
    for (window, buffer, longest) in [(0, 1, 1), (4096, 5000, 1), (5, 4, 1), (5, 65537, 1), (1, 1, 0), (1, 1, 65536)] {
        let config = Config { window, buffer, longest };
        assert_eq!(Encoder::new(config), Err(Error::Config));
        assert_eq!(Decoder::new(config), Err(Error::Config));
    }
    let (mut encoder, _) = encoder(Config { buffer: 70, ..CONFIG }, 70, 3);
    assert_eq!(encoder.push(&[0; 101]), Err(Error::Length));
    encoder.forget(5);
    let mut out = [7; 102];
    let mut refused =
        |first, last, capacity: usize| encoder.repair(&id(first, last, 1), &mut out[..capacity]).unwrap_err();
    assert_eq!(refused(9, 8, 102), Error::Range);
    assert_eq!(refused(5, 69, 102), Error::Range);
    assert_eq!(refused(0, u64::MAX, 102), Error::Range);
    assert_eq!(refused(4, 6, 102), Error::Missing);
    assert_eq!(refused(69, 70, 102), Error::Missing);
    assert_eq!(refused(5, 59, 1), Error::Length);
    assert_eq!(out, [7; 102]);
}

//! FECFRAME packets and symbols: parsing and writing gives the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::fecframe::{Adui, BlockBounds, PayloadId, SchemeInfo};

fuzz_target!(|data: &[u8]| {
    if let Ok((adu, id)) = PayloadId::split_source(data) {
        assert_eq!([adu, &id.emit()].concat(), data);
    }
    if let Ok((id, symbol)) = PayloadId::split_repair(data) {
        assert_eq!([&id.emit(), symbol].concat(), data);
    }
    if let Ok(adui) = Adui::parse(data) {
        let mut symbol = vec![0xff; data.len()];
        adui.emit(&mut symbol);
        assert_eq!(Adui::parse(&symbol), Ok(adui));
    }
    if let Ok(info) = SchemeInfo::parse(data) {
        assert_eq!(info.emit(), data);
    }
    if let Ok(bounds) = BlockBounds::parse(data) {
        assert_eq!(bounds.emit(), data);
        assert_eq!(bounds.esi(bounds.sequence(254), 255), Some(254));
    }
});

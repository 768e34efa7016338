//! Lines with rates, cut at any position: the rates do not depend on the cuts, none is zero, and no line is reported twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::units::Rate;
use thalweg_encode::lines::Lines;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, bytes)) = data.split_first() else { return };
    let (mut whole, mut cuts, mut newest) = (Lines::default(), Lines::default(), None);
    for chunk in bytes.chunks(usize::from(cut) + 1) {
        newest = cuts.push(chunk).or(newest);
    }
    assert_eq!(whole.push(bytes), newest);
    assert!(newest != Some(Rate::from_bps(0)) && whole == cuts);
    let bad = whole.take_bad();
    assert!(bad.is_none_or(|bad| !bad.contains(char::is_control)) && whole.take_bad().is_none());
});

//! Hello and answer: whatever is read is written to the same bytes, but for what is kept free.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::hello::{Answer, Hello};

fuzz_target!(|data: &[u8]| {
    if let Ok(hello) = Hello::parse(data) {
        assert_eq!(Hello::parse(&hello.emit()), Ok(hello));
    }
    if let Ok(answer) = Answer::parse(data) {
        assert_eq!(Answer::parse(&answer.emit()), Ok(answer));
    }
});

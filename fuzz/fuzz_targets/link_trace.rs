//! Mahimahi link traces: any text gives a trace or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_lab::node::trace_link::Trace;

fuzz_target!(|text: &str| {
    let _ = Trace::parse(text);
});

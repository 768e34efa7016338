//! Scenarios in TOML: any text gives a path for each direction or an error, and a path carries packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::time::{Span, Time};
use thalweg_lab::packet::Packet;
use thalweg_lab::path::Path;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::{check, node::Node};

fuzz_target!(|text: &str| {
    let mut files = |name: &str| match name {
        "data/steps.trace" => Ok("1\n2\n2\n".to_owned()),
        "data/recorded.csv" => Ok("send_ms,delay_ms,lost\n0,1,0\n1,0,1\n".to_owned()),
        "data/frames.csv" => Ok("type,dts_ms,bytes\nI,0,3000\nB,40,0\n".to_owned()),
        name => Err(format!("no file {name}")),
    };
    match Scenario::parse("scenario.toml", text, None, &mut files) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut scenario) => {
            carry(&mut scenario.forward);
            carry(&mut scenario.reverse);
        }
    }
});

fn carry(path: &mut Path) {
    for flow in 0..20 {
        let now = Time::ZERO + Span::from_micros(100) * u64::from(flow);
        path.accept(now, Packet::datagram(flow, vec![0; 100]));
        while path.poll(now).is_some() {}
    }
    check::conservation(path).expect("in = out + dropped + queued");
}

//! Recorded delays and losses: any CSV gives a recording or an error, and a recording can be replayed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::node::recorded::{Columns, Index, Recorded, Recording};
use thalweg_lab::packet::Packet;
use thalweg_lab::path::Path;
use thalweg_lab::{check, node::Node};

fuzz_target!(|text: &str| {
    for least in [None, Some(Span::from_millis(1))] {
        let columns = Columns { sent: "send_ms".into(), delay: "delay_ms".into(), lost: Some("lost".into()), least };
        let Ok(recording) = Recording::parse(text, &columns) else { continue };
        for index in [Index::Packet, Index::Time] {
            let mut path = Path::default().then("recorded", Recorded::new(recording.clone(), index, false));
            for flow in 0..20 {
                path.accept(Time::ZERO + Span::from_millis(7) * u64::from(flow), Packet::length(flow, Bytes(1500)));
            }
            while let Some(at) = path.next() {
                path.poll(at);
            }
            check::conservation(&path).expect("in = out + dropped + queued");
        }
    }
});

//! All connections of a stream whose peer sends anything: nothing panics, no more is buffered than was granted, and the
//! events are consistent.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use thalweg_core::session::mux::{Event, Mux, Reason};
use thalweg_core::session::secure::Role;
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::mux::{FIRST_CREDIT, Frame};

const LIMIT: usize = 8;

fuzz_target!(|data: &[u8]| {
    let (mut mux, mut now) = (Mux::new(Role::Responder, LIMIT), Time::ZERO);
    let (mut script, mut open, mut frames) = (data, BTreeSet::new(), Vec::new());
    let mut buf = [0; 3000];
    while let Some((&[step, id, amount], rest)) = script.split_first_chunk() {
        script = rest;
        let (id, amount) = (u32::from(id % 24), u32::from(amount));
        now += Span::from_millis(u64::from(step >> 5));
        let mut said = Vec::new();
        match step & 15 {
            0 => Frame::Open { id }.emit(&mut said),
            1 => {
                let len = (amount as u16 + 1) * 8;
                Frame::Data { id, len }.emit(&mut said);
                said.resize(said.len() + usize::from(len), 5);
            }
            2 => Frame::Credit { id, more: amount << 16 }.emit(&mut said),
            3 => Frame::Finish { id }.emit(&mut said),
            4 => Frame::Reset { id, reason: amount as u8 }.emit(&mut said),
            // Raw bytes of the input.
            5 => {
                let (bytes, rest) = script.split_at((amount as usize).min(script.len()));
                said.extend_from_slice(bytes);
                script = rest;
            }
            6 => open.extend(mux.open(now).ok()),
            7 => drop(mux.write(id, &buf[..amount as usize * 10])),
            8 => mux.finish(id),
            9 => {
                mux.reset(id, Reason::Aborted);
                open.remove(&id);
            }
            10 | 11 => drop(mux.read(now, Span::from_millis(20), id, &mut buf)),
            12 if amount == 255 => mux.shutdown(),
            13 if amount == 255 => drop(mux.end()),
            _ => drop(mux.poll(200 + amount as usize, &mut frames)),
        }
        let is_sense = mux.handle(now, &said).is_ok();
        while let Some(event) = mux.poll_event() {
            match event {
                Event::Opened(id) => assert!(id % 2 == 0 && open.insert(id), "{id} was opened twice"),
                Event::Closed(id) | Event::Reset(id, _) => assert!(open.remove(&id), "{event:?} of nothing"),
                Event::Readable(id) | Event::Writable(id) | Event::Finished(id) => {
                    assert!(open.contains(&id), "{event:?}")
                }
                other => panic!("unknown: {other:?}"),
            }
        }
        let [_, unread] = mux.buffered();
        assert!(mux.len() <= LIMIT && unread <= (LIMIT as u64) * 2 * u64::from(FIRST_CREDIT));
        if !is_sense {
            return;
        }
    }
});

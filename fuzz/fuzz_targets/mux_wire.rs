//! The parts of a stream's frames, a tunnel's messages and the frames of its connections: no bytes cause a panic, and
//! parsing and writing gives the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::mux::{Frame, HEADER};
use thalweg_core::wire::stream::Part;
use thalweg_core::wire::tunnel::{LONGEST, Message};

fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    while let Ok((part, behind)) = Part::parse(rest) {
        assert!(behind.len() < rest.len());
        let mut buf = vec![0; rest.len()];
        let taken = rest.len() - behind.len();
        let emitted = match part {
            Part::Coded(coded) => coded.emit(&mut buf),
            Part::Acknowledgement(acknowledgement) => acknowledgement.emit(&mut buf),
            Part::Question => Some(buf[..1].copy_from_slice(&rest[..1])).map(|()| 1),
        };
        assert_eq!(emitted.map(|len| &buf[..len]), Some(&rest[..taken]));
        rest = behind;
    }
    if let Ok((frame, len)) = Frame::parse(data) {
        let mut out = Vec::new();
        frame.emit(&mut out);
        assert!(out == data[..len] && len <= HEADER);
    }
    if let Ok(message) = Message::parse(data) {
        let mut buf = [0; LONGEST];
        let len = message.emit(&mut buf);
        // Byte 21 is a flag: any value but 1 is parsed as false and written as 0.
        assert!(buf[..len.min(21)] == data[..len.min(21)]);
    }
});

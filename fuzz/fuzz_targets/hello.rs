//! Hello, answer, challenge, refusal, request, busy and proof: a parsed message can be written and parsed again, with the same
//! contents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::session::live::{End, Secret};
use thalweg_core::wire::hello::{Answer, Busy, Challenge, Hello, Refusal, Request};
use thalweg_core::wire::proof;

const SECRET: Secret = Secret { sender: 1, receiver: 2 };

fuzz_target!(|data: &[u8]| {
    if let Ok(hello) = Hello::parse(data) {
        assert_eq!(Hello::parse(&hello.emit()), Ok(hello));
        assert_eq!(Hello::parse_other(data), None);
    }
    if let Ok(answer) = Answer::parse(data) {
        assert_eq!(Answer::parse(&answer.emit()), Ok(answer));
    }
    if let Ok(challenge) = Challenge::parse(data) {
        assert_eq!(Challenge::parse(&challenge.emit()), Ok(challenge));
    }
    if let Ok(refusal) = Refusal::parse(data) {
        assert_eq!(Refusal::parse(&refusal.emit()), Ok(refusal));
    }
    if let Ok(request) = Request::parse(data) {
        assert_eq!(Request::parse(&request.emit()), Ok(request));
        assert_eq!(Hello::parse_other(data), None);
    }
    if let Ok(busy) = Busy::parse(data) {
        assert_eq!(Busy::parse(&busy.emit()), Ok(busy));
    }
    if let Some((covered, _)) = proof::split(data) {
        assert_eq!(covered.len() + 8, data.len());
    }
    let mut datagram = data.to_vec();
    datagram.resize(data.len() + proof::LEN, 0);
    assert_eq!(SECRET.prove(End::Sender, 7, &mut datagram, data.len()), Ok(datagram.len()));
    assert!(SECRET.proves(End::Sender, &datagram) && !SECRET.proves(End::Receiver, &datagram));
});

//! A sender and a receiver of a stored video take arbitrary datagrams, each after some time, and answer within bounds.
#![no_main]

use std::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use thalweg_core::law::predict;
use thalweg_core::law::rate::r3cp::Parameters;
use thalweg_core::rng::Rng;
use thalweg_core::session::stored::control::Control;
use thalweg_core::session::stored::receiver::{self, Receiver};
use thalweg_core::session::stored::sender::{self, Sender};
use thalweg_core::session::stored::{First, Frame, Media, Payload, Track, Unit};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::video::{Class, Kind};

const TRACK: Track = Track { payload_type: 96, rtx_payload_type: 97, clock_rate: 90_000 };

/// A video of a thousand frames.
struct Video;

impl Media for Video {
    fn frame(&self, index: u32) -> Option<Frame> {
        let kind = [Kind::I, Kind::P, Kind::B, Kind::B][index as usize % 4];
        let decode = Span::from_millis(40) * u64::from(index);
        let frame = Frame { class: Class::Picture(kind), track: 0, packets: 2, bytes: 200, decode, display: decode };
        (index < 1_000).then_some(frame)
    }

    fn payload(&mut self, _: u32, _: u16, buf: &mut [u8]) -> Option<Payload> {
        buf[..100].fill(0);
        Some(Payload { len: 100, marker: false })
    }
}

fuzz_target!(|datagrams: Vec<(u16, bool, Vec<u8>)>| {
    let [client, server] = [5000, 8554].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let (tracks, first, unit) = (vec![TRACK], First::default(), Unit::Mean(100));
    let config = sender::Config { key: 1, tracks, first, horizon: Span::ZERO, unit };
    let mut sender = Sender::new(Video, config, &Rng::new(1));
    let config = receiver::Config {
        key: 1,
        sender: server,
        tracks: vec![TRACK],
        first: First::default(),
        mu: 50.0,
        control: Control::R3cpPlus,
        parameters: Parameters::of_video(50.0),
        predictor: predict::Choice::default(),
        bounds: receiver::Bounds::default(),
        probes: receiver::PROBES,
        start: 1.0,
    };
    let mut receiver = Receiver::new(config, Time::ZERO, &Rng::new(2)).expect("in range");
    let (mut now, mut buf) = (Time::ZERO, [0; MAX_DATAGRAM]);
    for (wait, to_sender, bytes) in datagrams {
        now += Span::from_millis(wait.into());
        if to_sender {
            let _ = sender.handle_datagram(now, client, &bytes);
        } else {
            let _ = receiver.handle_datagram(now, server, &bytes);
        }
        sender.handle_timeout(now);
        receiver.handle_timeout(now);
        // The ends also hear each other, so that bytes of either find them in every state.
        let of_sender = std::iter::from_fn(|| sender.poll_transmit(now, &mut buf).map(|sent| buf[..sent.len].to_vec()));
        let of_sender: Vec<Vec<u8>> = of_sender.take(10_000).collect();
        assert!(of_sender.len() < 10_000, "a sender without pacing");
        for bytes in of_sender {
            let _ = receiver.handle_datagram(now, server, &bytes);
        }
        while let Some(sent) = receiver.poll_transmit(now, &mut buf) {
            let _ = sender.handle_datagram(now, client, &buf[..sent.len].to_vec());
        }
        while receiver.poll_frame(now).is_some() {}
    }
});

//! The parts of stories: times, addresses, paths, configurations and media.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use thalweg_core::law::redundancy::Law;
use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender;
use thalweg_core::session::live::{Media, Playout, receiver};
use thalweg_core::time::{Span, Time};
use thalweg_lab::node::loss::{Gilbert, Loss};
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;

/// Payload of a media datagram: seven transport stream packets.
pub(crate) const PAYLOAD: usize = 1316;

pub(crate) fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

pub(crate) fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// A path with a one-way delay of `delay` and nothing else.
pub(crate) fn wire(delay: Span) -> Path {
    Path::default().then("wire", Wire::new(delay))
}

/// A path with a one-way delay of `delay` and the loss bursts of the project's comparisons: 1.15 %.
pub(crate) fn bursty(delay: Span, seed: u64) -> Path {
    let gilbert = Gilbert { to_bad: 0.005, to_good: 0.3, loss_bad: 0.7, loss_good: 0.0 };
    Path::default().then("loss", Loss::bursts(gilbert, Rng::new(seed))).then("wire", Wire::new(delay))
}

pub(crate) fn geneva() -> Law {
    Law::Geneva(Geneva::new(Parameters::default()).expect("the paper's parameters"))
}

/// A sender to 10.0.0.2:6000 with GENEVA and a latency of 90 ms.
pub(crate) fn sender_config() -> sender::Config {
    let config = sender::Config::new(address("10.0.0.2:6000"), geneva());
    sender::Config { media: Media::Mp2t, latency: ms(90).into(), ..config }
}

pub(crate) fn receiver_config() -> receiver::Config {
    receiver::Config { latency: ms(90).into(), playout: Playout::Asap, ..receiver::Config::default() }
}

/// The metrics of a session by name.
pub(crate) fn metrics(session: &impl Probe) -> BTreeMap<&'static str, f64> {
    let mut all = BTreeMap::new();
    session.probe(&mut |name, value| {
        all.insert(name, value);
    });
    all
}

/// Datagram `number`, whose content differs from that of all others.
pub(crate) fn payload(number: u64) -> [u8; PAYLOAD] {
    let mut payload = [0; PAYLOAD];
    for (at, bytes) in payload.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&number.wrapping_add(at as u64 * 0x0101_0101).to_be_bytes()[..bytes.len()]);
    }
    payload
}

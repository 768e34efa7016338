//! A file that is faster than `--max-rate`, sent in virtual time.

use std::net::SocketAddr;
use std::path::PathBuf;

use thalweg_core::law::redundancy::{Law, none};
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::session::live::Playout;
use thalweg_core::session::live::receiver::{self, Receiver};
use thalweg_core::session::live::sender::{Config, redundancy};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::units::{Bytes, Rate};
use thalweg_mpegts::PACKET;
use thalweg_mpegts::mux::{Muxer, Stream, Unit};
use thalweg_mpegts::packet::Packet;

use super::*;
use crate::endpoint::{Endpoint, Retry, SenderEndpoint};
use crate::input::Input;
use crate::poll::Interests;
use crate::report::Fact;

const LATENCY: Span = Span::from_millis(400);
/// The duration of a picture.
const PICTURE: Span = Span::from_millis(40);
const PICTURES: u64 = 500;
/// Pictures of a group.
const GROUP: u64 = 25;

/// The bytes of picture `nth`: of each group the first one is an I picture, and two of three others are B pictures.
fn picture(nth: u64) -> Vec<u8> {
    let (header, len) = match nth % GROUP {
        0 => (0x65, 12_000),
        within if within % 3 == 1 => (0x41, 5000),
        _ => (0x01, 4000),
    };
    let mut picture = vec![0xaa; len];
    picture[..7].copy_from_slice(&[0, 0, 0, 1, header, 0x80 | (nth >> 7) as u8, 0x80 | (nth & 0x7f) as u8]);
    picture
}

/// A video, and sound of 400 bytes for each picture.
fn video() -> Vec<u8> {
    let mut muxer = Muxer::new(&[Stream::H264, Stream::MpegAudio]);
    let mut stream = Vec::new();
    for nth in 0..PICTURES {
        let at = PICTURE * nth;
        let picture = picture(nth);
        let unit = |data, is_random_access| Unit { data, pts: at, dts: at, is_random_access };
        muxer.push(0, &unit(&picture, nth % GROUP == 0)).expect("a short unit");
        muxer.push(1, &unit(&[0xbb; 400], true)).expect("a short unit");
        while let Some(datagram) = muxer.poll() {
            stream.extend_from_slice(datagram);
        }
    }
    muxer.flush();
    while let Some(datagram) = muxer.poll() {
        stream.extend_from_slice(datagram);
    }
    stream
}

/// A file that is removed in the end.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The outcome of a stream.
struct Outcome {
    /// Pictures that arrived as a whole, and sounds.
    whole: usize,
    sounds: usize,
    shed: f64,
    unsent: f64,
    repairs: f64,
    events: Vec<&'static str>,
    /// Latencies that reports ask for, in seconds.
    needed: Vec<f64>,
}

/// Sends a video with `repair`, while a rate of `share` of the video's is allowed.
fn send(name: &str, shed: Shed, repair: Law, share: f64) -> Outcome {
    send_within(LATENCY, name, shed, repair, share)
}

fn send_within(latency: Span, name: &str, shed: Shed, repair: Law, share: f64) -> Outcome {
    let stream = video();
    let file = File(std::env::temp_dir().join(format!("thalweg-{}-{name}.ts", std::process::id())));
    std::fs::write(&file.0, &stream).expect("a temporary file");
    let rate = Rate::of(Bytes((stream.len() as f64 * share) as u64), PICTURE * PICTURES);
    let [to, from]: [SocketAddr; 2] = [6000, 5000].map(|port| ([192, 0, 2, 1], port).into());
    let config = Config { latency: latency.into(), max_rate: Some(rate), ..Config::new(to, repair) };
    let input = Input::open(&format!("file:{}", file.0.display()).parse().expect("a path")).expect("a video");
    let config = Config { media: input.media(), ..config };
    let mut now = Time::ZERO;
    let endpoint = SenderEndpoint::new(config, now, &Rng::new(1), Retry::Never, input);
    let mut endpoint = endpoint.with_shed(shed);
    let config = receiver::Config { latency: latency.into(), playout: Playout::Asap, ..Default::default() };
    let mut receiver = Receiver::new(config, &Rng::new(2));
    let (mut buf, mut arrived, mut reports) = ([0; MAX_DATAGRAM], Vec::new(), Vec::new());
    // The video ends, and the last of it arrives, within this time.
    for _ in 0..22_000 {
        now += Span::from_millis(1);
        if endpoint.session().poll_timeout().is_some_and(|due| due <= now) {
            endpoint.session().handle_timeout(now);
        }
        if receiver.poll_timeout().is_some_and(|due| due <= now) {
            receiver.handle_timeout(now);
        }
        let mut interests = Interests::new();
        endpoint.interests(&mut interests);
        let mut ready = interests.wait(Span::ZERO).expect("a look at its input");
        if !endpoint.is_over() {
            endpoint.exchange(now, &mut ready).expect("an input");
        }
        while let Some(transmit) = endpoint.session().poll_transmit(now, &mut buf) {
            let _ = receiver.handle_datagram(now, from, &buf[..transmit.len]);
        }
        while let Some(transmit) = receiver.poll_transmit(now, &mut buf) {
            let _ = endpoint.session().handle_datagram(now, to, &buf[..transmit.len]);
        }
        while let Some(media) = receiver.poll_media(now) {
            arrived.extend(media.chunks(PACKET).map(|bytes| Packet::parse(bytes).expect("a packet")));
        }
        reports.extend(std::iter::from_fn(|| endpoint.poll_report()));
    }
    assert!(endpoint.is_over());
    let mut figures = std::collections::BTreeMap::new();
    endpoint.probe(&mut |name, value| {
        figures.insert(name, value);
    });
    Outcome {
        whole: units(&arrived, 0x100).filter(|unit| is_whole(unit)).count(),
        sounds: units(&arrived, 0x101).filter(|unit| unit.ends_with(&[0xbb; 400])).count(),
        shed: figures["shed_pictures_total"],
        unsent: figures["unsent_packets_total"],
        repairs: figures["repair_packets_total"],
        events: reports.iter().map(|report| report.event).collect(),
        needed: reports.iter().filter_map(needed_seconds).collect(),
    }
}

fn needed_seconds(report: &Report) -> Option<f64> {
    let fact = report.facts.iter().find(|(name, _)| *name == "needed_seconds");
    fact.and_then(|(_, fact)| if let Fact::Number(seconds) = fact { Some(*seconds) } else { None })
}

/// The PES packets of a PID.
fn units(packets: &[Packet], pid: u16) -> impl Iterator<Item = Vec<u8>> {
    let mut units: Vec<Vec<u8>> = Vec::new();
    for packet in packets.iter().filter(|packet| packet.pid() == pid && packet.has_payload()) {
        if packet.starts_unit() {
            units.push(Vec::new());
        }
        units.iter_mut().last().into_iter().for_each(|unit| unit.extend_from_slice(packet.payload()));
    }
    units.into_iter()
}

/// True for a PES packet with all bytes of its picture.
fn is_whole(unit: &[u8]) -> bool {
    (0..PICTURES).any(|nth| unit.ends_with(&picture(nth)))
}

#[test]
fn whole_pictures_are_dropped_under_a_maximum_rate_and_all_sound_arrives() {
    let Outcome { whole, sounds, shed, unsent, events, .. } = send("pictures", Shed::Pictures, none::None.into(), 0.8);
    println!("{whole} of {PICTURES} pictures are whole, {sounds} sounds, {shed} shed, {unsent} datagrams unsent");
    assert_eq!(sounds as u64, PICTURES);
    assert_eq!(whole as f64 + shed, PICTURES as f64);
    assert!(whole as u64 > PICTURES / 2);
    assert!(events.contains(&"shed") && !events.contains(&"over_rate"), "{events:?}");
    assert_eq!(unsent, 0.0);
}

/// The same with repair, whose part of the rate no media takes.
#[test]
fn pictures_leave_the_room_of_repair() {
    let repair = redundancy(&"static:2".parse().expect("a law")).expect("a law of sessions");
    let Outcome { whole, sounds, shed, unsent, repairs, .. } = send("repair", Shed::Pictures, repair, 0.9);
    println!("{whole} of {PICTURES} pictures are whole, {shed} shed, {repairs} repair packets");
    assert_eq!((sounds as u64, unsent), (PICTURES, 0.0));
    assert_eq!(whole as f64 + shed, PICTURES as f64);
    assert!(whole as u64 > PICTURES / 2 && repairs > 50.0);
}

#[test]
fn datagrams_dropped_evenly_leave_few_pictures_whole() {
    let Outcome { whole, sounds, shed, unsent, events, .. } = send("packets", Shed::Packets, none::None.into(), 0.8);
    println!("{whole} of {PICTURES} pictures are whole, {sounds} sounds, {shed} shed, {unsent} datagrams unsent");
    assert!((whole as u64) < PICTURES / 4 && shed == 0.0 && unsent > 0.0);
    assert!(events.contains(&"over_rate"));
}

/// 60 ms are too short for blocks of a slow video and for its I pictures, each of which needs another latency.
#[test]
fn reports_ask_for_one_latency() {
    let repair = redundancy(&"static:2".parse().expect("a law")).expect("a law of sessions");
    let Outcome { events, needed, .. } = send_within(Span::from_millis(60), "latency", Shed::Pictures, repair, 0.8);
    println!("{events:?} ask for {needed:.3?} s");
    assert!(events.contains(&"few_packets") && events.contains(&"shed"), "{events:?}");
    assert!(needed.len() == 2 && needed[0] == needed[1], "{needed:?}");
}

//! A viewer by hand under R3CP+: RTSP over TCP, and the receiver of the core on a socket.

use std::fs::File;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use thalweg_core::law::predict;
use thalweg_core::law::rate::r3cp::Parameters;
use thalweg_core::rng::Rng;
use thalweg_core::session::stored::control::Control;
use thalweg_core::session::stored::receiver::{self, Bounds, Event, Frame, PROBES, Receiver};
use thalweg_core::session::stored::{First, Track};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::payload;
use thalweg_core::wire::rtcp::{App, Writer};
use thalweg_core::wire::sdp::stored::Presentation;
use thalweg_core::wire::stored::{FlowControl, Message, Mode, NAME, Probe};
use thalweg_rtsp::r3cp::Play;
use thalweg_serve::Event as Line;
use thalweg_serve::catalog::frames::{self, Index};

use super::stage::{Client, Stage, mp4, ts};

/// A client that has set up all tracks, and its socket.
struct Viewer {
    client: Client,
    url: String,
    socket: UdpSocket,
    server: SocketAddr,
    tracks: Vec<Track>,
    start: Instant,
    ended: Option<Event>,
    frames: Vec<Frame>,
}

impl Viewer {
    fn new(stage: &Stage, name: &str) -> Viewer {
        let (url, mut client) = (stage.url(name), stage.connect());
        let described = client.ask("DESCRIBE", &url, "");
        let presentation = Presentation::parse(&described.body).expect("a description");
        assert!(presentation.attributes.iter().any(|one| one.name == "r3cp" && one.value.as_deref() == Some("1")));
        let tracks = presentation.tracks.iter().map(|track| {
            let rtx = track.attributes.iter().find(|attribute| attribute.name == "r3cp-rtx").expect("a payload type");
            let rtx_payload_type = rtx.value.as_ref().and_then(|value| value.parse().ok()).expect("a payload type");
            Track { payload_type: track.payload_type, rtx_payload_type, clock_rate: track.encoding.clock_rate() }
        });
        let tracks: Vec<_> = tracks.collect();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("an address").port();
        let fields =
            format!("R3CP: version=1\r\nTransport: RTP/AVP/UDP;unicast;client_port={port}-{port};RTCP-mux\r\n");
        let mut server = stage.server.rtsp().expect("RTSP");
        for track in &presentation.tracks {
            let control = track.control.as_ref().expect("a URL");
            let response = client.ask("SETUP", &format!("{url}/{control}"), &fields);
            assert_eq!((response.status, response.field("R3CP")), (200, Some("version=1")));
            let transport = response.field("Transport").expect("a transport");
            let ports = transport.split(';').find_map(|one| one.strip_prefix("server_port=")).expect("a port");
            let (rtp, rtcp) = ports.split_once('-').expect("two ports");
            assert_eq!(rtp, rtcp);
            server.set_port(rtp.parse().expect("a port"));
        }
        let (start, frames) = (Instant::now(), Vec::new());
        Viewer { client, url, socket, server, tracks, start, ended: None, frames }
    }

    /// Requests a play, with a range if there is one.
    fn play(&mut self, lines: &str) -> Play {
        let response = self.client.ask("PLAY", &self.url, lines);
        Play::parse(response.field("R3CP").expect("parameters")).expect("parameters")
    }

    /// A receiver with two seconds of store. Under R3CP, unlike R3CP+, no frame is skipped while this machine is busy.
    fn receiver(&self, play: &Play, control: Control) -> Receiver {
        let config = receiver::Config {
            key: play.key,
            sender: self.server,
            tracks: self.tracks.clone(),
            first: First::new(play.first, play.decode, play.display),
            mu: play.mu,
            control,
            parameters: Parameters { store: Span::from_secs(2).into(), ..Parameters::of_video(play.mu) },
            predictor: predict::Choice::default(),
            bounds: Bounds::default(),
            probes: PROBES,
            start: 1.0,
        };
        Receiver::new(config, self.now(), &Rng::new(5)).expect("in range")
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// Drives a receiver until it has ended, or for this time; returns the datagrams that arrived.
    fn run(&mut self, receiver: &mut Receiver, most: Duration) -> usize {
        let (until, mut buf, mut arrived) = (Instant::now() + most, [0; 2048], 0);
        while self.ended.is_none() && Instant::now() < until {
            if receiver.poll_timeout().is_some_and(|at| at <= self.now()) {
                receiver.handle_timeout(self.now());
            }
            while let Some(transmit) = receiver.poll_transmit(self.now(), &mut buf) {
                self.socket.send_to(&buf[..transmit.len], transmit.to).expect("it is sent");
            }
            while let Some(event) = receiver.poll_event() {
                self.ended = Some(event).filter(|event| matches!(event, Event::Ended | Event::CutOff)).or(self.ended);
            }
            while let Some(frame) = receiver.poll_frame(self.now()) {
                self.frames.push(frame);
            }
            let next = receiver.poll_timeout().map_or(Span::from_millis(20), |at| at.since(self.now()));
            let next =
                Duration::from_nanos(next.as_nanos()).clamp(Duration::from_micros(100), Duration::from_millis(20));
            self.socket.set_read_timeout(Some(next)).expect("a timeout");
            if let Ok((len, from)) = self.socket.recv_from(&mut buf) {
                arrived += 1;
                receiver.handle_datagram(self.now(), from, &buf[..len]).expect("the server's bytes are valid");
            }
        }
        arrived
    }

    /// Datagrams that arrive within half a second.
    fn silence(&self) -> usize {
        let (start, mut buf, mut arrived) = (Instant::now(), [0; 2048], 0);
        self.socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        while start.elapsed() < Duration::from_millis(500) {
            arrived += usize::from(self.socket.recv(&mut buf).is_ok());
        }
        arrived
    }

    /// Sends a message to the server.
    fn send(&self, message: Message<'_>) {
        let mut buf = [0; MAX_DATAGRAM];
        let mut writer = Writer::new(&mut buf);
        let (subtype, data) = message.emit();
        writer.push(&App { subtype, ssrc: 1, name: NAME, data: &data }).expect("space");
        let len = writer.len();
        self.socket.send_to(&buf[..len], self.server).expect("it is sent");
    }
}

/// The payloads of each frame of a file, in the order of decode times, pictures first.
fn payloads(stage: &Stage, name: &str) -> Vec<Vec<Vec<u8>>> {
    let mut file = File::open(stage.folder.join(name)).expect("a file");
    let index = Index::read(&mut file).expect("an index");
    let tracks: Vec<_> = [&index.video].into_iter().chain(&index.audio).collect();
    let frames = |(nth, track): (usize, _)| (0..).zip(&tracks[nth].frames).map(move |(place, _)| (nth, place, track));
    let mut order: Vec<_> = tracks.iter().copied().enumerate().flat_map(frames).collect();
    order.sort_by_key(|&(nth, place, track): &(usize, usize, &frames::Track)| {
        (i128::from(track.frames[place].decode) * 1_000_000_000 / i128::from(track.timescale), nth, place)
    });
    let payloads = |(_, place, track): (usize, usize, &frames::Track)| {
        let mut bytes = Vec::new();
        track.fetch(&file, &track.frames[place], &mut bytes).expect("a frame");
        let packets = track.stored(&bytes).packetize(1400).expect("packets");
        let emit = |packet: payload::Payload| {
            let mut payload = vec![0; packet.payload_len()];
            packet.emit(&bytes, &mut payload);
            payload
        };
        packets.map(emit).collect()
    };
    order.into_iter().map(payloads).collect()
}

/// Expects that each frame that was played has the payloads of the file.
fn expect_payloads(viewer: &Viewer, expected: &[Vec<Vec<u8>>]) {
    for frame in &viewer.frames {
        let same = frame.payloads.iter().map(|payload| &payload[..]).eq(expected[frame.index as usize].iter());
        assert!(same, "frame {}", frame.index);
    }
}

#[test]
fn viewer_receives_every_frame_as_it_is_in_the_file() {
    let make = |folder: &Path| mp4(folder, "a.mp4", 3) && ts(folder, "mpeg2.ts", "-c:v mpeg2video -c:a mp2", 3);
    let Some(stage) = Stage::new("r3cp", make) else { return };
    for name in ["a.mp4", "mpeg2.ts"] {
        let expected = payloads(&stage, name);
        let mut viewer = Viewer::new(&stage, name);
        let play = viewer.play("");
        let mut receiver = viewer.receiver(&play, Control::R3cp);
        viewer.run(&mut receiver, Duration::from_secs(20));
        assert_eq!(viewer.ended, Some(Event::Ended), "{name}: {} frames of {}", viewer.frames.len(), expected.len());
        let mut played: Vec<u32> = viewer.frames.iter().map(|frame| frame.index).collect();
        played.sort_unstable();
        assert_eq!(played, (0..expected.len() as u32).collect::<Vec<_>>(), "{name}");
        expect_payloads(&viewer, &expected);
        assert_eq!(viewer.client.ask("TEARDOWN", &viewer.url.clone(), "").status, 200);
    }
}

#[test]
fn seek_plays_from_the_random_access_point_before() {
    let Some(stage) = Stage::new("r3cp-seek", |folder| mp4(folder, "a.mp4", 4)) else { return };
    let expected = payloads(&stage, "a.mp4");
    let mut viewer = Viewer::new(&stage, "a.mp4");
    let play = viewer.play("");
    let mut receiver = viewer.receiver(&play, Control::R3cp);
    viewer.run(&mut receiver, Duration::from_millis(1200));
    viewer.frames.clear();
    let seek = viewer.play("Range: npt=2.7-\r\n");
    // Random access points are a second apart.
    assert!(seek.key != play.key && seek.display.saturating_sub(play.display) == Span::from_secs(2), "{seek:?}");
    viewer.silence();
    let mut receiver = viewer.receiver(&seek, Control::R3cp);
    viewer.run(&mut receiver, Duration::from_secs(20));
    assert_eq!(viewer.ended, Some(Event::Ended), "{} frames", viewer.frames.len());
    assert_eq!(viewer.frames.iter().map(|frame| frame.index).min(), Some(seek.first));
    let (played, rest) = (viewer.frames.len(), expected.len() - seek.first as usize);
    assert!(played * 10 >= rest * 9, "{played} of {rest} frames");
    expect_payloads(&viewer, &expected);
}

#[test]
fn nothing_is_sent_after_the_connection_of_the_viewer() {
    let Some(stage) = Stage::new("r3cp-gone", |folder| mp4(folder, "a.mp4", 20)) else { return };
    let mut viewer = Viewer::new(&stage, "a.mp4");
    let play = viewer.play("");
    let mut receiver = viewer.receiver(&play, Control::R3cpPlus);
    assert!(viewer.run(&mut receiver, Duration::from_millis(1500)) > 50);
    // It vanishes without TEARDOWN; its receiver goes on.
    let gone = std::mem::replace(&mut viewer.client, stage.connect());
    drop(gone);
    viewer.silence();
    assert_eq!(viewer.run(&mut receiver, Duration::from_secs(1)), 0);
}

#[test]
fn nothing_is_sent_without_the_key_and_no_media_without_the_token() {
    let Some(stage) = Stage::new("r3cp-forged", |folder| mp4(folder, "a.mp4", 3)) else { return };
    let mut viewer = Viewer::new(&stage, "a.mp4");
    let play = viewer.play("");
    viewer.send(Message::Probe(Probe { key: play.key ^ 1, number: 0 }));
    assert_eq!(viewer.silence(), 0, "another key");
    viewer.send(Message::Probe(Probe { key: play.key, number: 0 }));
    assert_eq!(viewer.silence(), 1, "the echo alone");
    let (number, rho, lambda, mode) = (1, 100.0, 100.0, Mode::InOrder);
    let (period, playout) = (Span::from_millis(100), Span::ZERO);
    viewer.send(Message::FlowControl(FlowControl { token: 1, number, rho, lambda, period, playout, mode }));
    assert_eq!(viewer.silence(), 0, "another token");
}

#[test]
fn file_that_is_truncated_or_replaced_ends_the_play_with_a_line() {
    let truncate = |path: &Path| File::options().write(true).open(path).and_then(|file| file.set_len(20_000));
    let replace = |path: &Path| {
        std::fs::copy(path, path.with_extension("new"))?;
        std::fs::rename(path.with_extension("new"), path)
    };
    for change in [truncate as fn(&Path) -> std::io::Result<()>, replace] {
        let Some(stage) = Stage::new("r3cp-changed", |folder| mp4(folder, "a.mp4", 20)) else { return };
        let mut viewer = Viewer::new(&stage, "a.mp4");
        let play = viewer.play("");
        let mut receiver = viewer.receiver(&play, Control::R3cpPlus);
        assert!(viewer.run(&mut receiver, Duration::from_millis(1500)) > 50);
        change(&stage.folder.join("a.mp4")).expect("it is changed");
        viewer.run(&mut receiver, Duration::from_secs(10));
        assert_eq!(viewer.ended, Some(Event::CutOff), "the server says goodbye");
        let mut events = std::iter::from_fn(|| stage.server.poll_event());
        assert!(events.any(|event| matches!(event, Line::Broken { why, .. } if why.contains("has changed"))));
    }
}

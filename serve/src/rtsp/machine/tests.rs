//! The negotiation of R3CP+, without I/O.

use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::wire::rtcp::{App, Compound, Packet, Writer};
use thalweg_core::wire::stored::{Message, NAME, Probe};
use thalweg_rtsp::r3cp::{HEADER, Play};

use super::*;
use crate::mp4::synthetic::{Tables, sample};
use crate::rtsp::playback::{Arrival, Claim, Route};
use crate::rtsp::synthetic::Folder;

const URL: &str = "rtsp://192.0.2.1/a.mp4";
const MUXED: &str = "RTP/AVP/UDP;unicast;client_port=5000-5000;RTCP-mux";
const PAIR: &str = "RTP/AVP;unicast;client_port=5000-5001";

/// A connection and its client.
struct Talk {
    machine: Machine,
    stored: Arc<Stored>,
    session: Option<String>,
    _folder: Folder,
}

impl Talk {
    /// Pictures at 0, 40, 80, 120 and 160 ms, of which the first and the fourth are random access points, and nine frames of
    /// sound from -21.3 ms on, each of 21.3 ms.
    fn new(name: &str) -> Talk {
        let mut tables = Tables::new();
        (tables.samples[3], tables.stss) = (sample(0x65, 7), vec![0, 2, 1, 4]);
        let folder = Folder::new(name);
        let stored = folder.stored(&tables, 1000, -1..8);
        let (client, local) = ([192, 0, 2, 7].into(), SocketAddr::from(([192, 0, 2, 1], 8554)));
        let machine = Machine::new(client, local, (8556, 8557), Duration::from_secs(60), Rng::new(7));
        Talk { machine, stored, session: None, _folder: folder }
    }

    fn ask(&mut self, method: Method, url: &str, fields: &[(&str, &str)]) -> Response {
        let request = Request::new(method, url).with("CSeq", 1);
        let request = self.session.iter().fold(request, |request, session| request.with("Session", session));
        let request = fields.iter().fold(request, |request, (name, value)| request.with(name, value));
        let opened = self.machine.needs(&request).map(|_| Ok(self.stored.clone()));
        let response = self.machine.handle(Time::ZERO, &request, opened);
        if let Some(session) = response.fields.get("Session") {
            self.session = session.split(';').next().map(str::to_owned);
        }
        response
    }

    /// Sets up a track, with `R3CP` if a version is given.
    fn set_up(&mut self, track: &str, transport: &str, version: Option<&str>) -> Response {
        let transport = ("Transport", transport);
        let fields: Vec<_> = [transport].into_iter().chain(version.map(|version| (HEADER, version))).collect();
        self.ask(Method::Setup, &format!("{URL}/{track}"), &fields)
    }

    /// The range and the parameters of a play.
    fn play(&mut self, fields: &[(&str, &str)]) -> (String, Play) {
        let response = self.ask(Method::Play, URL, fields);
        let range = response.fields.get("Range").expect("a range").to_owned();
        (range, Play::parse(response.fields.get(HEADER).expect("R3CP")).expect("its parameters"))
    }

    fn claims(&mut self) -> Vec<Claim> {
        self.machine.playback().map_or(Vec::new(), |playback| playback.claims())
    }

    /// Passes a probe to the session; returns the datagrams that leave.
    fn probe(&mut self, key: u64) -> Vec<(Route, Vec<u8>)> {
        let mut buf = [0; MAX_DATAGRAM];
        let mut writer = Writer::new(&mut buf);
        let (subtype, data) = Message::Probe(Probe { key, number: 3 }).emit();
        writer.push(&App { subtype, ssrc: 1, name: NAME, data: &data }).expect("space");
        let len = writer.len();
        let arrival = Arrival::Datagram { from: SocketAddr::from(([192, 0, 2, 7], 4000)), bytes: buf[..len].to_vec() };
        let playback = self.machine.playback().expect("a session");
        playback.handle(Time::ZERO, &arrival);
        let sent = std::iter::from_fn(|| {
            let transmit = playback.poll_transmit(Time::ZERO, &mut buf)?;
            Some((transmit.route, buf[..transmit.len].to_vec()))
        });
        sent.collect()
    }
}

#[test]
fn known_version_is_confirmed_with_one_port_for_rtp_and_rtcp() {
    let mut talk = Talk::new("confirmed");
    for track in ["track1", "track2"] {
        let response = talk.set_up(track, MUXED, Some("version=1"));
        assert_eq!((response.status.0, response.fields.get(HEADER)), (200, Some("version=1")));
        let transport = response.fields.get("Transport").expect("a transport");
        assert!(transport.contains(";client_port=5000-5000;server_port=8556-8556"), "{transport}");
        assert!(transport.contains(";RTCP-mux"), "{transport}");
    }
}

#[test]
fn unknown_version_gets_a_plain_stream() {
    let mut talk = Talk::new("unknown");
    for version in [None, Some("version=2"), Some("1")] {
        let response = talk.set_up("track1", PAIR, version);
        assert_eq!((response.status.0, response.fields.get(HEADER)), (200, None), "{version:?}");
        let transport = response.fields.get("Transport").expect("a transport");
        assert!(transport.contains(";server_port=8556-8557") && !transport.contains("mux"), "{transport}");
    }
    let response = talk.ask(Method::Play, URL, &[]);
    assert!(response.fields.get(HEADER).is_none() && response.fields.get("RTP-Info").is_some());
}

#[test]
fn tracks_of_one_session_are_all_r3cp_or_none() {
    let version = Some("version=1");
    for (first, second) in [((MUXED, version), (PAIR, None)), ((PAIR, None), (MUXED, version))] {
        let mut talk = Talk::new("mixed");
        assert_eq!(talk.set_up("track1", first.0, first.1).status.0, 200);
        assert_eq!(talk.set_up("track2", second.0, second.1).status.0, 461);
        assert_eq!(talk.set_up("track2", first.0.replace("5000-5001", "5002-5003").as_str(), first.1).status.0, 200);
    }
}

#[test]
fn transports_that_clash_are_refused() {
    let mut talk = Talk::new("clash");
    let mut status = |track: &str, transport: &str| talk.set_up(track, transport, Some("version=1")).status.0;
    assert_eq!(status("track1", PAIR), 461, "two ports");
    assert_eq!(status("track1", "RTP/AVP/TCP;unicast;interleaved=0-1"), 461);
    assert_eq!(status("track1", MUXED), 200);
    assert_eq!(status("track2", &MUXED.replace("5000", "5002")), 461, "another port");
    assert_eq!(status("track1", &MUXED.replace("5000", "5002")), 200, "the only track moves");
    assert_eq!(status("track2", &MUXED.replace("5000", "5002")), 200);
    let mut talk = Talk::new("clash-plain");
    assert_eq!(talk.set_up("track1", PAIR, None).status.0, 200);
    assert_eq!(talk.set_up("track2", PAIR, None).status.0, 461);
}

#[test]
fn play_has_the_parameters_of_the_receiver() {
    let mut talk = Talk::new("parameters");
    talk.set_up("track2", MUXED, Some("version=1"));
    talk.set_up("track1", MUXED, Some("version=1"));
    let (range, start) = talk.play(&[]);
    // Media time begins with the first frame of sound. Fourteen packets of 11 bytes in 200 ms.
    assert_eq!((range.as_str(), start.first), ("npt=0.000-0.200", 0));
    assert_eq!((start.decode.as_micros(), start.display.as_micros()), (0, 21_333));
    assert_eq!((start.mu, start.size), (70.0, 11));
    let (range, seek) = talk.play(&[("Range", "npt=0.13-")]);
    // Before the picture at 120 ms lie three pictures and the frames of sound at -21, 0, 21, 43, 64, 85 and 107 ms.
    assert_eq!((range.as_str(), seek.first), ("npt=0.120-0.200", 10));
    assert_eq!((seek.decode.as_micros(), seek.display.as_micros()), (141_333, 141_333));
}

#[test]
fn seek_has_a_new_key_and_a_play_without_range_the_old_one() {
    let mut talk = Talk::new("seek");
    talk.set_up("track1", MUXED, Some("version=1"));
    let (_, first) = talk.play(&[]);
    assert_eq!((talk.play(&[]).1.key, talk.claims()), (first.key, vec![Claim::Key(first.key)]));
    let (_, second) = talk.play(&[("Range", "npt=0-")]);
    assert!(second.key != first.key);
    assert_eq!(talk.claims(), [Claim::Key(second.key)]);
    assert_eq!(talk.set_up("track2", MUXED, Some("version=1")).status.0, 455, "it plays");
    assert_eq!(talk.ask(Method::Pause, URL, &[]).status.0, 200);
    assert_eq!(talk.claims(), []);
    assert!(talk.play(&[]).1.key != second.key);
}

#[test]
fn probe_with_the_key_gets_an_echo_alone_and_one_with_another_nothing() {
    let mut talk = Talk::new("probe");
    talk.set_up("track1", MUXED, Some("version=1"));
    let (_, Play { key, .. }) = talk.play(&[]);
    assert_eq!(talk.probe(key ^ 1), []);
    let sent = talk.probe(key);
    let [(route, bytes)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(*route, Route::Rtp(SocketAddr::from(([192, 0, 2, 7], 4000))));
    let compound = Compound::parse(bytes).expect("RTCP");
    let packets: Vec<_> = compound.frames().map(|frame| Packet::parse(frame).expect("a packet")).collect();
    let [Packet::App(app)] = &packets[..] else { panic!("{packets:?}") };
    assert!(matches!(Message::parse(app), Ok(Some(Message::Echo(echo))) if echo.number == 3));
}

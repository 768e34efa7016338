//! `thalweg play` beside a scripted server without R3CP+.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::{decoded, ffmpeg, folder};
use crate::common::Running;

/// The URL of a server that answers each request by its method: status, reason and fields. It ends with the connection.
pub(super) fn scripted(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    scripted_with(packets(), answer)
}

/// The same with these packets after PLAY.
fn scripted_with(packets: Vec<Vec<u8>>, answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("rtsp://{}/a", listener.local_addr().expect("its address"));
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a player");
        while let Some((method, sequence)) = request(&stream) {
            let answer = answer(&method);
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer.trim_end(), ""));
            let len = body.len();
            let text = format!("RTSP/1.0 {head}\r\nCSeq: {sequence}\r\nContent-Length: {len}\r\n\r\n{body}");
            (&stream).write_all(text.as_bytes()).expect("a player");
            if method == "PLAY" {
                packets.iter().for_each(|packet| (&stream).write_all(packet).expect("a player"));
            }
        }
    });
    url
}

/// The method and the number of the next request.
fn request(stream: &TcpStream) -> Option<(String, String)> {
    let mut lines = BufReader::with_capacity(1, stream).lines().map_while(Result::ok);
    let first = lines.next()?;
    let fields: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let sequence = fields.iter().find_map(|field| field.strip_prefix("CSeq: "))?;
    Some((first.split(' ').next()?.to_owned(), sequence.to_owned()))
}

/// The answer of a server of one track of sound, with this field in the response to SETUP.
pub(super) fn sound(method: &str, transport: &str) -> String {
    match method {
        "DESCRIBE" => "200 OK\r\n\r\nv=0\r\ns=-\r\nt=0 0\r\nm=audio 0 RTP/AVP 14\r\na=control:sound\r\n".to_owned(),
        "SETUP" => format!("200 OK\r\nSession: 7\r\n{transport}\r\n"),
        _ => "200 OK\r\nRTP-Info: url=sound;seq=0;rtptime=0\r\n".to_owned(),
    }
}

/// Twenty frames of silence (MPEG-1 layer II, 32 kb/s, 48 kHz) as RTP packets (RFC 2250 §3), and a BYE, interleaved.
fn packets() -> Vec<Vec<u8>> {
    let packet = |n: u16| {
        // 1152 samples are 2160 ticks.
        let header = [&[0x80, 14][..], &n.to_be_bytes(), &(2160 * u32::from(n)).to_be_bytes(), &[0, 0, 0, 5]].concat();
        let mut frame = vec![0xff, 0xfd, 0x14, 0xc0];
        frame.resize(96, 0);
        let packet = [&header[..], &[0; 4], &frame].concat();
        [&[b'$', 0, 0, packet.len() as u8][..], &packet].concat()
    };
    // An empty receiver report, and a BYE (RFC 3550 §6.6).
    let end = [&[b'$', 1, 0, 16, 0x80, 201, 0, 1, 0, 0, 0, 5][..], &[0x81, 203, 0, 1, 0, 0, 0, 5]].concat();
    (0..20).map(packet).chain([end]).collect()
}

#[test]
fn server_without_r3cp_is_played_over_its_connection() {
    let url = scripted(|method| sound(method, "Transport: RTP/AVP/TCP;interleaved=0-1"));
    let out = folder("plain").join("a.ts").to_str().expect("UTF-8").to_owned();
    let mut player = Running::start(&["play", &url, "--output", &format!("file:{out}")]);
    player.succeeds();
    let events = player.rest();
    assert!(events.iter().any(|line| line.contains("\"transport\":\"plain\"")), "{events:?}");
    // Of a transport stream: the packets of sound are the first ones with that PID.
    assert!(fs::metadata(&out).expect("a file").len() > 20 * 96);
    if ffmpeg("-version").is_some() {
        assert_eq!(decoded(&out, "a").len(), 20);
    }
}

#[test]
fn malformed_nal_units_and_packets_are_left_out() {
    let packet = |(n, payload): (u8, &[u8])| {
        let rtp = [&[0x80, 96, 0, n, 0, 0, n, 0, 0, 0, 0, 5][..], payload].concat();
        [&[b'$', 0, 0, rtp.len() as u8][..], &rtp].concat()
    };
    // Nothing; a STAP-A whose unit is longer than it; FU-A without a start, and without a header; types that are reserved
    // (RFC 6184 §5.2); a slice without its header.
    let payloads: [&[u8]; 7] = [&[], &[24, 0xff, 0xff, 1], &[28, 0x05, 1], &[28], &[31, 1, 2], &[0], &[0x65]];
    let mut packets: Vec<Vec<u8>> = (0..).zip(payloads).map(packet).collect();
    // Not RTP, not RTCP, a channel that does not exist, and a BYE.
    packets.push(vec![b'$', 0, 0, 3, 1, 2, 3]);
    packets.push(vec![b'$', 1, 0, 4, 0x80, 201, 0xff, 0xff]);
    packets.push(vec![b'$', 9, 0, 1, 7]);
    packets.push([&[b'$', 1, 0, 16, 0x80, 201, 0, 1, 0, 0, 0, 5][..], &[0x81, 203, 0, 1, 0, 0, 0, 5]].concat());
    let url = scripted_with(packets, |method| match method {
        "DESCRIBE" => "200 OK\r\n\r\nv=0\r\ns=-\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n\
                       a=fmtp:96 packetization-mode=1\r\na=control:v\r\n"
            .to_owned(),
        _ => sound(method, "Transport: RTP/AVP/TCP;interleaved=0-1"),
    });
    let out = folder("malformed").join("a.ts").to_str().expect("UTF-8").to_owned();
    let mut player = Running::start(&["play", &url, "--output", &format!("file:{out}")]);
    player.succeeds();
    let events = player.rest();
    assert!(events.iter().any(|line| line.contains("\"event\":\"ended\"")), "{events:?}");
}

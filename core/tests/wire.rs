//! One example of each packet: as `docs/wire.md` shows it, and as Wireshark understands it.

mod payload;
mod pcap;

use core::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use thalweg_core::session::live::{End, Secret};
use thalweg_core::time::Span;
use thalweg_core::wire::fecframe::{Adui, BlockBounds, PayloadId};
use thalweg_core::wire::feedback::{Arrival, Builder, Ecn, Offset};
use thalweg_core::wire::hello::{self, Answer, Busy, Challenge, Hello, Refusal, Request, Wanted};
use thalweg_core::wire::mux::Frame;
use thalweg_core::wire::ntp::{NtpShort, NtpTime};
use thalweg_core::wire::rtcp::{
    App, Emit, Extended, Goodbye, PostRepairLoss, Report, ReportBlock, SenderInfo, Source, Writer,
};
use thalweg_core::wire::rtp::{Element, Header};
use thalweg_core::wire::sdp::{DEFAULT_TTL, Description, Payload};
use thalweg_core::wire::secure::handshake::Cookie;
use thalweg_core::wire::secure::inner::Inner;
use thalweg_core::wire::tunnel::{LONGEST, Message, Shape};

use pcap::pcap;

const SOURCE: u32 = 0x1111_1111;
const REPAIR: u32 = 0x2222_2222;
const RECEIVER: u32 = 0x3333_3333;
const SECRET: Secret = Secret { sender: 4, receiver: 5 };

const MEDIA: Header = Header { marker: false, payload_type: 33, sequence: 0x1234, timestamp: 90_000, ssrc: SOURCE };

fn source_packet() -> Vec<u8> {
    let mut packet = vec![0; Header::len(&[])];
    MEDIA.emit(&[], &mut packet);
    packet.extend([0x47, 0x1f, 0xff, 0x10]);
    packet.extend(PayloadId { sbn: 7, esi: 2, k: 21 }.emit());
    packet
}

fn symbol() -> Vec<u8> {
    let packet = source_packet();
    let adu = &packet[..packet.len() - PayloadId::LEN];
    let mut symbol = vec![0; Adui::OVERHEAD + adu.len() + 1];
    Adui { flow: 0, adu }.emit(&mut symbol);
    symbol
}

fn repair_packet() -> Vec<u8> {
    let bounds = BlockBounds { base: 0x1232, stride: 1 }.emit();
    let elements = [Element { id: 1, data: &bounds }];
    let header = Header { payload_type: 97, sequence: 0x0042, ssrc: REPAIR, ..MEDIA };
    let mut packet = vec![0; Header::len(&elements)];
    header.emit(&elements, &mut packet);
    packet.extend(PayloadId { sbn: 7, esi: 21, k: 21 }.emit());
    packet.extend([0xa5; 6]);
    packet
}

fn feedback() -> Vec<u8> {
    proved(End::Receiver, |writer| {
        let arrival = |ticks| Some(Arrival { ecn: Ecn::NotEct, offset: Offset::Before(ticks) });
        let mut builder = Builder::new(writer, RECEIVER).unwrap();
        builder.stream(SOURCE, 0x1234, [arrival(10), None, arrival(8)].into_iter()).unwrap();
        builder.stream(REPAIR, 0x0042, [arrival(1)].into_iter()).unwrap();
        builder.finish(NtpShort(0xb710_8000));
    })
}

fn hello() -> Vec<u8> {
    let info = SenderInfo { ntp: NtpTime(0xb705_2000_0000), rtp: 90_000, packets: 500, octets: 658_000 };
    let hello = Hello {
        mp2t: true,
        payload_ids: true,
        repair: true,
        loss_reports: false,
        sliding: false,
        payload_types: [33, 97],
        repair_ssrc: REPAIR,
        latency: Wanted { span: Span::from_millis(90), is_auto: false },
        round_trip: Span::from_millis(40),
        spread: Span::from_millis(20),
        interval: Span::from_millis(10),
        stamp: 1,
        token: 2,
        echo: 3,
        half: SECRET.sender,
    };
    proved(End::Sender, |writer| {
        push(writer, &Report { ssrc: SOURCE, sender: Some(info), raw_blocks: &[] });
        push(writer, &Source { ssrc: SOURCE, cname: b"thalweg-11111111" });
        push(writer, &App { subtype: Hello::SUBTYPE, ssrc: SOURCE, name: hello::NAME, data: &hello.emit() });
    })
}

fn answer() -> Vec<u8> {
    let latency = Wanted { span: Span::from_millis(90), is_auto: false };
    let (busy, seated) = (false, true);
    let answer = Answer { busy, seated, latency, stamp: 1, token: 3, echo: 2, half: SECRET.receiver };
    proved(End::Receiver, |writer| {
        push(writer, &Report { ssrc: RECEIVER, sender: None, raw_blocks: &[] });
        push(writer, &Source { ssrc: RECEIVER, cname: b"thalweg-33333333" });
        push(writer, &App { subtype: Answer::SUBTYPE, ssrc: RECEIVER, name: hello::NAME, data: &answer.emit() });
    })
}

fn report() -> Vec<u8> {
    let block = ReportBlock {
        ssrc: SOURCE,
        fraction_lost: 4,
        cumulative_lost: -3,
        highest: 0x0001_1234,
        jitter: 45,
        last_report: NtpShort(0xb705_2000),
        delay: NtpShort(0x0005_4000),
    };
    let losses = [
        PostRepairLoss { ssrc: SOURCE, begin: 0x0dd0, end: 0x1000, lost: 0, repaired: 9 },
        PostRepairLoss { ssrc: SOURCE, begin: 0x1000, end: 0x1235, lost: 1, repaired: 8 },
    ];
    let raw_blocks = losses.map(|loss| loss.emit());
    proved(End::Receiver, |writer| {
        push(writer, &Report { ssrc: RECEIVER, sender: None, raw_blocks: &[block.emit()] });
        push(writer, &Source { ssrc: RECEIVER, cname: b"thalweg-33333333" });
        push(writer, &Extended { ssrc: RECEIVER, raw_blocks: raw_blocks.as_flattened() });
    })
}

fn goodbye() -> Vec<u8> {
    let sources = [SOURCE.to_be_bytes(), REPAIR.to_be_bytes()];
    proved(End::Sender, |writer| {
        push(writer, &Report { ssrc: SOURCE, sender: None, raw_blocks: &[] });
        push(writer, &Source { ssrc: SOURCE, cname: b"thalweg-11111111" });
        push(writer, &Goodbye { sources: &sources, reason: b"" });
    })
}

/// The first answer, to an address that is not yet proved.
fn bare_answer() -> Vec<u8> {
    let (busy, seated, latency) = (true, false, Wanted { span: Span::ZERO, is_auto: false });
    let data = Answer { busy, seated, latency, stamp: 1, token: 3, echo: 2, half: 0 }.emit();
    datagram(|writer| push(writer, &App { subtype: Answer::SUBTYPE, ssrc: 0, name: hello::NAME, data: &data }))
}

fn challenge() -> Vec<u8> {
    let data = Challenge { token: 6 }.emit();
    datagram(|writer| push(writer, &App { subtype: Challenge::SUBTYPE, ssrc: 0, name: hello::NAME, data: &data }))
}

fn refusal() -> Vec<u8> {
    let data = Refusal { version: hello::VERSION, echo: 2 }.emit();
    datagram(|writer| push(writer, &App { subtype: Refusal::SUBTYPE, ssrc: 0, name: hello::NAME, data: &data }))
}

fn request() -> Vec<u8> {
    let data = Request { token: 3 }.emit();
    datagram(|writer| push(writer, &App { subtype: Request::SUBTYPE, ssrc: 0, name: hello::NAME, data: &data }))
}

fn busy() -> Vec<u8> {
    let data = Busy { echo: 3 }.emit();
    datagram(|writer| push(writer, &App { subtype: Busy::SUBTYPE, ssrc: 0, name: hello::NAME, data: &data }))
}

fn cookie() -> Vec<u8> {
    let mut buf = [0; 32];
    let len = Cookie { id: 0x1111_1111_1111_1111, cookie: 0x2222_2222_2222_2222 }.emit(&mut buf);
    buf[..len].to_vec()
}

fn close() -> Vec<u8> {
    let mut buf = [0; 32];
    let len = Inner::Close(1).emit(&mut buf);
    buf[..len].to_vec()
}

const SHAPE: Shape = Shape { frame: 1164, window: 1024 };
const STREAM: u128 = 0x7777_7777_7777_7777_7777_7777_7777_7777;

fn attach() -> Vec<u8> {
    let mut buf = [0; LONGEST];
    let len = Message::Attach { stream: STREAM, shape: SHAPE, begins: true }.emit(&mut buf);
    buf[..len].to_vec()
}

fn attached() -> Vec<u8> {
    let mut buf = [0; LONGEST];
    let len = Message::Attached { stream: STREAM, shape: SHAPE }.emit(&mut buf);
    buf[..len].to_vec()
}

fn connection() -> Vec<u8> {
    let mut bytes = Vec::new();
    Frame::Open { id: 2 }.emit(&mut bytes);
    Frame::Data { id: 2, len: 2 }.emit(&mut bytes);
    bytes.extend_from_slice(b"hi");
    Frame::Finish { id: 2 }.emit(&mut bytes);
    bytes
}

fn datagram(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut buf = vec![0; 1500];
    let mut writer = Writer::new(&mut buf);
    write(&mut writer);
    let len = writer.len();
    buf.truncate(len);
    buf
}

/// A datagram with a proof of the secret.
fn proved(from: End, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = datagram(write);
    let len = bytes.len();
    bytes.resize(len + thalweg_core::wire::proof::LEN, 0);
    let ssrc = if from == End::Sender { SOURCE } else { RECEIVER };
    assert_eq!(SECRET.prove(from, ssrc, &mut bytes, len), Ok(bytes.len()));
    bytes
}

fn push(writer: &mut Writer<'_>, packet: &impl Emit) {
    writer.push(packet).expect("a datagram is long enough");
}

#[test]
fn documented_hex_dumps_equal_the_encoded_packets() {
    let documentation = include_str!("../../docs/wire.md");
    let packets = [
        ("source packet", source_packet()),
        ("symbol", symbol()),
        ("repair packet", repair_packet()),
        ("feedback", feedback()),
        ("hello", hello()),
        ("answer", answer()),
        ("bare answer", bare_answer()),
        ("challenge", challenge()),
        ("refusal", refusal()),
        ("request", request()),
        ("busy", busy()),
        ("report", report()),
        ("goodbye", goodbye()),
        ("cookie", cookie()),
        ("close", close()),
        ("attach", attach()),
        ("attached", attached()),
        ("connection", connection()),
    ];
    let dumps = packets.map(|(name, bytes)| format!("{name}:\n{}", hexdump(&bytes)));
    let lacks = |dump: &&String| !documentation.contains(dump.split_once('\n').map_or("", |(_, dump)| dump));
    let missing: Vec<&str> = dumps.iter().filter(lacks).map(String::as_str).collect();
    assert!(missing.is_empty(), "docs/wire.md lacks the {}", missing.join("the "));
}

fn hexdump(bytes: &[u8]) -> String {
    let line = |(at, bytes): (usize, &[u8])| {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:04x}  {}\n", 16 * at, bytes.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}

#[test]
fn wireshark_dissects_the_rtp_packets() {
    let fields = ["rtp.p_type", "rtp.seq", "rtp.timestamp", "rtp.ssrc", "rtp.ext.rfc5285.id", "rtp.ext.rfc5285.data"];
    let Some(seen) = dissect("rtp", &[source_packet(), repair_packet()], &fields) else { return };
    assert_eq!(seen, ["33|4660|90000|0x11111111||", "97|66|90000|0x22222222|1|123201"]);
}

#[test]
fn wireshark_dissects_the_rtcp_packets() {
    let datagrams = [hello(), answer(), report(), goodbye(), feedback()];
    let see = |fields: &[&str]| dissect("rtcp", &datagrams, fields);
    let Some(frames) = see(&["rtcp.pt", "rtcp.length_check", "_ws.malformed"]) else { return };
    assert_eq!(
        frames,
        ["200,202,204,204|1|", "201,202,204,204|1|", "201,202,207,204|1|", "201,202,203,204|1|", "205,204|1|",]
    );
    let sender = ["rtcp.timestamp.ntp.msw", "rtcp.timestamp.rtp", "rtcp.sender.packetcount", "rtcp.sender.octetcount"];
    assert_eq!(see(&sender).unwrap()[0], "46853|90000|500|658000");
    let text = ["rtcp.sdes.text", "rtcp.app.name", "rtcp.app.subtype", "rtcp.xr.bt", "rtcp.rtpfb.fmt"];
    let texts = [
        "thalweg-11111111|THLW,THLW|0,2||",
        "thalweg-33333333|THLW,THLW|1,2||",
        "thalweg-33333333|THLW|2|33,33|",
        "thalweg-11111111|THLW|2||",
        "|THLW|2||11",
    ];
    assert_eq!(see(&text).unwrap(), texts);
    let block = ["rtcp.ssrc.fraction", "rtcp.ssrc.cum_nr", "rtcp.ssrc.ext_high", "rtcp.ssrc.jitter", "rtcp.ssrc.dlsr"];
    assert_eq!(see(&block).unwrap()[2], "4|-3|70196|45|344064");
}

/// The values that tshark finds in each datagram; none if there is no tshark.
fn dissect(protocol: &str, datagrams: &[Vec<u8>], fields: &[&str]) -> Option<Vec<String>> {
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{protocol}-{}.pcap", fields.join("-")));
    std::fs::write(&capture, pcap(datagrams)).expect("the directory for tests can be written");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&capture).args(["-d", &format!("udp.port==6000,{protocol}"), "-T", "fields"]);
    tshark.args(["-E", "separator=|"]).args(fields.iter().flat_map(|field| ["-e", field]));
    let output = match tshark.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: tshark does not run here ({error})");
            return None;
        }
    };
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark failed: {error}");
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn ffmpeg_plays_a_stream_from_its_description() {
    if std::env::var_os("THALWEG_TEST_ALL").is_none() {
        println!("skipped: two seconds of real video, only with THALWEG_TEST_ALL=1");
        return;
    }
    if Command::new("ffmpeg").arg("-version").output().is_err() {
        println!("skipped: ffmpeg does not run here");
        return;
    }
    // An even port, as RTP prefers, with the next one free for RTCP; a concurrent run has another process ID.
    let port = 20_000 + (std::process::id() % 10_000) as u16 * 2;
    let description = Description {
        name: "Thalweg".into(),
        session: 1,
        origin: Ipv4Addr::LOCALHOST.into(),
        to: (Ipv4Addr::LOCALHOST, port).into(),
        ttl: DEFAULT_TTL,
        payload: Payload::Mp2t,
        ssrc: None,
        cname: "thalweg".into(),
        feedback: None,
        repair: None,
    };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plain.sdp");
    std::fs::write(&file, description.to_string()).expect("the directory for tests can be written");
    let source = "-v error -re -f lavfi -i testsrc=size=320x240:rate=25 -t 20 -c:v mpeg2video -g 5 -f rtp_mpegts";
    let to = format!("rtp://127.0.0.1:{port}");
    let mut sender = Command::new("ffmpeg").args(source.split(' ')).arg(to).spawn().expect("ffmpeg runs");
    let player = Command::new("timeout")
        .args(["30", "ffmpeg", "-v", "error", "-protocol_whitelist", "file,udp,rtp", "-i"])
        .arg(&file)
        .args(["-frames:v", "25", "-f", "null", "-"])
        .output();
    sender.kill().and_then(|()| sender.wait()).expect("ffmpeg can be ended");
    let player = player.expect("timeout runs");
    assert!(player.status.success(), "ffmpeg: {}", String::from_utf8_lossy(&player.stderr));
}

//! Payload formats beside GStreamer's payloaders and depayloaders, byte for byte. RFC 4571 frames the packets in files.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use thalweg_core::wire::payload::h264::Framing;
use thalweg_core::wire::payload::{Depacketizer, Format, Frame, Packet, Stored};
use thalweg_core::wire::rtp;

/// A codec: the arguments of ffmpeg that make an elementary stream of it, and the elements of GStreamer.
struct Codec {
    format: Format,
    encode: &'static str,
    parse: &'static str,
    pay: &'static str,
    caps: &'static str,
    depay: &'static str,
    /// Limits on packets, of which the least fragments most frames.
    mtus: &'static [usize],
}

const H264: Codec = Codec {
    format: Format::H264,
    encode: "testsrc2=size=640x360:rate=25:d=2 -c:v libx264 -g 12 -bf 2 -x264-params slices=3:aud=1 -f h264",
    parse: "h264parse ! video/x-h264,stream-format=byte-stream,alignment=au",
    pay: "rtph264pay config-interval=0 aggregate-mode=zero-latency",
    caps: "media=video,clock-rate=90000,encoding-name=H264,payload=96",
    depay: "rtph264depay ! video/x-h264,stream-format=byte-stream,alignment=au",
    // At 200 bytes GStreamer 1.22 leaves out packets.
    mtus: &[700, 1400],
};
const MPEG_2: Codec = Codec {
    format: Format::MpegVideo,
    encode: "testsrc2=size=640x360:rate=25:d=2 -c:v mpeg2video -q:v 4 -g 12 -bf 2 -f mpeg2video",
    parse: "mpegvideoparse",
    pay: "rtpmpvpay",
    caps: "media=video,clock-rate=90000,encoding-name=MPV,payload=32",
    depay: "rtpmpvdepay",
    mtus: &[200, 700, 1400],
};
const LAYER_II: Codec = Codec {
    format: Format::MpegAudio,
    encode: "sine=d=2 -c:a mp2 -b:a 192k -f mp2",
    parse: "mpegaudioparse",
    pay: "rtpmpapay",
    caps: "media=audio,clock-rate=90000,encoding-name=MPA,payload=14",
    depay: "rtpmpadepay",
    mtus: &[200, 700, 1400],
};
const AAC: Codec = Codec {
    format: Format::AacHbr,
    encode: "sine=d=2 -c:a aac -b:a 192k -f adts",
    parse: "aacparse ! audio/mpeg,stream-format=raw",
    pay: "rtpmp4gpay",
    caps: "media=audio,clock-rate=44100,encoding-name=MPEG4-GENERIC,payload=97,mode=AAC-hbr,config=1208,\
           sizelength=13,indexlength=3,indexdeltalength=3",
    depay: "rtpmp4gdepay",
    mtus: &[200, 700, 1400],
};

/// The programs of a test and its folder, which is removed at the end.
struct Stage(PathBuf);

impl Stage {
    fn enter(name: &str) -> Option<Stage> {
        let runs = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let elements = ["rtpstreampay", "rtph264pay", "h264parse", "mpegvideoparse"];
        let is_here = runs("ffmpeg", &["-version"])
            && elements.iter().all(|element| runs("gst-inspect-1.0", &["--exists", element]));
        if !is_here {
            println!("skipped: no ffmpeg, or no GStreamer with its good, bad and ugly plugins");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("thalweg-payload-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        Some(Stage(folder))
    }

    fn run(&self, line: &str) {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        let output = command.args(words).current_dir(&self.0).stdin(Stdio::null()).output().expect("it starts");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).expect("a file")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The frames of the packets in a file of GStreamer's.
fn depacketize(format: Format, file: &[u8]) -> Vec<Frame> {
    let (mut depacketizer, mut frames) = (Depacketizer::new(format, 1 << 20), Vec::new());
    let mut rest = file;
    while let Some((&len, after)) = rest.split_first_chunk() {
        let (datagram, after) = after.split_at(u16::from_be_bytes(len).into());
        let rtp::Packet { header, payload, .. } = rtp::Packet::parse(datagram).expect("an RTP packet");
        let packet = Packet { timestamp: header.timestamp, marker: header.marker, after_loss: false, payload };
        depacketizer.push(packet, &mut |frame| frames.push(frame)).expect("a payload");
        rest = after;
    }
    depacketizer.finish(&mut |frame| frames.push(frame));
    frames
}

/// A file of packets, each of at most `max` bytes of payload.
fn packetize(format: Format, frames: &[Frame], max: usize) -> Vec<u8> {
    let (mut file, mut sequence) = (Vec::new(), 0u16);
    for Frame { timestamp, data, .. } in frames {
        let (stored, payload_type) = match format {
            Format::H264 => (Stored::H264(data, Framing::AnnexB), 96),
            Format::AacHbr => (Stored::Aac(data), 97),
            Format::MpegVideo => (Stored::MpegVideo(data), 32),
            Format::MpegAudio => (Stored::MpegAudio(data), 14),
        };
        for payload in stored.packetize(max).expect("a frame") {
            assert!(payload.payload_len() <= max);
            let header = rtp::Header { marker: payload.marker, payload_type, sequence, timestamp: *timestamp, ssrc: 1 };
            sequence = sequence.wrapping_add(1);
            let mut packet = vec![0; rtp::HEADER_LEN + payload.payload_len()];
            let start = header.emit(&[], &mut packet);
            payload.emit(data, &mut packet[start..]);
            file.extend((packet.len() as u16).to_be_bytes());
            file.extend(packet);
        }
    }
    file
}

/// Receives GStreamer's packets of `codec`, and has GStreamer receive ours.
fn exchange(name: &str, codec: &Codec, frames_of: impl Fn(&[u8]) -> Vec<Vec<u8>>) {
    let Some(stage) = Stage::enter(name) else { return };
    stage.run(&format!("ffmpeg -v error -f lavfi -i {} original", codec.encode));
    let original = frames_of(&stage.read("original"));
    assert!(original.len() >= 50, "{} frames", original.len());
    for &mtu in codec.mtus {
        let Codec { parse, pay, caps, depay, .. } = codec;
        let quiet = "gst-launch-1.0 -q filesrc";
        stage.run(&format!(
            "{quiet} location=original ! {parse} ! {pay} mtu={mtu} ! rtpstreampay ! filesink location=theirs"
        ));
        let frames = depacketize(codec.format, &stage.read("theirs"));
        assert!(frames.iter().all(|frame| frame.is_whole), "{name}, MTU {mtu}");
        let got: Vec<_> = frames.iter().map(|frame| &frame.data).collect();
        assert_eq!(got.len(), original.len(), "{name}, MTU {mtu}");
        let different = got.iter().zip(&original).position(|(got, original)| *got != original);
        assert_eq!(different, None, "{name}, MTU {mtu}");

        std::fs::write(stage.0.join("ours"), packetize(codec.format, &frames, mtu - rtp::HEADER_LEN)).expect("a file");
        let stream = format!("application/x-rtp-stream,{caps} ! rtpstreamdepay ! application/x-rtp,{caps}");
        stage.run(&format!("{quiet} location=ours ! {stream} ! {depay} ! filesink location=copy"));
        assert!(stage.read("copy") == original.concat(), "{name}, MTU {mtu}: the copy differs");
    }
}

/// The elementary stream, cut where `begins` finds the first byte of a frame.
fn cut(stream: &[u8], begins: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let starts: Vec<_> = (0..stream.len()).filter(|&at| begins(&stream[at..])).collect();
    let ends = starts.iter().copied().skip(1).chain([stream.len()]);
    starts.iter().zip(ends).map(|(&start, end)| stream[start..end].to_vec()).collect()
}

#[test]
fn h264_is_that_of_gstreamer() {
    // Every access unit begins with a delimiter; ffmpeg writes start codes of three and four bytes.
    exchange("h264", &H264, |stream| {
        let units = cut(stream, |rest| rest.starts_with(&[0, 0, 1]));
        let mut frames: Vec<Vec<u8>> = Vec::new();
        for unit in units {
            if unit[3] & 0x1f == 9 {
                frames.push(Vec::new());
            }
            let zeros = unit.iter().rev().take_while(|&&byte| byte == 0).count();
            let frame = frames.last_mut().expect("a delimiter first");
            frame.push(0);
            frame.extend(&unit[..unit.len() - zeros]);
        }
        frames
    });
}

/// The pictures of a stream, each with the headers before it.
fn pictures(stream: &[u8]) -> Vec<Vec<u8>> {
    let (mut pictures, mut has_picture) = (vec![Vec::new()], false);
    for unit in cut(stream, |rest| rest.starts_with(&[0, 0, 1])) {
        if has_picture && matches!(unit[3], 0x00 | 0xb3 | 0xb8) {
            pictures.push(Vec::new());
            has_picture = false;
        }
        has_picture |= unit[3] == 0;
        pictures.last_mut().expect("a picture").extend(unit);
    }
    pictures
}

#[test]
fn mpeg_2_video_is_that_of_gstreamer() {
    exchange("mpeg2", &MPEG_2, pictures);
}

#[test]
fn mpeg_audio_is_that_of_gstreamer() {
    // 192 kb/s at 44.1 kHz: frames of 626 or 627 bytes by their padding.
    exchange("layer2", &LAYER_II, |mut stream| {
        let mut frames = Vec::new();
        while let Some(header) = stream.first_chunk::<4>() {
            let (frame, rest) = stream.split_at(626 + usize::from(header[2] >> 1 & 1));
            frames.push(frame.to_vec());
            stream = rest;
        }
        frames
    });
}

#[test]
fn aac_is_that_of_gstreamer() {
    // ADTS (ISO/IEC 13818-7 §6.2): a header of seven bytes without CRC, whose bits 30 to 42 are the length with it.
    exchange("aac", &AAC, |mut stream| {
        let mut frames = Vec::new();
        while let Some(&[_, _, _, l0, l1, l2, _]) = stream.first_chunk() {
            let len = usize::from(l0 & 3) << 11 | usize::from(l1) << 3 | usize::from(l2 >> 5);
            frames.push(stream[7..len].to_vec());
            stream = &stream[len..];
        }
        frames
    });
}

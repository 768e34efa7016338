//! ffmpeg, GStreamer and retina play to the end, over UDP and interleaved, and seek.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use retina::client::{PlayOptions, Session, SessionOptions, SetupOptions, Transport, UdpTransportOptions};
use retina::codec::CodecItem;
use thalweg_core::wire::payload::h264::{Framing, NalUnits};
use thalweg_serve::catalog::frames::{Index, Track};

use super::stage::{Stage, mp4, run, ts};

/// The hashes of the pictures that ffmpeg decodes, without any error message.
fn pictures(folder: &Path, options: &str, input: &str) -> Vec<String> {
    hashes(folder, &format!("ffmpeg -v error {options} -i {input} -map 0:v:0 -fps_mode passthrough -f framemd5 -"))
}

/// The hashes of the frames of sound, as they are stored.
fn sound(folder: &Path, options: &str, input: &str) -> Vec<String> {
    // The headers of ADTS, which a transport stream has and RTP has not, are left out.
    let filter = if input == "h264.ts" { "-bsf:a aac_adtstoasc" } else { "" };
    hashes(folder, &format!("ffmpeg -v error {options} -i {input} -map 0:a:0 -c copy {filter} -f framemd5 -"))
}

fn hashes(folder: &Path, line: &str) -> Vec<String> {
    let output = run(folder, line).expect("ffmpeg");
    let errors = String::from_utf8_lossy(&output.stderr);
    // ffmpeg 5.1 looks for a picture in every packet, also in that of an access unit delimiter.
    let complaint = errors.lines().find(|line| !line.contains("missing picture in access unit") && !line.is_empty());
    assert!(output.status.success() && complaint.is_none(), "{line}: {errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    // Stream, DTS, PTS, duration, size, hash; then data beside the frame, if there is any.
    lines.map(|line| line.split(',').nth(5).unwrap_or_default().trim().to_owned()).collect()
}

/// Expects that ffmpeg gets the same pictures and the same sound from the server as from the file.
fn expect_same(stage: &Stage, name: &str, transport: &str) {
    for (kind, hashes) in [("pictures", pictures as fn(&Path, &str, &str) -> Vec<String>), ("sound", sound)] {
        let original = hashes(&stage.folder, "", name);
        let played = hashes(&stage.folder, &format!("-rtsp_transport {transport}"), &stage.url(name));
        let same = original.iter().zip(&played).take_while(|(a, b)| a == b).count();
        assert_eq!((played.len(), same), (original.len(), original.len()), "{name}, {transport}, {kind}");
    }
}

#[test]
fn ffmpeg_plays_mp4_frame_for_frame_over_udp_and_interleaved() {
    let Some(stage) = Stage::new("mp4", |folder| mp4(folder, "a.mp4", 4)) else { return };
    expect_same(&stage, "a.mp4", "udp");
    expect_same(&stage, "a.mp4", "tcp");
}

#[test]
fn ffmpeg_plays_transport_streams_frame_for_frame() {
    let make = |folder: &Path| {
        ts(folder, "mpeg1.ts", "-c:v mpeg1video -c:a mp2", 3)
            && ts(folder, "mpeg2.ts", "-c:v mpeg2video -c:a mp2", 3)
            && ts(folder, "h264.ts", "-c:v libx264 -c:a aac", 3)
    };
    let Some(stage) = Stage::new("ts", make) else { return };
    for name in ["mpeg1.ts", "mpeg2.ts", "h264.ts"] {
        expect_same(&stage, name, "tcp");
    }
    expect_same(&stage, "mpeg1.ts", "udp");
}

/// The NAL units of a byte stream.
fn units(stream: &[u8]) -> Vec<Vec<u8>> {
    let starts: Vec<_> = (0..stream.len()).filter(|&at| stream[at..].starts_with(&[0, 0, 1])).collect();
    let ends = starts.iter().copied().skip(1).chain([stream.len()]);
    let unit = |(&start, end): (&usize, usize)| {
        let unit = &stream[start + 3..end];
        let zeros = unit.iter().rev().take_while(|&&byte| byte == 0).count();
        unit[..unit.len() - zeros].to_vec()
    };
    starts.iter().zip(ends).map(unit).collect()
}

/// The slices of a byte stream, without parameter sets and delimiters, which a parser repeats.
fn slices(stream: &[u8]) -> Vec<Vec<u8>> {
    units(stream).into_iter().filter(|unit| matches!(unit[0] & 0x1f, 1 | 5)).collect()
}

#[test]
fn gstreamer_receives_every_slice_over_udp_and_interleaved() {
    let Some(stage) = Stage::new("gstreamer", |folder| mp4(folder, "a.mp4", 3)) else { return };
    if run(&stage.folder, "gst-inspect-1.0 --exists rtspsrc").is_none_or(|output| !output.status.success()) {
        return println!("skipped: GStreamer with its good plugins is not installed");
    }
    run(&stage.folder, "ffmpeg -v error -i a.mp4 -map 0:v -c copy -bsf:v h264_mp4toannexb -f h264 a.h264")
        .expect("ffmpeg");
    let original = slices(&std::fs::read(stage.folder.join("a.h264")).expect("a file"));
    for protocol in ["udp", "tcp"] {
        let source = format!("rtspsrc location={} protocols={protocol} latency=500 name=s", stage.url("a.mp4"));
        let sinks = format!(
            "s. ! rtph264depay ! h264parse ! video/x-h264,stream-format=byte-stream ! filesink location={protocol}"
        );
        let line = format!("gst-launch-1.0 -q -e {source} {sinks} s. ! rtpmp4gdepay ! fakesink");
        let output = run(&stage.folder, &line).expect("GStreamer");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let got = slices(&std::fs::read(stage.folder.join(protocol)).expect("a copy"));
        let same = original.iter().zip(&got).take_while(|(a, b)| a == b).count();
        assert_eq!((got.len(), same), (original.len(), original.len()), "{protocol}");
    }
}

#[test]
fn ffmpeg_seeks_to_the_random_access_point_before() {
    let Some(stage) = Stage::new("seek", |folder| mp4(folder, "a.mp4", 6)) else { return };
    let original = pictures(&stage.folder, "", "a.mp4");
    for transport in ["udp", "tcp"] {
        let options = format!("-rtsp_transport {transport} -noaccurate_seek -ss 3.5");
        let played = pictures(&stage.folder, &options, &stage.url("a.mp4"));
        // Random access points are 25 frames apart, at 25 frames a second.
        assert_eq!(played.len(), 75, "{transport}");
        assert!(played == original[75..], "{transport}: other frames");
    }
}

/// The bytes of all frames of a track, as the index has them.
fn stored(stage: &Stage, name: &str, track: impl Fn(&Index) -> &Track) -> Vec<Vec<u8>> {
    let mut file = File::open(stage.folder.join(name)).expect("a file");
    let index = Index::read(&mut file).expect("an index");
    let track = track(&index);
    let fetch = |frame| {
        let mut bytes = Vec::new();
        track.fetch(&file, frame, &mut bytes).expect("a frame");
        bytes
    };
    track.frames.iter().map(fetch).collect()
}

/// The frames that retina receives, until it has as many as there are.
async fn receive(url: &str, transport: Transport, frames: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let url = url.parse().expect("a URL");
    let mut session = Session::describe(url, SessionOptions::default()).await.expect("a description");
    for nth in 0..session.streams().len() {
        session.setup(nth, SetupOptions::default().transport(transport.clone())).await.expect("a transport");
    }
    let session = session.play(PlayOptions::default()).await.expect("it plays");
    let mut demuxed = std::pin::pin!(session.demuxed().expect("formats"));
    let (mut pictures, mut sound) = (Vec::new(), Vec::new());
    while pictures.len() + sound.len() < frames {
        match demuxed.next().await.expect("frames").expect("a frame") {
            CodecItem::VideoFrame(frame) => pictures.push(frame.data().to_vec()),
            CodecItem::AudioFrame(frame) => sound.push(frame.data().to_vec()),
            _ => {}
        }
    }
    (pictures, sound)
}

#[test]
fn retina_receives_every_frame_over_udp_and_interleaved() {
    let Some(stage) = Stage::new("retina", |folder| mp4(folder, "a.mp4", 3)) else { return };
    let pictures = stored(&stage, "a.mp4", |index| &index.video);
    let sound = stored(&stage, "a.mp4", |index| index.audio.as_ref().expect("sound"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for transport in [Transport::default(), Transport::Udp(UdpTransportOptions::default())] {
        let url = stage.url("a.mp4");
        let received = receive(&url, transport.clone(), pictures.len() + sound.len());
        let received = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), received).await });
        let (got_pictures, got_sound) = received.expect("frames in time");
        assert!(got_sound == sound, "{transport:?}: {} of {} frames of sound", got_sound.len(), sound.len());
        assert_eq!(got_pictures.len(), pictures.len(), "{transport:?}");
        // retina leaves out what is no slice, such as the encoder's notes (SEI) in the first picture.
        let different = got_pictures.iter().zip(&pictures).position(|(got, sent)| coded(got) != coded(sent));
        assert_eq!(different, None, "{transport:?}");
    }
}

/// The slices of a picture in the form of MP4.
fn coded(picture: &[u8]) -> Vec<&[u8]> {
    let units = NalUnits::new(picture, Framing::LengthPrefixed { size: 4 });
    units.map(|unit| &picture[unit.expect("a unit")]).filter(|unit| matches!(unit[0] & 0x1f, 1 | 5)).collect()
}

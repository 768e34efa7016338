//! Payload formats: arbitrary packets result in bounded frames, and a frame that could be packetized arrives whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::payload::h264::Framing;
use thalweg_core::wire::payload::{Depacketizer, Format, MIN_PAYLOAD, Packet, Stored};

const LIMIT: usize = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let Some((&[choice, max], data)) = data.split_first_chunk() else { return };
    let format = [Format::H264, Format::AacHbr, Format::MpegVideo, Format::MpegAudio][usize::from(choice & 3)];
    receive(format, data);
    let stored = match format {
        Format::H264 if choice & 4 == 0 => Stored::H264(data, Framing::AnnexB),
        Format::H264 => Stored::H264(data, Framing::LengthPrefixed { size: choice >> 3 & 7 }),
        Format::AacHbr => Stored::Aac(data),
        Format::MpegVideo => Stored::MpegVideo(data),
        Format::MpegAudio => Stored::MpegAudio(data),
    };
    there_and_back(format, stored, MIN_PAYLOAD + usize::from(max));
});

/// Takes packets, each of which follows its length, flags and timestamp.
fn receive(format: Format, mut data: &[u8]) {
    let mut depacketizer = Depacketizer::new(format, LIMIT);
    let mut deliver = |frame: thalweg_core::wire::payload::Frame| assert!(frame.data.len() <= LIMIT);
    while let Some((&[len, flags], rest)) = data.split_first_chunk() {
        let (payload, rest) = rest.split_at(rest.len().min(len.into()));
        let (marker, after_loss) = (flags & 1 != 0, flags & 2 != 0);
        let _ = depacketizer.push(Packet { timestamp: (flags >> 2).into(), marker, after_loss, payload }, &mut deliver);
        data = rest;
    }
    depacketizer.finish(&mut deliver);
}

fn there_and_back(format: Format, stored: Stored<'_>, max: usize) {
    let Ok(payloads) = stored.packetize(max) else { return };
    let mut depacketizer = Depacketizer::new(format, LIMIT);
    let (mut buf, mut bytes, mut refused) = ([0; MIN_PAYLOAD + 255], 0, false);
    for payload in payloads {
        let len = payload.emit(stored.bytes(), &mut buf);
        assert!(len <= max);
        let packet = Packet { timestamp: 1, marker: payload.marker, after_loss: false, payload: &buf[..len] };
        // Only the headers of audio frames are not seen by the packetizer.
        refused |= depacketizer.push(packet, &mut |frame| bytes += frame.data.len()).is_err();
    }
    match format {
        Format::AacHbr | Format::MpegVideo => assert_eq!(bytes, stored.bytes().len()),
        Format::H264 => assert!(!refused),
        Format::MpegAudio => {}
    }
}

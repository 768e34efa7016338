//! All formats: frames to packets and back, with any limit, after losses, and from arbitrary bytes.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 1 << 20;

/// A depacketizer with what it has delivered.
struct Receiver {
    depacketizer: Depacketizer,
    frames: Vec<Frame>,
}

impl Receiver {
    fn new(format: Format, limit: usize) -> Receiver {
        Receiver { depacketizer: Depacketizer::new(format, limit), frames: Vec::new() }
    }

    fn push(&mut self, timestamp: u32, marker: bool, after_loss: bool, payload: &[u8]) -> Result<(), Error> {
        let packet = Packet { timestamp, marker, after_loss, payload };
        self.depacketizer.push(packet, &mut |frame| self.frames.push(frame))
    }

    fn finish(mut self) -> Vec<Frame> {
        self.depacketizer.finish(&mut |frame| self.frames.push(frame));
        self.frames
    }
}

/// A frame of a format as it is stored, and as a depacketizer delivers it.
#[derive(Clone, Debug)]
struct Sample {
    format: Format,
    framing: h264::Framing,
    stored: Vec<u8>,
    delivered: Vec<u8>,
}

impl Sample {
    fn stored(&self) -> Stored<'_> {
        match self.format {
            Format::H264 => Stored::H264(&self.stored, self.framing),
            Format::AacHbr => Stored::Aac(&self.stored),
            Format::MpegVideo => Stored::MpegVideo(&self.stored),
            Format::MpegAudio => Stored::MpegAudio(&self.stored),
        }
    }

    fn payloads(&self, max: usize) -> Vec<(Vec<u8>, bool)> {
        let written = |payload: Payload| {
            let mut bytes = vec![0xff; payload.payload_len()];
            payload.emit(&self.stored, &mut bytes);
            (bytes, payload.marker)
        };
        self.stored().packetize(max).expect("a frame of its format").map(written).collect()
    }
}

/// Bytes without a start code in them, as emulation prevention leaves them, of which the last is not zero.
fn body(len: core::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![3 => 2u8..=255, 1 => Just(0x80)], len)
}

fn h264() -> impl Strategy<Value = Sample> {
    // An access unit delimiter (9) is the first NAL unit of its access unit, if it has one.
    let kind = (1u8..24).prop_filter("no delimiter", |kind| *kind != 9);
    let unit = (0u8..4, kind, body(0..4000)).prop_map(|(importance, kind, mut unit)| {
        unit.insert(0, importance << 5 | kind);
        unit
    });
    let framing =
        prop_oneof![Just(h264::Framing::AnnexB), (2u8..=4).prop_map(|size| h264::Framing::LengthPrefixed { size })];
    let units = prop::collection::vec((unit, any::<bool>()), 1..6);
    (units, framing, any::<bool>()).prop_map(|(mut units, framing, has_delimiter)| {
        if has_delimiter {
            units.insert(0, (vec![9, 0xf0], true));
        }
        let (mut stored, mut delivered) = (Vec::new(), Vec::new());
        for (unit, has_long_start) in units {
            match framing {
                h264::Framing::AnnexB => stored.extend(if has_long_start { &[0, 0, 0, 1][..] } else { &[0, 0, 1] }),
                h264::Framing::LengthPrefixed { size } => {
                    stored.extend(&(unit.len() as u32).to_be_bytes()[4 - usize::from(size)..]);
                }
            }
            stored.extend(&unit);
            delivered.extend([0, 0, 0, 1]);
            delivered.extend(unit);
        }
        Sample { format: Format::H264, framing, stored, delivered }
    })
}

fn same(format: Format, bytes: Vec<u8>) -> Sample {
    Sample { format, framing: h264::Framing::AnnexB, delivered: bytes.clone(), stored: bytes }
}

fn mpeg_video() -> impl Strategy<Value = Sample> {
    let slices = prop::collection::vec((1u8..=0xaf, body(1..1500)), 0..12);
    (any::<bool>(), prop::collection::vec(any::<u8>(), 4..10), slices).prop_map(
        |(has_sequence, mut picture, slices)| {
            picture.iter_mut().for_each(|byte| *byte |= 2);
            let mut frame = Vec::new();
            if has_sequence {
                frame.extend([0, 0, 1, 0xb3, 0x16, 0x01, 0x20, 0x13, 0, 0, 1, 0xb8, 0x80, 0x08]);
            }
            frame.extend([0, 0, 1, 0]);
            frame.extend(picture);
            for (row, slice) in slices {
                frame.extend([0, 0, 1, row]);
                frame.extend(slice);
            }
            same(Format::MpegVideo, frame)
        },
    )
}

fn mpeg_audio() -> impl Strategy<Value = Sample> {
    // Layers, bit rates and sampling rates of MPEG-1 and MPEG-2.
    (0u8..4, prop::sample::select(vec![0u8, 2, 3]), 1u8..4, 1u8..15, 0u8..3, 0u8..2, any::<u8>()).prop_map(
        |(_, version, layer, rate, sampling, padding, fill)| {
            let header = [0xff, 0xe0 | version << 3 | layer << 1 | 1, rate << 4 | sampling << 2 | padding << 1, 0];
            let len = mpeg_audio::FrameHeader::parse(&header).expect("a header").len;
            let mut frame = header.to_vec();
            frame.resize(len, fill);
            same(Format::MpegAudio, frame)
        },
    )
}

fn aac() -> impl Strategy<Value = Sample> {
    prop::collection::vec(any::<u8>(), 1..=aac::MAX_LEN).prop_map(|unit| same(Format::AacHbr, unit))
}

fn sample() -> impl Strategy<Value = Sample> {
    prop_oneof![h264(), aac(), mpeg_video(), mpeg_audio()]
}

fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(vec![Format::H264, Format::AacHbr, Format::MpegVideo, Format::MpegAudio])
}

fn max() -> impl Strategy<Value = usize> {
    prop_oneof![MIN_PAYLOAD..64, 64usize..1500, Just(65_000)]
}

proptest! {
    #[test]
    fn frames_round_trip_within_any_limit(sample in sample(), max in max()) {
        let payloads = sample.payloads(max);
        let mut receiver = Receiver::new(sample.format, LIMIT);
        for (payload, marker) in &payloads {
            prop_assert!((1..=max).contains(&payload.len()));
            receiver.push(7, *marker, false, payload).unwrap();
        }
        // The last packet ends the frame, not the end of the stream.
        let before_the_end = receiver.frames.clone();
        let frame = Frame { timestamp: 7, data: sample.delivered.clone(), is_whole: true };
        prop_assert_eq!(before_the_end, vec![frame]);
        prop_assert!(receiver.finish().len() == 1);
        let has_marker = sample.format != Format::MpegAudio;
        for (nth, (_, marker)) in payloads.iter().enumerate() {
            prop_assert_eq!(*marker, has_marker && nth + 1 == payloads.len());
        }
    }

    #[test]
    fn packets_are_counted_without_being_built(sample in sample(), max in max()) {
        let built = sample.payloads(max).len();
        let counted = match sample.format {
            Format::H264 => h264::NalUnits::new(&sample.stored, sample.framing)
                .map(|unit| h264::packets(unit.unwrap().len(), max))
                .sum(),
            Format::AacHbr => aac::packets(sample.stored.len(), max),
            Format::MpegAudio => mpeg_audio::packets(sample.stored.len(), max),
            Format::MpegVideo => sample.stored().packetize(max).unwrap().count(),
        };
        prop_assert_eq!(counted, built);
    }

    #[test]
    fn no_frame_with_a_lost_packet_is_whole(
        frames in prop::collection::vec(sample(), 3), max in 64usize..700, lost: prop::sample::Index,
    ) {
        let format = frames[0].format;
        let frames: Vec<_> = frames.into_iter().filter(|frame| frame.format == format).collect();
        let packets: Vec<_> = (0..).zip(&frames).flat_map(|(nth, frame)| {
            frame.payloads(max).into_iter().map(move |(payload, marker)| (nth, payload, marker))
        }).collect();
        let lost = lost.index(packets.len());
        let mut receiver = Receiver::new(format, LIMIT);
        for (at, (nth, payload, marker)) in packets.iter().enumerate().filter(|(at, _)| *at != lost) {
            // The packet is lost, not malformed; what follows may be useless without it.
            let _ = receiver.push(*nth, *marker, at == lost + 1, payload);
        }
        for frame in receiver.finish() {
            prop_assert!(frame.timestamp != packets[lost].0 || !frame.is_whole);
            prop_assert!(!frame.is_whole || frame.data == frames[frame.timestamp as usize].delivered);
        }
    }

    #[test]
    fn arbitrary_payloads_stay_within_the_limit(
        format in format(),
        packets in prop::collection::vec((0u32..3, any::<(bool, bool)>(), prop::collection::vec(any::<u8>(), 0..200)), 0..40),
    ) {
        let mut receiver = Receiver::new(format, 300);
        for (timestamp, (marker, after_loss), payload) in packets {
            let _ = receiver.push(timestamp, marker, after_loss, &payload);
        }
        prop_assert!(receiver.finish().iter().all(|frame| frame.data.len() <= 300));
    }

    #[test]
    fn arbitrary_frames_are_packetized_or_refused(format in format(), frame: Vec<u8>, size in 0u8..6, max in 0usize..40) {
        let framings = [h264::Framing::AnnexB, h264::Framing::LengthPrefixed { size }];
        for framing in framings {
            let sample = Sample { format, framing, stored: frame.clone(), delivered: Vec::new() };
            if let Ok(payloads) = sample.stored().packetize(max) {
                prop_assert!(payloads.map(|payload| payload.payload_len()).all(|len| len <= max));
            }
        }
    }
}

#[test]
fn large_nal_unit_is_fragmented_as_in_rfc_6184() {
    // §5.8: the FU indicator has F and NRI of the NAL unit and type 28; the FU header S, E and the type.
    let mut frame = vec![0, 0, 0, 1, 0x65];
    frame.extend(0x10..0x1d);
    let sample = Sample { format: Format::H264, framing: h264::Framing::AnnexB, stored: frame, delivered: vec![] };
    let payloads: Vec<_> = sample.payloads(8);
    assert_eq!(
        payloads,
        [
            (vec![0x7c, 0x85, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15], false),
            (vec![0x7c, 0x05, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b], false),
            (vec![0x7c, 0x45, 0x1c], true),
        ]
    );
}

#[test]
fn aggregated_nal_units_are_separated() {
    // RFC 6184 §5.7.1, Figure 7: two NAL units, each after its size.
    let mut receiver = Receiver::new(Format::H264, LIMIT);
    receiver.push(1, true, false, &[0x78, 0, 3, 0x67, 1, 2, 0, 2, 0x68, 3]).unwrap();
    assert_eq!(receiver.frames[0].data, [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 3]);
    assert_eq!(receiver.push(1, true, false, &[0x78, 0, 3, 0x67, 1]), Err(Error::Length));
    assert_eq!(receiver.push(1, true, false, &[0x78, 0, 1, 0x67, 1]), Err(Error::Truncated));
    assert!(receiver.finish().iter().skip(1).all(|frame| !frame.is_whole));
}

#[test]
fn types_that_the_mode_does_not_have_are_refused() {
    // STAP-B, MTAP16, MTAP24 and FU-B belong to packetization-mode 2; 0, 30 and 31 are reserved (RFC 6184 §5.2).
    for kind in [0, 25, 26, 27, 29, 30, 31] {
        let mut receiver = Receiver::new(Format::H264, LIMIT);
        assert_eq!(receiver.push(1, true, false, &[0x60 | kind, 1, 2, 3]), Err(Error::Unknown), "{kind}");
        assert!(!receiver.frames[0].is_whole);
    }
}

#[test]
fn several_aac_access_units_follow_each_other_in_time() {
    // RFC 3640 §3.2.1: AU-headers-length 32 bits, sizes 2 and 3, index 0 and index delta 0.
    let mut receiver = Receiver::new(Format::AacHbr, LIMIT);
    receiver.push(u32::MAX, true, false, &[0, 32, 0, 2 << 3, 0, 3 << 3, 1, 2, 3, 4, 5]).unwrap();
    let frames: Vec<_> = receiver.frames.iter().map(|frame| (frame.timestamp, &frame.data[..])).collect();
    assert_eq!(frames, [(u32::MAX, &[1, 2][..]), (1023, &[3, 4, 5])]);
}

#[test]
fn malformed_aac_payloads_are_refused() {
    let refused = |payload: &[u8]| Receiver::new(Format::AacHbr, LIMIT).push(1, true, false, payload);
    assert_eq!(refused(&[0]), Err(Error::Truncated));
    assert_eq!(refused(&[0, 0, 1]), Err(Error::Malformed));
    assert_eq!(refused(&[0, 15, 1, 2]), Err(Error::Malformed));
    assert_eq!(refused(&[0, 32, 0, 8]), Err(Error::Truncated));
    assert_eq!(refused(&[0, 16, 0, 2 << 3 | 1, 1, 2]), Err(Error::Malformed), "interleaved");
    assert_eq!(refused(&[0, 16, 0, 1 << 3, 1, 2]), Err(Error::Length));
}

#[test]
fn audio_frames_have_the_lengths_of_the_standard() {
    // ISO/IEC 11172-3 §2.4.3.1: N = 144 bit rate / sampling rate slots in layer II; 13818-3 halves it in layer III.
    let parse = |b1, b2| mpeg_audio::FrameHeader::parse(&[0xff, b1, b2, 0]).map(|header| (header.len, header.samples));
    assert_eq!(parse(0xfd, 0xa4), Ok((576, 1152)), "layer II, 192 kb/s, 48 kHz");
    assert_eq!(parse(0xfb, 0x90), Ok((417, 1152)), "layer III, 128 kb/s, 44.1 kHz");
    assert_eq!(parse(0xfb, 0x92), Ok((418, 1152)), "with padding");
    assert_eq!(parse(0xff, 0xc8), Ok((12 * 384_000 / 32_000 * 4, 384)), "layer I, 384 kb/s, 32 kHz");
    assert_eq!(parse(0xf3, 0x80), Ok((72 * 64_000 / 22_050, 576)), "MPEG-2 layer III, 64 kb/s, 22.05 kHz");
    assert_eq!(parse(0xfb, 0x00), Err(Error::Malformed), "free format");
    assert_eq!(parse(0xeb, 0x90), Err(Error::Malformed), "reserved version");
    assert_eq!(parse(0xf9, 0x90), Err(Error::Malformed), "reserved layer");
}

#[test]
fn video_header_has_the_fields_of_the_picture_header() {
    // ISO/IEC 11172-2 §2.4.2.5: temporal reference 5, B picture, vbv delay 0xffff, full pel forward 0, forward f code 2,
    // full pel backward 1, backward f code 3, then a slice.
    let (b0, b1) = (5u8 >> 2, (5 & 3) << 6 | 3 << 3 | 7);
    let (b3, b4) = (0xf9, 0x58);
    let frame = [0, 0, 1, 0, b0, b1, 0xff, b3, b4, 0, 0, 1, 1, 0x22, 0x33];
    let payload = Stored::MpegVideo(&frame).packetize(100).unwrap().next().unwrap();
    let (header, rest) = mpeg_video::Header::split(&payload.prefix).unwrap();
    assert!(rest.is_empty());
    let expected = mpeg_video::Header {
        temporal_reference: 5,
        has_sequence_header: false,
        begins_slice: true,
        ends_slice: true,
        picture_type: 3,
        vectors: 0b1011_0010,
    };
    assert_eq!(header, expected);
}

#[test]
fn slices_are_not_divided_if_they_fit() {
    // Three slices of 10 bytes after a picture header of 8: with 24 bytes beside the header two slices fit the first
    // packet with none of the third, and a slice of 10 bytes in packets of 8 is fragmented alone (RFC 2250 §3.1).
    let mut frame = vec![0, 0, 1, 0, 0x02, 0x0f, 0xff, 0xf8];
    for row in 1..=3 {
        frame.extend([0, 0, 1, row, 9, 9, 9, 9, 9, 9]);
    }
    let cut = |max| {
        let payloads = Stored::MpegVideo(&frame).packetize(max).unwrap();
        payloads
            .map(|payload| (payload.range.len(), payload.prefix[2] & 0x10 != 0, payload.prefix[2] & 0x08 != 0))
            .collect::<Vec<_>>()
    };
    assert_eq!(cut(4 + 24), [(18, true, true), (20, true, true)]);
    assert_eq!(cut(4 + 28), [(28, true, true), (10, true, true)]);
    let small = [(12, true, false), (6, false, true), (10, true, true), (10, true, true)];
    assert_eq!(cut(4 + 12), small);
}

#[test]
fn mpeg_2_extension_is_skipped() {
    // RFC 2250 §3.4.1: T is set; E announces one more word, D the composite display extension.
    let mut receiver = Receiver::new(Format::MpegVideo, LIMIT);
    let extended = [4, 0, 0x18, 0, 0x40, 0, 0, 1, 9, 9, 9, 9, 1, 0, 0, 0, 0, 0, 1, 1];
    receiver.push(1, true, false, &extended).unwrap();
    assert_eq!(receiver.frames[0].data, [0, 0, 1, 1]);
    assert_eq!(receiver.push(1, true, false, &extended[..7]), Err(Error::Truncated));
}

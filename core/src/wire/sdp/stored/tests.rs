use proptest::prelude::*;

use super::*;

fn video() -> Presentation {
    Presentation {
        name: "some.mp4".into(),
        session: 7,
        origin: [192, 0, 2, 1].into(),
        duration: Some(Span::from_millis(12_500)),
        control: Some("*".into()),
        attributes: vec![Attribute::new("x-profile", "r3cp+")],
        tracks: vec![
            Track {
                payload_type: 96,
                encoding: Encoding::H264 {
                    parameter_sets: vec![vec![0x67, 0x42, 0x00, 0x0a, 0xf8, 0x41, 0xa2], vec![0x68, 0xce, 0x38, 0x80]],
                },
                control: Some("track1".into()),
                bandwidth: Some(Rate::from_bps(1_200_000)),
                attributes: vec![Attribute { name: "rtcp-mux".into(), value: None }],
            },
            Track {
                payload_type: 97,
                encoding: Encoding::Aac { config: vec![0x12, 0x10], sampling_rate: 44_100, channels: 2 },
                control: Some("track2".into()),
                bandwidth: None,
                attributes: vec![],
            },
        ],
    }
}

#[test]
fn description_has_the_lines_of_the_rfcs() {
    let expected = "v=0\r\no=- 7 1 IN IP4 192.0.2.1\r\ns=some.mp4\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n\
        a=control:*\r\na=range:npt=0-12.500\r\na=x-profile:r3cp+\r\n\
        m=video 0 RTP/AVP 96\r\nb=AS:1200\r\na=rtpmap:96 H264/90000\r\n\
        a=fmtp:96 packetization-mode=1;profile-level-id=42000A;sprop-parameter-sets=Z0IACvhBog==,aM44gA==\r\n\
        a=control:track1\r\na=rtcp-mux\r\n\
        m=audio 0 RTP/AVP 97\r\na=rtpmap:97 mpeg4-generic/44100/2\r\n\
        a=fmtp:97 streamtype=5;profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1210\r\n\
        a=control:track2\r\n";
    assert_eq!(video().to_string(), expected);
}

/// A description that ffmpeg 5.1 wrote for H.264 and AAC (`-sdp_file`).
const FFMPEG: &str = "\
    v=0\r\n\
    o=- 0 0 IN IP4 127.0.0.1\r\n\
    s=No Name\r\n\
    t=0 0\r\n\
    a=tool:libavformat LIBAVFORMAT_VERSION\r\n\
    m=video 45678 RTP/AVP 96\r\n\
    c=IN IP4 127.0.0.1\r\n\
    a=rtpmap:96 H264/90000\r\n\
    a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0LADdkBQfsBEAAAAwAQAAADAyDxQqSA,aMuDyyA=; profile-level-id=42C00D\r\n\
    m=audio 45680 RTP/AVP 97\r\n\
    c=IN IP4 127.0.0.1\r\n\
    b=AS:69\r\n\
    a=rtpmap:97 MPEG4-GENERIC/44100/1\r\n\
    a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3; config=120856E500\r\n";

#[test]
fn description_of_ffmpeg_is_parsed() {
    let parsed = Presentation::parse(FFMPEG).expect("a description");
    let [video, audio] = &parsed.tracks[..] else { panic!("{parsed:?}") };
    let Encoding::H264 { parameter_sets } = &video.encoding else { panic!("{video:?}") };
    // ITU-T H.264 §7.3.1: a sequence parameter set (type 7) of the profile 66 at level 1.3, and a picture parameter set.
    assert_eq!(parameter_sets[0][..4], [0x67, 0x42, 0xc0, 0x0d]);
    assert_eq!(parameter_sets[1][0], 0x68);
    // ISO/IEC 14496-3 §1.6.2.1: object type 2 (LC), sampling index 4 (44.1 kHz), one channel, SBR not there (sync extension).
    let config = vec![0x12, 0x08, 0x56, 0xe5, 0x00];
    assert_eq!(audio.encoding, Encoding::Aac { config, sampling_rate: 44_100, channels: 1 });
    assert_eq!((parsed.duration, video.control.as_deref()), (None, None));
}

#[test]
fn other_encodings_and_media_are_named_or_left_out() {
    let text = "v=0\r\nm=video 0 RTP/AVP 98\r\na=rtpmap:98 H265/90000\r\nm=audio 0 RTP/AVP 0\r\n\
        m=audio 0 RTP/AVP 97\r\na=rtpmap:97 mpeg4-generic/48000\r\na=fmtp:97 mode=AAC-lbr; sizelength=6\r\n\
        m=application 9 UDP/FEC *\r\na=control:none\r\n";
    let parsed = Presentation::parse(text).expect("a description");
    let names: Vec<_> = parsed.tracks.iter().map(|track| &track.encoding).collect();
    let other =
        |media: &str, name: &str, clock_rate| Encoding::Other { media: media.into(), name: name.into(), clock_rate };
    let expected = [
        &other("video", "H265", 90_000),
        &other("audio", "payload type 0", 90_000),
        &other("audio", "mpeg4-generic", 48_000),
    ];
    assert_eq!(names, expected);
    assert_eq!(parsed.control, None);
}

#[test]
fn faults_name_their_line() {
    let fault = |text: &str| Presentation::parse(text).expect_err(text).to_string();
    assert_eq!(fault("o=- 1 1 IN IP4 0.0.0.0"), "SDP: line 1: v=0 is missing");
    assert_eq!(fault("v=0\r\nnonsense"), "SDP: line 2: not of the form x=...");
    assert_eq!(fault("v=0\r\na=range:npt=5-1\r\n"), "SDP: line 2: a=range is malformed");
    assert_eq!(fault("v=0\r\nm=video 0 RTP/AVP 96\r\n"), "SDP: line 2: the payload type has no a=rtpmap");
    assert_eq!(fault("v=0\nm=video 0 RTP/AVP 200\n"), "SDP: line 2: m= has no payload type");
    let h264 = "v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\na=fmtp:96 sprop-parameter-sets=!\n";
    assert_eq!(fault(h264), "SDP: line 2: sprop-parameter-sets is not Base64");
    assert_eq!(fault(&"v=0\n".repeat(20_000)), "SDP: longer than 64 KiB");
    assert_eq!(fault(&format!("v=0\n{}", "m=video 0 RTP/AVP 32\n".repeat(20))), "SDP: line 18: more than 16 tracks");
    assert_eq!(fault(&format!("v=0\n{}", "a=x\n".repeat(80))), "SDP: line 66: more than 64 attributes");
}

fn encoding() -> impl Strategy<Value = (u8, Encoding)> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..20);
    prop_oneof![
        prop::collection::vec(bytes(), 0..3).prop_map(|parameter_sets| (96, Encoding::H264 { parameter_sets })),
        (bytes(), 1u32..100_000, any::<u8>())
            .prop_map(|(config, sampling_rate, channels)| (97, Encoding::Aac { config, sampling_rate, channels })),
        Just((32, Encoding::MpegVideo)),
        Just((14, Encoding::MpegAudio)),
    ]
}

proptest! {
    #[test]
    fn descriptions_round_trip(
        encodings in prop::collection::vec(encoding(), 0..4), millis in proptest::option::of(0u64..1_000_000), name in "[ -~]{1,9}",
    ) {
        let tracks = encodings.into_iter().map(|(payload_type, encoding)| Track { payload_type, encoding, ..video().tracks[0].clone() });
        let name = if name == "-" { String::new() } else { name };
        let written = Presentation { name, duration: millis.map(Span::from_millis), tracks: tracks.collect(), ..video() };
        prop_assert_eq!(Presentation::parse(&written.to_string()), Ok(written));
    }

    #[test]
    fn arbitrary_lines_are_parsed_or_refused(lines in prop::collection::vec("[vomab]=[ -~]{0,30}", 0..20), cut in 0usize..900) {
        let _ = Presentation::parse(&format!("v=0\r\n{}", lines.join("\r\n")));
        let text = video().to_string();
        let _ = Presentation::parse(&text[..cut.min(text.len())]);
    }
}

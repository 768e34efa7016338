use super::*;
use crate::wire::rtcp::Compound;
use proptest::prelude::*;

fn only_feedback(bytes: &[u8]) -> Result<Feedback<'_>, Error> {
    Feedback::parse(Compound::parse(bytes)?.frames().next().expect("a compound packet is not empty"))
}

#[test]
fn a_report_has_the_layout_of_rfc_8888_figure_1() {
    let mut buf = [0xff; 64];
    let mut writer = Writer::new(&mut buf);
    let mut builder = Builder::new(&mut writer, 0x0102_0304).unwrap();
    let half_a_second = Arrival { ecn: Ecn::Ce, offset: Offset::Before(512) };
    let late = Arrival { ecn: Ecn::NotEct, offset: Offset::Unknown };
    builder.stream(0x0a0b_0c0d, 0xfffe, [Some(half_a_second), None, Some(late)].into_iter()).unwrap();
    builder.finish(NtpShort(0xb710_8000));
    let len = writer.len();
    let expected = [
        [0x8b, 205, 0, 6],
        [1, 2, 3, 4],
        [0x0a, 0x0b, 0x0c, 0x0d],
        [0xff, 0xfe, 0, 3],
        [0xe2, 0x00, 0, 0],
        [0x9f, 0xff, 0, 0],
        [0xb7, 0x10, 0x80, 0x00],
    ];
    assert_eq!(buf[..len], *expected.as_flattened());
    let feedback = only_feedback(&buf[..len]).unwrap();
    let stream = feedback.streams().next().unwrap();
    let reports: Vec<_> = stream.reports().collect();
    assert_eq!(reports, [(0xfffe, Some(half_a_second)), (0xffff, None), (0, Some(late))]);
}

#[test]
fn predicted_report_length_equals_the_written_one() {
    for packets in 0..=100 {
        let mut buf = [0; 256];
        let mut writer = Writer::new(&mut buf);
        let mut builder = Builder::new(&mut writer, 1).unwrap();
        builder.stream(2, 0, vec![None; packets].into_iter()).unwrap();
        builder.finish(NtpShort(0));
        assert_eq!(writer.len(), packet_len(packets));
    }
}

#[test]
fn arrival_time_offsets_follow_rfc_8888() {
    let now = Time::from_nanos(20_000_000_000);
    assert_eq!(Offset::between(now - Span::from_millis(500), now), Offset::Before(512));
    assert_eq!(Offset::Before(512).to_span(), Some(Span::from_millis(500)));
    let longest = Span::from_secs(1).mul_div(8189, 1024);
    assert_eq!(Offset::between(now - longest, now), Offset::Before(0x1ffd));
    assert_eq!(Offset::between(now - Span::from_secs(7), now), Offset::Before(7 * 1024));
    assert_eq!(Offset::between(now - longest - Span::from_millis(1), now), Offset::OverRange);
    assert_eq!(Offset::between(now + Span::from_nanos(1), now), Offset::Unknown);
}

#[test]
fn stream_may_report_zero_to_16384_packets() {
    let with = |count: u16, words: usize| {
        let mut bytes = vec![0x8b, 205, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0];
        bytes.extend(count.to_be_bytes());
        bytes.resize(bytes.len() + 4 * words + 4, 0);
        let length = (bytes.len() / 4 - 1) as u16;
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        bytes
    };
    assert_eq!(only_feedback(&with(0, 0)).unwrap().streams().next().unwrap().reports().len(), 0);
    assert_eq!(only_feedback(&with(16_384, 8192)).unwrap().streams().next().unwrap().reports().len(), 16_384);
    assert_eq!(only_feedback(&with(16_385, 8193)), Err(Error::Malformed));
    assert_eq!(only_feedback(&with(3, 1)), Err(Error::Length));
    assert_eq!(only_feedback(&with(1, 2)), Err(Error::Truncated));
}

#[test]
fn builder_reports_its_capacity_and_refuses_more() {
    let mut buf = [0; 4 + 4 + 8 + 8 + 4 + 3];
    let mut writer = Writer::new(&mut buf);
    let mut builder = Builder::new(&mut writer, 1).unwrap();
    assert_eq!(builder.room(), 4);
    assert_eq!(builder.stream(2, 0, [None; 5].into_iter()), Err(Full));
    assert_eq!(builder.stream(2, 0, [None; 4].into_iter()), Ok(()));
    assert_eq!(builder.room(), 0);
    assert_eq!(builder.stream(3, 0, [].into_iter()), Err(Full));
    builder.finish(NtpShort(0));
    assert_eq!(writer.len(), 28);
    assert!(Builder::new(&mut Writer::new(&mut [0; 11]), 1).is_err());
}

fn arrival() -> impl Strategy<Value = Option<Arrival>> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]);
    let offset = prop_oneof![(0..OVER_RANGE).prop_map(Offset::Before), Just(Offset::OverRange), Just(Offset::Unknown)];
    prop::option::of((ecn, offset).prop_map(|(ecn, offset)| Arrival { ecn, offset }))
}

proptest! {
    #[test]
    fn feedback_round_trips(
        ssrc: u32,
        stamp: u32,
        streams in prop::collection::vec((any::<(u32, u16)>(), prop::collection::vec(arrival(), 0..40)), 0..4),
    ) {
        let mut buf = [0xff; 1500];
        let mut writer = Writer::new(&mut buf);
        let mut builder = Builder::new(&mut writer, ssrc).unwrap();
        for ((ssrc, begin), arrivals) in &streams {
            builder.stream(*ssrc, *begin, arrivals.iter().copied()).unwrap();
        }
        builder.finish(NtpShort(stamp));
        let len = writer.len();
        let feedback = only_feedback(&buf[..len]).unwrap();
        prop_assert_eq!((feedback.sender_ssrc, feedback.timestamp), (ssrc, NtpShort(stamp)));
        let read: Vec<_> = feedback.streams().map(|stream| {
            ((stream.ssrc, stream.begin), stream.reports().map(|report| report.1).collect::<Vec<_>>())
        }).collect();
        prop_assert_eq!(read, streams);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(body: Vec<u8>) {
        if let Ok(feedback) = Feedback::parse(Frame { count: FORMAT, kind: KIND, body: &body }) {
            let reports: usize = feedback.streams().map(|stream| stream.reports().len()).sum();
            prop_assert!(2 * reports <= body.len());
        }
    }
}

use super::place::class_of;
use super::*;
use crate::video::Class;
use proptest::prelude::*;

fn parsed(subtype: u8, data: &[u8]) -> Result<Option<Message<'_>>, Error> {
    Message::parse(&App { subtype, ssrc: 1, name: NAME, data })
}

fn any_class() -> impl Strategy<Value = Class> {
    (0u8..4).prop_map(|code| class_of(code).expect("a class"))
}

#[test]
fn messages_round_trip() {
    for message in [
        Message::Probe(Probe { key: 1 << 40, number: 7 }),
        Message::Echo(Echo { token: u64::MAX, number: 9 }),
        Message::FlowControl(FlowControl {
            token: 3,
            number: 1 << 20,
            rho: 46.5,
            lambda: 99.125,
            period: Span::from_millis(100),
            playout: Span::from_millis(61_000),
            mode: Mode::InOrder,
        }),
    ] {
        let (subtype, data) = message.emit();
        assert_eq!(parsed(subtype, &data), Ok(Some(message)));
    }
}

#[test]
fn other_names_and_subtypes_are_not_ours() {
    let app = App { subtype: 0, ssrc: 1, name: *b"qtsi", data: &[] };
    assert_eq!(Message::parse(&app), Ok(None));
    assert_eq!(parsed(9, &[0; 40]), Err(Error::Unknown));
    assert_eq!(parsed(FLOW_CONTROL, &[0; 16]), Err(Error::Truncated));
}

#[test]
fn report_claims_no_more_than_it_has() {
    let report = GroupReport {
        number: 1,
        before: Span::ZERO,
        due: Span::ZERO,
        first: 0,
        frames: 3,
        is_end: false,
        sequences: &[[0, 1]],
        classes: &[0x10, 0x02],
    };
    let (subtype, data) = Message::Report(report).emit();
    assert_eq!(parsed(subtype, &data), Ok(Some(Message::Report(report))));
    assert_eq!(parsed(subtype, &data[..data.len() - 1]), Err(Error::Length));
    let mut many = data.clone();
    many[16] = 0xff;
    assert_eq!(parsed(subtype, &many), Err(Error::Malformed));
    let mut tracks = data;
    tracks[19] = 5;
    assert_eq!(parsed(subtype, &tracks), Err(Error::Malformed));
}

#[test]
fn packet_outside_its_frame_is_refused() {
    let place = Place { frame: 1, packet: 3, packets: 3, class: Class::Audio, decode: Span::ZERO, lead: Span::ZERO };
    assert_eq!(Place::parse(&place.emit()), Err(Error::Malformed));
    assert_eq!(Place::parse(&[0; 10]), Err(Error::Length));
}

proptest! {
    #[test]
    fn places_round_trip(
        frame: u32,
        packet in 0u16..u16::MAX,
        more in 1u16..9,
        class in any_class(),
        lead in 0u64..60_000,
        decode in 0u64..1 << 32,
    ) {
        let packets = packet.saturating_add(more);
        let (lead, decode) = (Span::from_micros(100) * lead, Span::from_micros(100) * decode);
        let place = Place { frame, packet, packets, class, decode, lead };
        prop_assert_eq!(Place::parse(&place.emit()), Ok(place));
    }

    #[test]
    fn frames_of_reports_round_trip(
        first in 0u32..1 << 31, frames in prop::collection::vec((any_class(), any::<bool>()), 0..MAX_FRAMES), end: bool,
    ) {
        let classes = GroupReport::classes_of(frames.iter().copied());
        let report = GroupReport {
            number: 5,
            before: Span::from_millis(12),
            due: Span::from_millis(500),
            first,
            frames: frames.len() as u16,
            is_end: end,
            sequences: &[[1, 2], [3, 4]],
            classes: &classes,
        };
        let (subtype, data) = Message::Report(report).emit();
        let app = App { subtype, ssrc: 1, name: NAME, data: &data };
        let Ok(Some(Message::Report(read))) = Message::parse(&app) else { panic!("no report") };
        prop_assert_eq!(read, report);
        let described: Vec<_> = read.described().map(|(_, class, skipped)| (class, skipped)).collect();
        prop_assert_eq!(described, frames);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(subtype in 0u8..5, data in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(Some(Message::Report(report))) = parsed(subtype, &data) {
            prop_assert!(report.described().count() <= MAX_FRAMES);
        }
        let _ = Place::parse(&data);
    }
}

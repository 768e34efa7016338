use proptest::prelude::*;

use super::*;
use crate::law::rate::fixed::Fixed;
use crate::law::schedule::adaptive::{Adaptive, Parameters};
use crate::law::schedule::opportunistic::Opportunistic;
use crate::units::Rate;

type Tested = End<Opportunistic, Fixed>;

fn end() -> Tested {
    let config = Config { frame: 256, window: 16, ..Config::default() };
    End::new(config, Opportunistic::new(), Fixed::new(Rate::from_mbps(10), Span::ZERO)).expect("in range")
}

/// All frames that are due until `until`.
fn frames(end: &mut Tested, until: Time) -> Vec<Vec<u8>> {
    let (mut frames, mut buf) = (Vec::new(), [0; 256]);
    while let Some(now) = end.poll_timeout().filter(|now| *now <= until) {
        end.handle_timeout(now);
        while let Some(len) = end.poll_frame(now, &mut buf) {
            frames.push(buf[..len].to_vec());
        }
    }
    frames
}

proptest! {
    /// Frames that a peer has changed cause no panic, no endless loop, and nothing kept beyond two windows.
    #[test]
    fn corrupted_frames_neither_panic_nor_grow_memory(
        script in prop::collection::vec(any::<u8>(), 1..6000),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..60),
    ) {
        let (mut here, mut there) = (end(), end());
        let (mut written, mut changes) = (0, changes.into_iter());
        for turn in 0..12 {
            let now = Time::ZERO + Span::from_millis(20 * turn);
            written += here.write(now, &script[written..]);
            for (from, to) in [(0, 1), (1, 0)] {
                let ends = [&mut here, &mut there];
                let sent = frames(ends[from], now);
                prop_assert!(sent.len() < 200, "{} frames in 20 ms", sent.len());
                for mut frame in sent {
                    if let Some((place, byte)) = changes.next() {
                        let place = place.index(frame.len());
                        frame[place] = byte;
                    }
                    let ends = [&mut here, &mut there];
                    // Refused or not, the stream goes on.
                    let _ = ends[to].handle_frame(now, &frame);
                }
            }
            prop_assert!(here.receiver().kept() <= 32 && there.receiver().kept() <= 32);
        }
    }
}

/// Three pieces would be repaired by themselves (0.99³ < 0.979), but a fourth is written before.
#[test]
fn a_burst_that_is_written_in_pieces_is_repaired_as_a_whole() {
    let config = Config { frame: 256, window: 16, ..Config::default() };
    let law = Adaptive::new(Parameters::default()).expect("in range");
    let mut end = End::new(config, law, Fixed::new(Rate::from_mbps(10), Span::ZERO)).expect("in range");
    let mut buf = [0; 256];
    for piece in 0..4 {
        let now = Time::ZERO + Span::from_millis(3 * piece);
        assert_eq!(end.write(now, &[7; 100]), 100);
        assert!(end.poll_frame(now, &mut buf).is_some());
        assert_eq!(end.poll_frame(now + Span::from_millis(2), &mut buf), None);
    }
    assert_eq!(end.poll_timeout(), Some(Time::ZERO + Span::from_millis(13)));
    assert!(end.poll_frame(Time::ZERO + Span::from_millis(13), &mut buf).is_some());
    assert_eq!((end.sender().counts().new, end.sender().counts().repair), (4, 1));
}

#[test]
fn values_out_of_range_are_refused() {
    let made = |config| End::new(config, Opportunistic::new(), Fixed::new(Rate::from_mbps(1), Span::ZERO)).is_ok();
    let config = Config::default();
    assert!(made(config) && made(Config { window: MAX_WINDOW, frame: 128, ..config }));
    assert!(!made(Config { window: MAX_WINDOW + 1, ..config }) && !made(Config { window: 1, ..config }));
    assert!(!made(Config { frame: 127, ..config }) && !made(Config { frame: 65_536, ..config }));
    assert!(!made(Config { ack_delay: Span::from_millis(6), ..config }));
    let refused =
        End::new(Config { window: 1, ..config }, Opportunistic::new(), Fixed::new(Rate::from_mbps(1), Span::ZERO));
    assert_eq!(refused.unwrap_err().to_string(), "window must be at least 2 and at most 16380, not 1");
}

/// Our own schedule rests when delivery is sure enough; data written then does not wait for an acknowledgement, however
/// little it is.
#[test]
fn data_written_while_the_schedule_is_idle_leaves_at_once() {
    let law = Adaptive::new(Parameters::default()).expect("the defaults");
    let mut end = End::new(Config::default(), law, Fixed::new(Rate::from_mbps(100), Span::ZERO)).expect("in range");
    let mut buf = [0; 1500];
    end.write(Time::ZERO, b"one");
    let mut now = Time::ZERO;
    while end.poll_frame(now, &mut buf).is_some() {
        now += Span::from_millis(1);
    }
    let idle = end.sender().counts().idle;
    assert_eq!(idle, 1);
    assert!(end.poll_frame(now + Span::from_millis(5), &mut buf).is_none());
    assert_eq!(end.sender().counts().idle, idle, "it is not asked again before something is new");
    end.write(now + Span::from_millis(9), b"two");
    let len = end.poll_frame(now + Span::from_millis(9), &mut buf).expect("it leaves");
    assert!(buf[..len].ends_with(b"two"));
}

#[test]
fn probe_shows_the_path_the_decisions_and_the_laws() {
    let mut end = end();
    end.write(Time::ZERO, &[7; 300]);
    let mut buf = [0; 256];
    while end.poll_frame(Time::ZERO, &mut buf).is_some() {}
    let mut shown = std::collections::BTreeMap::new();
    end.probe(&mut |name, value| {
        shown.insert(name, value);
    });
    assert_eq!((shown["new"], shown["under_way"], shown["rate"]), (1.0, 1.0, 10e6));
    assert!(shown["srtt"].is_nan() && shown["delay_p99"].is_nan());
    assert_eq!((shown["eps"], shown["u"]), (0.01, 0.0));
}

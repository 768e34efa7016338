//! Insertion, waiting and delivery of packets.

use super::*;
use crate::time::Span;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// An RTP packet whose payload is `payload`.
fn packet(payload: u8) -> [u8; rtp::HEADER_LEN + 1] {
    let mut packet = [0; rtp::HEADER_LEN + 1];
    rtp::Header::default().emit(&[], &mut packet);
    packet[rtp::HEADER_LEN] = payload;
    packet
}

fn insert(window: &mut Window, sequence: u64, now: u64) -> Kept {
    window.insert(at(now), sequence, &packet(sequence as u8), at(now), Origin::Path).0
}

#[test]
fn packets_are_delivered_in_order_and_gaps_reported() {
    let mut window = Window::new(100);
    for (sequence, now) in [(100, 0), (103, 1), (102, 2), (103, 3)] {
        let kept = if now == 3 { Kept::Duplicate } else { Kept::New };
        assert_eq!(insert(&mut window, sequence, now), kept);
    }
    assert_eq!(window.take(), Some((&[100][..], at(0))));
    assert_eq!(window.take(), None);
    assert_eq!(window.head(), Some(Head { missing: 1, missed: at(1), produced: at(2), span: 3 }));
    window.skip(1);
    assert_eq!(window.take(), Some((&[102][..], at(2))));
    assert_eq!(insert(&mut window, 101, 4), Kept::Late);
    assert_eq!(insert(&mut window, 102, 4), Kept::Duplicate);
    assert_eq!(window.take(), Some((&[103][..], at(2))));
    assert_eq!(window.head(), None);
}

#[test]
fn received_packet_replaces_a_recovered_one_not_yet_delivered() {
    let mut window = Window::new(100);
    let recover = |window: &mut Window, sequence| window.insert(at(0), sequence, &packet(0), at(0), Origin::Repair).0;
    assert_eq!(recover(&mut window, 100), Kept::New);
    assert_eq!(recover(&mut window, 101), Kept::New);
    assert_eq!(window.take(), Some((&[0][..], at(0))));
    assert_eq!((insert(&mut window, 100, 1), insert(&mut window, 101, 1)), (Kept::Late, Kept::Late));
    assert_eq!(recover(&mut window, 101), Kept::Duplicate, "what came stays");
    assert_eq!(window.take(), Some((&[101][..], at(1))));
    assert_eq!(insert(&mut window, 101, 2), Kept::Duplicate);
}

#[test]
fn production_times_never_decrease() {
    let mut window = Window::new(100);
    insert(&mut window, 100, 500);
    window.insert(at(501), 102, &packet(0), at(3), Origin::Path);
    window.take();
    assert_eq!(window.head().map(|head| head.produced), Some(at(500)));
    insert(&mut window, 101, 502);
    assert_eq!(window.take(), Some((&[101][..], at(502))));
    assert_eq!(window.take(), Some((&[0][..], at(502))));
}

#[test]
fn delivered_packets_are_kept_for_decoding_then_forgotten() {
    let mut window = Window::new(7);
    insert(&mut window, 7, 0);
    window.take();
    assert!(window.adui(7).is_some());
    window.forget(at(1));
    assert!(window.adui(7).is_none());
}

#[test]
fn memory_is_bounded_under_sequence_jumps() {
    let mut window = Window::new(0);
    let mut given_up = 0;
    for jump in 1..400 {
        given_up += window.insert(at(jump), jump * 30_000, &packet(0), at(jump), Origin::Path).1;
        assert!(window.held <= Bytes(MOST.0 + 100), "{:?}", window.held);
    }
    let places = window.places.len() as u64;
    assert_eq!(given_up, 399 * 30_000 + 1 - places, "all but what is here");
    assert!(places * PLACE <= MOST.0);
}

#[test]
fn packets_never_taken_are_discarded_and_counted() {
    let mut window = Window::new(0);
    let large = [packet(0).as_slice(), &[0; 1300]].concat();
    let mut given_up = 0;
    let mut full_at = None;
    for sequence in 0..100_000 {
        given_up += window.insert(at(sequence), sequence, &large, at(sequence), Origin::Path).1;
        full_at = full_at.or(window.is_full().then_some(sequence));
        assert!(full_at.is_some() || given_up == 0, "nothing before it is full");
        assert!(window.held <= Bytes(MOST.0 + 2000));
    }
    // A packet, its place, and what an allocator may add.
    let most = FULL.0 / large.len() as u64;
    assert!((most * 4 / 5..=most).contains(&full_at.expect("as much as fits")), "{full_at:?}");
    assert_eq!(given_up + window.places.len() as u64, 100_000);
    assert_eq!(window.head().map(|head| head.missing), Some(0));
}

#[test]
fn delivered_packets_do_not_fill_the_window() {
    let mut window = Window::new(0);
    let large = [packet(0).as_slice(), &[0; 1300]].concat();
    for sequence in 0..100_000 {
        window.insert(at(sequence), sequence, &large, at(sequence), Origin::Path);
        assert!(window.take().is_some());
    }
    assert!(window.held <= FULL && window.first < window.turn);
    // A full window is relieved by one or two packets at a time.
    let mut taken = 0;
    for sequence in 100_000..200_000 {
        window.insert(at(sequence), sequence, &large, at(sequence), Origin::Path);
        let mut now = 0;
        while window.is_full() {
            window.skip(0);
            assert!(window.take().is_some());
            now += 1;
        }
        assert!(now <= 2, "{now} at once");
        taken += now;
    }
    assert!((40_000..60_000).contains(&taken), "{taken}");
}

//! Stories of a sender and a receiver over virtual time.

mod faults;
mod hostile;
mod pair;
mod path;

use std::collections::BTreeSet;

use self::pair::{Pair, Video};
use self::path::{Datagram, Fault};
use crate::law::playback::{self, Outcome};
use crate::law::rate::r3cp::Parameters;
use crate::session::stored::control::Control;
use crate::session::stored::receiver::Bounds;
use crate::session::stored::{First, Media};
use crate::time::{Span, Time};
use crate::units::{Rate, Seconds};
use crate::video::{Class, Kind};

const SECOND: Span = Span::from_secs(1);

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

/// R3CP+ with two seconds of store and the gate of 30 ms.
fn stored(pair: &Pair) -> Parameters {
    Parameters {
        store: Span::from_secs(2).into(),
        gate: Span::from_millis(30).into(),
        ..Parameters::of_video(pair.mu())
    }
}

#[test]
fn clean_path_delivers_every_frame_in_order_and_in_time() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(25.0));
    let frames: Vec<u32> = pair.played.iter().map(|(_, frame)| frame.index).collect();
    assert_eq!(frames, (0..pair.video.len() as u32).collect::<Vec<_>>());
    // Probes of 0.2 s, two round trips, and half a second of preload at the video's rate.
    assert!(pair.played[0].0 < at(1.2), "{:?}", pair.played[0].0);
    for (time, frame) in &pair.played {
        let due = pair.played[0].0 + frame.decode;
        assert!(*time >= due && time.since(due) < Span::from_millis(1), "{} at {time:?}", frame.index);
    }
    assert_eq!(pair.receiver().tallies(at(25.0)).0.performance(), Some(1.0));
    assert!(pair.is_ended(), "both ends know that the video is over");
}

/// Between sound, packets of a picture leave at other distances than those of the first one, and a B has no time to spare.
#[test]
fn store_without_control_is_there_before_playout() {
    let played = |store: Span| {
        let mut pair = Pair::new(Video::with_sound(20), Span::from_millis(30));
        pair.start(Control::None, Parameters { store: store.into(), ..Parameters::of_video(pair.mu()) });
        pair.run_until(at(15.0));
        (pair.receiver().tallies(at(15.0)).0.performance().expect("pictures"), pair.clock_start())
    };
    let (without, at_once) = played(Span::ZERO);
    let (with, later) = played(SECOND);
    assert!(without < 0.9 && with == 1.0, "{without}, {with}");
    // A flow control period is 0.1 s, and a report takes half a round trip.
    let after = later.since(at_once);
    assert!(after >= SECOND.mul_div(9, 10) && after <= SECOND + Span::from_millis(200), "{after:?}");
}

#[test]
fn videos_own_pace_is_kept_by_ends_that_wake_up_late() {
    let mut pair = Pair::new(Video::with_sound(60), Span::from_millis(30));
    pair.tick(Span::from_millis(10));
    pair.start(Control::None, Parameters { store: Seconds(0.5), ..Parameters::of_video(pair.mu()) });
    pair.run_until(at(55.0));
    assert_eq!(pair.receiver().tallies(at(55.0)).0.performance(), Some(1.0));
    // The store, less the time behind; a period of 0.1 s and a round trip, after which it is known.
    let buffered = pair.receiver().bank().0.0;
    assert!((0.3..0.6).contains(&buffered), "{buffered}");
    let second = pair.bytes_within(at(30.0), at(30.0) + SECOND) as f64;
    let mean = pair.bytes_within(at(10.0), at(50.0)) as f64 / 40.0;
    assert!(second < 1.5 * mean, "no burst: {second} of {mean}");
}

#[test]
fn each_payload_is_delivered_as_it_was_stored() {
    let mut pair = Pair::new(Video::of_seconds(5), Span::from_millis(30));
    pair.path.disturb(Datagram::Media, Fault::Lost, 9);
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(8.0));
    assert!(pair.played.len() > 100, "{}", pair.played.len());
    for (_, frame) in &pair.played {
        let stored: Vec<Vec<u8>> = (0..pair.video[frame.index as usize].packets)
            .map(|packet| Video::payload_of(frame.index, packet, 900))
            .collect();
        assert!(frame.payloads.iter().map(|payload| payload.to_vec()).eq(stored), "frame {}", frame.index);
    }
}

/// The outcomes as the law of playback has them, from what was observed on the path.
fn observed(pair: &Pair, end: Time) -> Vec<Outcome> {
    let start = pair.clock_start();
    // In the order of display, of which each reference is the I or P on either side.
    let mut order: Vec<usize> = (0..pair.video.len()).collect();
    order.sort_by_key(|&index| pair.video[index].display);
    let frame = |&index: &usize| {
        let frame = pair.video[index];
        let Class::Picture(kind) = frame.class else { panic!("audio") };
        let arrivals: Vec<Time> = (0..frame.packets).filter_map(|packet| pair.arrival(index as u32, packet)).collect();
        let arrival = arrivals.iter().copied().max().filter(|_| arrivals.len() == usize::from(frame.packets));
        playback::Frame { kind, sent: pair.is_sent(index as u32), arrival, deadline: start + frame.display }
    };
    let frames: Vec<playback::Frame<Time>> = order.iter().map(frame).collect();
    let known = frames.iter().filter(|frame| frame.deadline <= end).count();
    playback::outcomes(&frames).into_iter().take(known).collect()
}

#[test]
fn receiver_counts_the_outcomes_that_the_law_of_playback_has() {
    // Half of the video's rate passes, and some of it is lost: every outcome but late occurs.
    for (loss, capacity) in [(7, 0.9), (23, 0.7)] {
        let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
        pair.path.disturb(Datagram::Media, Fault::Lost, loss);
        pair.path.limit(capacity * pair.mu());
        pair.start(Control::R3cpPlus, Parameters::of_video(pair.mu()));
        pair.run_until(at(50.0));
        let outcomes = observed(&pair, at(50.0));
        let (tally, _) = pair.receiver().tallies(at(50.0));
        for outcome in Outcome::ALL {
            let count = outcomes.iter().filter(|found| **found == outcome).count() as f64;
            let share = tally.share(outcome).expect("frames");
            // The receiver infers the times of frames of which nothing arrived from their neighbours.
            assert!(
                (share - count / outcomes.len() as f64).abs() < 0.01,
                "{outcome:?}: {share}, {count} of {}",
                outcomes.len()
            );
        }
        assert!(tally.share(Outcome::Skipped).expect("frames") > 0.05);
    }
}

#[test]
fn frame_is_sent_or_skipped_and_never_both() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    pair.path.limit(0.5 * pair.mu());
    pair.start(Control::R3cpPlus, Parameters::of_video(pair.mu()));
    pair.run_until(at(40.0));
    let (sent, skipped) = (pair.sent_frames(), pair.skipped_frames());
    assert!(sent.is_disjoint(&skipped));
    // Those at the end may wait.
    let last = *sent.iter().max().expect("frames") - 60;
    let all: BTreeSet<u32> = sent.union(&skipped).copied().filter(|index| *index < last).collect();
    assert_eq!(all.len(), last as usize);
    assert!(skipped.len() > 100 && sent.len() > 100);
}

#[test]
fn requested_rate_bounds_all_packets_in_every_second() {
    let mut pair = Pair::new(Video::of_seconds(40), Span::from_millis(50));
    pair.path.disturb(Datagram::Media, Fault::Lost, 6);
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(40.0));
    let departures = pair.departures();
    for (nth, &start) in departures.iter().enumerate() {
        let count = departures[nth..].iter().take_while(|time| **time < start + SECOND).count();
        // The packet that opens the window, and one that an earlier rate had planned.
        assert!(count as f64 <= pair.requested(start, start + SECOND) + 2.0, "{count} from {start:?}");
    }
}

#[test]
fn pause_stops_the_sender_and_the_video_goes_on_where_it_stood() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(8.0));
    pair.pause();
    let before = pair.played.len();
    pair.run_until(at(18.0));
    assert_eq!(pair.played.len(), before);
    let sent_while = |from, to| pair.departures().iter().filter(|time| (at(from)..at(to)).contains(*time)).count();
    // The message takes 30 ms.
    assert_eq!(sent_while(8.05, 18.0), 0);
    pair.resume();
    pair.run_until(at(18.0) + Span::from_millis(100));
    assert!(pair.played.len() > before, "the bank plays on at once");
    pair.run_until(at(35.0));
    let frames: Vec<u32> = pair.played.iter().map(|(_, frame)| frame.index).collect();
    assert_eq!(frames, (0..pair.video.len() as u32).collect::<Vec<_>>());
    for (time, frame) in &pair.played {
        let pause = if *time > at(18.0) { SECOND * 10 } else { Span::ZERO };
        let due = pair.clock_start() + frame.decode + pause;
        assert!(*time >= due && time.since(due) < Span::from_millis(1), "{} at {time:?}", frame.index);
    }
    assert_eq!(pair.receiver().tallies(at(35.0)).0.performance(), Some(1.0));
    assert!(pair.is_ended());
}

#[test]
fn video_that_begins_within_has_no_picture_from_before() {
    let video = Video::of_seconds(20);
    // Of an open group: the two B after the I are displayed before it, and refer to a P that is not sent.
    let index = 118;
    let frame = |nth| video.frame(nth).expect("a frame");
    assert_eq!([0, 1, 2, 3].map(|nth| frame(index + nth).class), "IBBP".chars().map(class).collect::<Vec<_>>()[..]);
    let first = First::new(index, frame(index).decode, frame(index).display);
    let mut pair = Pair::beginning(video, Span::from_millis(30), first);
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(20.0));
    let frames: Vec<u32> = pair.played.iter().map(|(_, frame)| frame.index).collect();
    let expected: Vec<u32> =
        (index..pair.video.len() as u32).filter(|nth| ![index + 1, index + 2].contains(nth)).collect();
    assert_eq!(frames, expected);
    assert_eq!(pair.receiver().tallies(at(20.0)).0.performance(), Some(1.0));
}

fn class(letter: char) -> Class {
    Class::Picture(Kind::of(&letter.to_string()).expect("a kind"))
}

#[test]
fn greatest_rate_is_kept_and_frames_are_skipped_for_it() {
    let mut pair = Pair::new(Video::of_seconds(40), Span::from_millis(30));
    let most = 0.7 * pair.mu();
    pair.bound(Bounds { max_rate: Some(most), fair: false });
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(40.0));
    // From the first packet on, before playout, too.
    let departures = pair.departures();
    for second in 0..35 {
        let within = at(f64::from(second))..at(f64::from(second + 1));
        let sent = departures.iter().filter(|time| within.contains(*time)).count();
        assert!(sent as f64 <= most + 2.0, "{sent} in second {second}");
    }
    let tally = pair.receiver().tallies(at(40.0)).0;
    assert!(tally.share(Outcome::Skipped).expect("frames") > 0.2 && tally.share(Outcome::Late).expect("frames") < 0.02);
    assert!(tally.performance_of(Kind::I).expect("frames") > 0.99, "B and P are skipped first: {tally:?}");
}

#[test]
fn greatest_rate_is_kept_in_bits_and_used_with_sound_of_small_packets() {
    // 1.24 Mb/s of pictures, of which I are a third, and sound of 47 packets per second, which are 136 kb/s with headers.
    for (bound, least) in [(300_000, 0.9), (600_000, 0.99), (900_000, 0.99)] {
        let bound = Rate::from_bps(bound);
        let mut pair = Pair::new(Video::with_sound(60), Span::from_millis(30));
        pair.bound(Bounds { max_rate: Some(pair.unit().at_most(bound)), fair: false });
        pair.start(Control::R3cpPlus, stored(&pair));
        pair.run_until(at(60.0));
        let bits = |start: Time, span: Span| 8.0 * pair.bytes_within(start, start + span) as f64;
        for start in pair.departures() {
            assert!(bits(start, SECOND) <= bound.as_bps() as f64, "{} of {bound}", bits(start, SECOND));
        }
        let used = bits(at(5.0), SECOND * 45) / 45.0 / bound.as_bps() as f64;
        let (pictures, sound) = pair.receiver().tallies(at(55.0));
        println!("{bound}: {used:.3} used, {:.3} of the pictures", pictures.performance().expect("pictures"));
        assert!((0.85..=1.0).contains(&used), "{used} of {bound}");
        assert!(
            sound.performance() > Some(least) && pictures.performance_of(Kind::I) > Some(0.0),
            "{pictures:?} {sound:?}"
        );
    }
}

//! Stories of a sender and a receiver over virtual time.

mod pair;

use std::collections::BTreeSet;

use self::pair::{Datagram, Pair, Video};
use crate::law::breaker::Cause;
use crate::law::playback::{self, Outcome};
use crate::law::rate::r3cp::Parameters;
use crate::session::Session;
use crate::session::stored::control::Control;
use crate::session::stored::receiver::Bounds;
use crate::session::stored::{First, Media, sender};
use crate::time::{Span, Time};
use crate::video::{Class, Kind};
use crate::wire;
use crate::wire::rtcp::{App, Writer};
use crate::wire::stored::{FlowControl, Message, Mode, NAME};

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

#[test]
fn each_payload_is_delivered_as_it_was_stored() {
    let mut pair = Pair::new(Video::of_seconds(5), Span::from_millis(30));
    pair.lose_every(Datagram::Media, 9);
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(8.0));
    assert!(pair.played.len() > 100, "{}", pair.played.len());
    for (_, frame) in &pair.played {
        let stored: Vec<Vec<u8>> = (0..pair.video[frame.index as usize].packets)
            .map(|packet| Video::payload_of(frame.index, packet))
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
        pair.lose_every(Datagram::Media, loss);
        pair.limit(capacity * pair.mu());
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
    pair.limit(0.5 * pair.mu());
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
    pair.lose_every(Datagram::Media, 6);
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
fn lost_control_messages_do_not_stop_the_video() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    pair.lose_every(Datagram::Control, 3);
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(50.0));
    let performance = pair.receiver().tallies(at(50.0)).0.performance().expect("frames");
    assert!(performance > 0.98, "{performance}");
}

#[test]
fn blackout_pauses_the_sender_and_the_video_goes_on_after_it() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    pair.black_out(at(20.0), at(25.0));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(50.0));
    let departures = pair.departures();
    let in_vain = departures.iter().filter(|time| (at(21.5)..at(24.9)).contains(*time)).count();
    assert_eq!(in_vain, 0, "five periods, at least a second, after the last message");
    let after = pair.played.iter().filter(|(time, _)| *time > at(28.0)).count();
    assert!(after as f64 > 0.95 * 22.0 * 24.0, "{after}");
}

#[test]
fn receiver_that_is_gone_gets_nothing_more() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    pair.black_out(at(10.0), at(60.0));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(60.0));
    assert!(pair.departures().iter().all(|time| *time < at(11.5)));
    assert!(pair.sender_events().contains(&sender::Event::Paused));
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

/// RFC 8083 §4.3: ten times the rate of a TCP at this loss and round trip.
#[test]
fn path_that_carries_a_third_of_it_ends_the_video() {
    let mut pair = Pair::new(Video::of_seconds(90), Span::from_millis(30));
    pair.limit(0.3 * pair.mu());
    pair.start(Control::None, Parameters::of_video(pair.mu()));
    pair.run_until(at(60.0));
    assert!(pair.sender_events().contains(&sender::Event::Broken(Cause::Congestion)), "{:?}", pair.sender_events());
    // Three reports of five seconds each, spread by a half.
    let last = *pair.departures().last().expect("packets");
    assert!((at(7.5)..at(35.0)).contains(&last), "{last:?}");
}

#[test]
fn greatest_rate_is_kept_and_frames_are_skipped_for_it() {
    let mut pair = Pair::new(Video::of_seconds(40), Span::from_millis(30));
    let most = 0.7 * pair.mu();
    pair.bound(Bounds { max_rate: Some(most), fair: false });
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(40.0));
    // The first rate is mu, until playout begins.
    let late = pair.departures().into_iter().filter(|time| (at(5.0)..at(35.0)).contains(time)).count();
    assert!(late as f64 <= most * 30.0 + 2.0, "{late}");
    let tally = pair.receiver().tallies(at(40.0)).0;
    assert!(tally.share(Outcome::Skipped).expect("frames") > 0.2 && tally.share(Outcome::Late).expect("frames") < 0.02);
    assert!(tally.performance_of(Kind::I).expect("frames") > 0.99, "B and P are skipped first: {tally:?}");
}

fn flow_control(token: u64, number: u32, rho: f64) -> Vec<u8> {
    let message = FlowControl {
        token,
        number,
        rho,
        lambda: rho,
        period: Span::from_millis(100),
        playout: Span::ZERO,
        mode: Mode::Selective,
    };
    let (subtype, data) = Message::FlowControl(message).emit();
    let mut buf = [0; 200];
    let mut writer = Writer::new(&mut buf);
    writer.push(&App { subtype, ssrc: 1, name: NAME, data: &data }).expect("fits");
    let len = writer.len();
    buf[..len].to_vec()
}

#[test]
fn forged_old_and_repeated_messages_change_nothing() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(5.0));
    let (client, victim) = (pair.client(), "192.0.2.1:4000".parse().expect("an address"));
    let token = pair.token();
    let sender = pair.sender_mut();
    // A guess, and the token of another address: media can be directed to no third party.
    for (from, token) in [(client, token ^ 1), (victim, token), (victim, 0)] {
        let result = sender.handle_datagram(at(5.0), from, &flow_control(token, 1 << 20, 1e5));
        assert_eq!(result, Err(wire::Error::Forged));
    }
    // An old message of the receiver's own.
    assert_eq!(sender.handle_datagram(at(5.0), client, &flow_control(token, 2, 1e5)), Ok(()));
    let before = pair.departures().len();
    pair.run_until(at(6.0));
    let sent = pair.departures().len() - before;
    assert!(sent as f64 <= pair.requested(at(5.0), at(6.0)) + 2.0, "{sent}");
}

#[test]
fn rates_beyond_all_bounds_send_no_flood() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(2.0));
    let (client, token) = (pair.client(), pair.token());
    let sender = pair.sender_mut();
    sender.handle_datagram(at(2.0), client, &flow_control(token, 1 << 30, 4e6)).expect("a message");
    let mut buf = [0; 1500];
    let burst = core::iter::from_fn(|| sender.poll_transmit(at(2.0), &mut buf)).take(10_000).count();
    // What one period of 0.1 s holds at the greatest rate that a sender serves.
    assert!(burst < 20, "{burst}");
}

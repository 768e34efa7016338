//! Faults of the path.

use std::collections::BTreeSet;

use super::pair::{Pair, Video};
use super::path::{Datagram, Fault};
use super::{at, stored};
use crate::law::breaker::Cause;
use crate::law::rate::r3cp::Parameters;
use crate::session::stored::control::Control;
use crate::session::stored::sender;
use crate::time::Span;

#[test]
fn lost_control_messages_do_not_stop_the_video() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    pair.path.disturb(Datagram::Control, Fault::Lost, 3);
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(50.0));
    let performance = pair.receiver().tallies(at(50.0)).0.performance().expect("frames");
    assert!(performance > 0.98, "{performance}");
}

#[test]
fn control_messages_that_are_also_repeated_and_reordered_do_not_stop_it() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    for (fault, nth) in [(Fault::Lost, 3), (Fault::Repeated, 4), (Fault::Late, 5)] {
        pair.path.disturb(Datagram::Control, fault, nth);
    }
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(50.0));
    let performance = pair.receiver().tallies(at(50.0)).0.performance().expect("frames");
    assert!(performance > 0.98, "{performance}");
    let played: BTreeSet<u32> = pair.played.iter().map(|(_, frame)| frame.index).collect();
    assert_eq!(played.len(), pair.played.len(), "no frame is played twice");
}

#[test]
fn blackout_pauses_the_sender_and_the_video_goes_on_after_it() {
    let mut pair = Pair::new(Video::of_seconds(60), Span::from_millis(30));
    pair.path.black_out(at(20.0), at(25.0));
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
    pair.path.black_out(at(10.0), at(60.0));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(60.0));
    assert!(pair.departures().iter().all(|time| *time < at(11.5)));
    assert!(pair.sender_events().contains(&sender::Event::Paused));
}

#[test]
fn sender_that_ends_within_the_video_cuts_it_off_once_what_arrived_is_played() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(8.0));
    pair.sender_mut().finish();
    let arrived = *pair.sent_frames().last().expect("frames");
    pair.run_until(at(9.0));
    assert!(!pair.is_cut_off(), "two seconds are in the buffer");
    pair.run_until(at(20.0));
    assert!(pair.is_cut_off());
    // A frame of which some packets had left stays incomplete.
    let played = pair.played.last().expect("frames").1.index;
    assert!(played <= arrived && played + 2 >= arrived, "{played} of {arrived}");
}

/// RFC 8083 §4.3: ten times the rate of a TCP at this loss and round trip.
#[test]
fn path_that_carries_a_third_of_it_ends_the_video() {
    let mut pair = Pair::new(Video::of_seconds(90), Span::from_millis(30));
    pair.path.limit(0.3 * pair.mu());
    pair.start(Control::None, Parameters::of_video(pair.mu()));
    pair.run_until(at(60.0));
    assert!(pair.sender_events().contains(&sender::Event::Broken(Cause::Congestion)), "{:?}", pair.sender_events());
    // Three reports of five seconds each, spread by a half.
    let last = *pair.departures().last().expect("packets");
    assert!((at(7.5)..at(35.0)).contains(&last), "{last:?}");
}

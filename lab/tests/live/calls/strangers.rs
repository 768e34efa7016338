//! Strangers at a sender that listens, and at a receiver that calls.

use thalweg_core::session::Session;
use thalweg_core::session::live::carried::Notice;
use thalweg_core::session::live::receiver::Event as Heard;
use thalweg_core::session::secure::Ending;
use thalweg_core::wire::hello::VERSION;

use super::callers::Caller;
use super::{MEDIA, calling, listening, story, streaming};
use crate::live::keys::Keys;
use crate::live::outsider::{Outsider, heard_at, hello, replies, said};
use crate::live::props::{address, at};
use crate::live::story::Back;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    a_forged_request_gets_one_hello_and_no_media,
    a_datagram_gets_no_more_bytes_than_it_has,
    recorded_answers_begin_no_stream,
    another_version_is_refused_at_the_sender_and_reported_at_the_receiver,
    a_receiver_that_calls_answers_nobody_else,
    a_sender_that_answers_from_another_of_its_addresses_is_accepted,
}

stories! {
    [geneva_keyed, auto_keyed]:
    callers_without_the_key_get_a_cookie_and_nothing_else,
}

/// The offset of a message in a datagram that begins with it: the header of an APP packet (RFC 3550 §6.7).
const DATA: usize = 12;

/// A request with a forged source address has one hello sent there, no longer than the request, and no media.
fn a_forged_request_gets_one_hello_and_no_media(variant: Variant) {
    let mut story = story(variant);
    story.back = Back::Nothing;
    story.play(MEDIA);
    let victim = address("198.51.100.1:7");
    let request = said(&mut Keys::receiver(None, calling(), story.now, 66), story.now).remove(0);
    let (mut sent, mut got) = (0, 0);
    for millis in (10..5000).step_by(20) {
        story.until(millis);
        sent += request.len();
        let _ = story.sender.handle_datagram(story.now, victim, &request);
        story.until(millis + 1);
        let replies = heard_at(&mut story, victim);
        assert_eq!(replies.len(), 1);
        got += replies[0].len();
    }
    assert!(got <= sent, "{got} bytes for {sent}");
    assert_eq!(story.sender_events, []);
}

fn a_datagram_gets_no_more_bytes_than_it_has(variant: Variant) {
    let mut story = story(variant);
    story.back = Back::Nothing;
    let from = address("198.51.100.1:7");
    let request = said(&mut Keys::receiver(None, calling(), story.now, 66), story.now).remove(0);
    // A request that is shorter than a hello; its length is in words without the first (RFC 3550 §6.4.1).
    let mut short = request[..DATA + 40].to_vec();
    short[3] = (short.len() / 4 - 1) as u8;
    for (datagram, expected) in [(request.repeat(8), 8), (short.repeat(16), 0)] {
        story.until(story.now.as_nanos() / 1_000_000 + 1);
        let _ = story.sender.handle_datagram(story.now, from, &datagram);
        story.until(story.now.as_nanos() / 1_000_000 + 1);
        let replies = heard_at(&mut story, from);
        assert_eq!(replies.len(), expected);
        assert!(replies.iter().map(Vec::len).sum::<usize>() <= datagram.len());
    }
}

/// An attacker has recorded the answers of a receiver that has left, and repeats them from its address.
fn recorded_answers_begin_no_stream(variant: Variant) {
    let mut story = streaming(variant);
    story.receiver.finish();
    story.until(4000);
    let (events, departed) = (story.sender_events.len(), story.departures.len());
    let recorded = std::mem::take(&mut story.returned);
    for datagram in recorded.iter().take(500) {
        let _ = story.sender.handle_datagram(story.now, story.receiver_at, datagram);
    }
    story.until(5000);
    assert_eq!(story.sender_events.len(), events, "{:?}", story.sender_events);
    // The first request and the first answer get a hello each.
    assert!(story.departures.len() - departed <= 16, "{}", story.departures.len() - departed);
}

fn another_version_is_refused_at_the_sender_and_reported_at_the_receiver(variant: Variant) {
    let mut story = story(variant);
    story.back = Back::Nothing;
    let mut caller = Keys::receiver(None, calling(), story.now, 66);
    let mut request = said(&mut caller, story.now).remove(0);
    request[DATA] = VERSION + 1;
    let from = address("198.51.100.1:7");
    let _ = story.sender.handle_datagram(story.now, from, &request);
    story.until(1);
    let mut refusals = heard_at(&mut story, from);
    assert_eq!((refusals.len(), refusals[0][DATA]), (1, VERSION));
    refusals[0][DATA] = VERSION + 1;
    for attacker in [address("10.6.6.6:666"), story.sender_at] {
        let _ = caller.handle_datagram(story.now, attacker, &refusals[0]);
    }
    let version = Heard::OtherVersion { from: story.sender_at, version: VERSION + 1 };
    assert_eq!(caller.poll_event(), Some(version), "only from the sender");
    assert_eq!(caller.poll_event(), None);
}

fn a_receiver_that_calls_answers_nobody_else(variant: Variant) {
    let mut story = story(variant);
    (story.back, story.deaf) = (Back::Nothing, true);
    let mut outsider = Outsider::new(&story, 66);
    let hello = hello(&mut outsider.session, story.now);
    assert_eq!(replies(&mut story, outsider.at, &hello), [] as [Vec<u8>; 0]);
    outsider.talk(&mut story, 1000, true);
    assert!(!outsider.session.is_connected() && story.receiver_events.is_empty());
    (story.back, story.deaf) = (Back::Everything, false);
    story.play(MEDIA);
    outsider.talk(&mut story, 3000, true);
    assert_eq!((story.lost(1300, 2900), story.receiver_events.len()), (0, 1), "{:?}", story.receiver_events);
}

/// A sender with two addresses answers from another one than the receiver has called.
fn a_sender_that_answers_from_another_of_its_addresses_is_accepted(variant: Variant) {
    let mut receiver = Keys::receiver(None, calling(), at(0), 66);
    let mut sender = Keys::sender(None, listening(variant), at(0), 67);
    let (there, outside) = (address("10.0.0.9:5000"), address("203.0.113.7:40000"));
    for millis in 1..20 {
        for datagram in said(&mut receiver, at(millis)) {
            let _ = sender.handle_datagram(at(millis), outside, &datagram);
        }
        for datagram in said(&mut sender, at(millis)) {
            let _ = receiver.handle_datagram(at(millis), there, &datagram);
        }
    }
    assert!(sender.is_connected());
    assert!(matches!(receiver.poll_event(), Some(Heard::Started { from, .. }) if from == there));
}

fn callers_without_the_key_get_a_cookie_and_nothing_else(variant: Variant) {
    let mut story = streaming(variant);
    let mut clear = Caller::new(None, story.now, 66);
    let mut other = Caller::new(Some(&mut Keys::new(2)), story.now, 67);
    for millis in (3100..14_000).step_by(100) {
        clear.talk(&mut story, millis);
        other.talk(&mut story, millis);
    }
    assert_eq!(clear.received, []);
    assert!(!other.received.is_empty() && other.received.iter().all(|len| *len == 18), "cookies: {:?}", other.received);
    let refused: Vec<Notice> = core::iter::from_fn(|| other.session.poll_notice()).collect();
    assert_eq!(refused, [Notice::Refused(Ending::Refused)]);
    let expected = [Notice::InTheClear { from: clear.at }, Notice::OtherKey { from: other.at }];
    assert_eq!(story.notices()[0], expected);
    assert_eq!((story.lost(500, 13_500), story.sender_events.len(), story.receiver_events.len()), (0, 1, 1));
}

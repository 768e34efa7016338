//! Outsiders who try to take over a stream, from addresses of their own, without forging a source address.

use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::receiver::Receiver;
use thalweg_core::session::live::sender::Sender;

use crate::live::faults::quiet;
use crate::live::outsider::{heard_at, renamed, replies, said, ssrc};
use crate::live::props::{address, receiver_config};
use crate::live::story::Back;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    two_answers_from_elsewhere_take_no_stream,
    copies_from_elsewhere_move_nobody_while_the_old_path_works,
    a_challenge_that_is_handed_on_is_not_answered,
}

/// An outsider asks the receiver for its identity, and then answers the sender under that identity: first anything,
/// then the datagrams that the sender has sent to the outsider's own address.
fn two_answers_from_elsewhere_take_no_stream(variant: Variant) {
    let mut story = quiet(variant);
    let outsider = address("10.6.6.6:666");
    let mut asking = Sender::new(variant.sender(), story.now, &Rng::new(66));
    for hello in said(&mut asking, story.now) {
        let _ = story.receiver.handle_datagram(story.now, outsider, &hello);
    }
    story.until(3001);
    let name = heard_at(&mut story, outsider).first().map_or([0; 4], |answer| ssrc(answer));

    let mut answering = Receiver::new(receiver_config(), &Rng::new(67));
    for hello in said(&mut asking, story.now) {
        let _ = answering.handle_datagram(story.now, outsider, &hello);
    }
    for millis in (3001..6001).step_by(10) {
        story.until(millis);
        let mut hellos = heard_at(&mut story, outsider);
        if hellos.is_empty() {
            let mut asking = Sender::new(variant.sender(), story.now, &Rng::new(millis));
            hellos = said(&mut asking, story.now);
        }
        for hello in hellos {
            let _ = answering.handle_datagram(story.now, story.sender_at, &hello);
            for answer in said(&mut answering, story.now) {
                let own = ssrc(&answer);
                let _ = story.sender.handle_datagram(story.now, outsider, &renamed(answer, own, name));
            }
        }
    }
    story.until(6500).pause().until(7000);
    assert_eq!(story.lost(500, 6500), 0, "{:?}", story.sender_events);
    assert_eq!(story.sender_events.len(), 1, "{:?}", story.sender_events);
}

/// An attacker who reads the path sends copies of all datagrams from an address of its own, in both directions, to
/// attract the datagrams of both endpoints.
fn copies_from_elsewhere_move_nobody_while_the_old_path_works(variant: Variant) {
    let mut story = quiet(variant);
    let relay = address("10.6.6.6:666");
    for millis in 3000..6000 {
        story.until(millis);
        let (left, came) = (story.recent.front().cloned(), story.returned.last().cloned());
        if let Some(datagram) = left {
            let _ = story.receiver.handle_datagram(story.now, relay, &datagram);
        }
        if let Some(datagram) = came {
            let _ = story.sender.handle_datagram(story.now, relay, &datagram);
        }
    }
    story.pause().until(6500);
    assert_eq!(story.elsewhere, [], "not a challenge goes there");
    assert_eq!(story.lost(500, 6000), 0);
    assert_eq!((story.sender_events.len(), story.receiver_events.len()), (1, 1));
    for metrics in [story.sender_metrics(), story.receiver_metrics()] {
        assert!(metrics["stray_datagrams_total"] >= 100.0, "{metrics:?}");
    }
}

/// A challenge that an outsider off the path has received and forwards is not answered.
fn a_challenge_that_is_handed_on_is_not_answered(variant: Variant) {
    let mut story = quiet(variant);
    let relay = address("10.6.6.6:666");
    // The receiver falls silent, and copies of its reports arrive from elsewhere: the relay's address is challenged.
    let report = story.returned.last().cloned().expect("reports come");
    story.back = Back::Nothing;
    for millis in (3000..3500).step_by(10) {
        story.until(millis);
        let _ = story.sender.handle_datagram(story.now, relay, &report);
    }
    let challenges = heard_at(&mut story, relay);
    assert!(!challenges.is_empty() && challenges.iter().all(|challenge| challenge.len() <= report.len()));
    for challenge in challenges {
        assert!(challenge.len() == 24, "a token and nothing else: {challenge:02x?}");
        let answers = replies(&mut story, relay, &challenge);
        assert_eq!(answers, Vec::<Vec<u8>>::new());
    }
    story.back = Back::Everything;
    story.until(6000).pause().until(6500);
    assert_eq!((story.sender_events.len(), story.lost(500, 6000)), (1, 0), "{:?}", story.sender_events);
}

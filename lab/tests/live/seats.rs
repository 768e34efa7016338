//! Senders that occupy the receiver, and the answers to all others.

use thalweg_core::session::Session;
use thalweg_core::session::live::receiver::{self, Event as Heard};
use thalweg_core::units::Rate;

use crate::live::faults::quiet;
use crate::live::outsider::{Outsider, hello, renamed, replies, ssrc};
use crate::live::props::{ms, receiver_config, wire};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    the_right_ssrc_and_a_wrong_one_hear_the_same_bytes,
    sixteen_hellos_in_a_datagram_get_one_answer_that_is_shorter,
    hellos_alone_keep_nobody_out,
    a_stream_without_media_keeps_the_receiver_for_as_long_as_it_is_held,
    nobody_beyond_the_networks_that_are_allowed_gets_an_answer,
}

fn the_right_ssrc_and_a_wrong_one_hear_the_same_bytes(variant: Variant) {
    let mut story = quiet(variant);
    let mut outsider = Outsider::new(&story, 66);
    let first = hello(&mut outsider.session, story.now);
    let right = renamed(first.clone(), ssrc(&first), story.tap.sender.to_be_bytes());
    let [wrong, right] = [first, right].map(|hello| replies(&mut story, outsider.at, &hello));
    assert_eq!((wrong.len(), &wrong), (1, &right));
    // The same once the address is validated.
    let answer = &wrong[0];
    let _ = outsider.session.handle_datagram(story.now, story.receiver_at, answer);
    let second = hello(&mut outsider.session, story.now);
    let right = renamed(second.clone(), ssrc(&second), story.tap.sender.to_be_bytes());
    let [wrong, right] = [second, right].map(|hello| replies(&mut story, outsider.at, &hello));
    assert_eq!((wrong.len(), &wrong), (1, &right));
    for secret in [story.tap.sender, story.tap.receiver] {
        let ssrc = secret.to_be_bytes();
        assert!(!wrong[0].windows(4).any(|bytes| bytes == ssrc), "the stream's numbers are secret");
    }
}

fn sixteen_hellos_in_a_datagram_get_one_answer_that_is_shorter(variant: Variant) {
    for mut story in [quiet(variant), variant.over(wire(ms(20)), wire(ms(20)))] {
        let mut outsider = Outsider::new(&story, 66);
        let one = hello(&mut outsider.session, story.now);
        let answers = replies(&mut story, outsider.at, &one.repeat(16));
        assert_eq!(answers.len(), 1);
        assert!(answers[0].len() < one.len(), "{} bytes for {}", answers[0].len(), one.len());
    }
}

/// The outsiders' hellos are answered, and they never send media.
fn hellos_alone_keep_nobody_out(variant: Variant) {
    let mut story = variant.over(wire(ms(20)), wire(ms(20)));
    let mut outsiders = [66, 67, 68].map(|seed| Outsider::new(&story, seed));
    for millis in (100..5100).step_by(100) {
        outsiders.iter_mut().for_each(|outsider| outsider.talk(&mut story, millis, false));
        if millis == 1000 {
            story.play(Rate::from_mbps(3));
        }
    }
    story.pause().until(5500);
    assert_eq!(story.lost(1000, 5000), 0, "{:?}", story.receiver_events);
    let (_, last) = *story.receiver_events.last().expect("an event");
    assert!(matches!(last, Heard::Started { from, .. } if from == story.sender_at), "{:?}", story.receiver_events);
}

fn a_stream_without_media_keeps_the_receiver_for_as_long_as_it_is_held(variant: Variant) {
    for (hold, taken) in [(10, 12_900), (3, 5_900)] {
        let config = receiver::Config { hold: ms(1000 * hold), ..receiver_config() };
        let mut story = variant.story(variant.sender(), config, wire(ms(20)), wire(ms(20)));
        story.until(500).play(Rate::from_mbps(30)).until(3000).pause();
        // The outsider starts two seconds before the stream's hold ends.
        story.until(taken - 2000);
        let mut outsider = Outsider::new(&story, 66);
        outsider.talk(&mut story, taken, true);
        assert_eq!(
            story.receiver_events.len(),
            2,
            "started, and silent after two seconds: {:?}",
            story.receiver_events
        );
        outsider.talk(&mut story, taken + 400, true);
        let (_, last) = *story.receiver_events.last().expect("an event");
        assert!(matches!(last, Heard::Started { from, .. } if from == outsider.at), "{last:?}");
    }
}

fn nobody_beyond_the_networks_that_are_allowed_gets_an_answer(variant: Variant) {
    let allow = vec!["10.0.0.0/24".parse().expect("a network")];
    let config = receiver::Config { allow, ..receiver_config() };
    let mut story = variant.story(variant.sender(), config, wire(ms(20)), wire(ms(20)));
    let mut outsider = Outsider::new(&story, 66);
    outsider.talk(&mut story, 1000, true);
    assert!(!outsider.session.is_connected() && story.receiver_metrics()["rejected_datagrams_total"] >= 10.0);
    story.play(Rate::from_mbps(30)).until(3000).pause().until(3500);
    assert_eq!(story.lost(1000, 3000), 0);
}

//! Two senders and one receiver, which accepts one stream.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::Ending;
use thalweg_core::session::live::receiver::Event as Heard;
use thalweg_core::session::live::sender::{Config, Event as Said, Sender};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::units::Rate;

use crate::live::faults::quiet;
use crate::live::props::{address, at, ms, sender_config};
use crate::live::story::Story;

/// Runs `second` beside the story's receiver, in steps of a millisecond, until it is connected or the time is over.
/// Returns the number of answers that it got.
fn calls(story: &mut Story, second: &mut Sender, millis: core::ops::Range<u64>) -> usize {
    let from = address("10.7.7.7:7000");
    let mut buf = [0; MAX_DATAGRAM];
    let mut answers = 0;
    for millis in millis {
        story.until(millis);
        if second.poll_timeout().is_some_and(|due| due <= at(millis)) {
            second.handle_timeout(at(millis));
        }
        while let Some(transmit) = second.poll_transmit(at(millis), &mut buf) {
            story.receiver.handle_datagram(at(millis), from, &buf[..transmit.len]).expect("a hello");
            while let Some(transmit) = story.receiver.poll_transmit(at(millis), &mut buf).filter(|to| to.to == from) {
                second.handle_datagram(at(millis), sender_config().to, &buf[..transmit.len]).expect("an answer");
                answers += 1;
            }
        }
        if second.is_connected() {
            break;
        }
        second.handle_media(at(millis), b"anything");
    }
    answers
}

#[test]
fn second_sender_learns_that_the_receiver_is_busy() {
    let mut story = quiet();
    let config = Config { answer_timeout: Some(ms(10_000)), ..sender_config() };
    let mut second = Sender::new(config, story.now, &Rng::new(77));
    // Ten seconds of attempts, and no goodbye to a receiver that never accepted the stream.
    let answers = calls(&mut story, &mut second, 3000..13_100);
    assert!(answers >= 10, "{answers}");
    assert!(!second.is_connected());
    let said: Vec<_> = core::iter::from_fn(|| second.poll_event()).collect();
    assert_eq!(said, [Said::Busy, Said::Ended(Ending::Busy)]);
    story.until(13_500);
    assert_eq!(story.lost(500, 13_400), 0, "the first stream is not harmed");
}

#[test]
fn a_stream_without_media_keeps_its_place_while_its_sender_is_there() {
    let mut story = quiet();
    story.pause();
    let mut second = Sender::new(sender_config(), story.now, &Rng::new(77));
    calls(&mut story, &mut second, 3000..12_000);
    assert!(!second.is_connected(), "the first says hello every 200 ms");
    story.play(Rate::from_mbps(30)).until(14_000);
    assert_eq!(story.lost(500, 13_900), 0);
    assert_eq!(story.receiver_events.iter().filter(|(_, heard)| matches!(heard, Heard::Started { .. })).count(), 1);
}

#[test]
fn two_seconds_without_a_word_of_the_first_sender_give_its_place_to_another() {
    for idle in [false, true] {
        let mut story = quiet();
        if idle {
            story.pause();
        }
        story.until(5000).deaf = true;
        let mut second = Sender::new(sender_config(), story.now, &Rng::new(77));
        calls(&mut story, &mut second, 5000..9000);
        assert!(second.is_connected());
        // The first sender's last hello arrived up to 200 ms before, and the other one tries every 100 ms.
        assert!((at(6800)..=at(7150)).contains(&story.now), "idle {idle}: {:?}", story.now);
    }
}

/// Two cameras that both send a datagram now and then: the first keeps its place, and the other is refused.
#[test]
fn two_senders_with_little_to_say_do_not_take_the_receiver_from_each_other() {
    let mut story = quiet();
    // A datagram in 0.7 s.
    story.play(Rate::from_bps(15_000));
    let mut second = Sender::new(sender_config(), story.now, &Rng::new(77));
    calls(&mut story, &mut second, 3000..12_900);
    assert!(!second.is_connected());
    story.pause().until(14_000);
    assert_eq!(story.lost(500, 13_000), 0);
}

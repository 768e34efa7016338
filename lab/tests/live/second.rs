//! Two senders and one receiver, which accepts one stream.

use thalweg_core::session::live::Ending;
use thalweg_core::session::live::carried::Carried;
use thalweg_core::session::live::receiver::Event as Heard;
use thalweg_core::session::live::sender::{Config, Event as Said, Sender};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::units::Rate;

use crate::live::faults::quiet;
use crate::live::keys::Keys;
use crate::live::props::{address, at, ms, sender_config};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, geneva_keyed, auto, auto_keyed]:
    second_sender_learns_that_the_receiver_is_busy,
    a_stream_without_media_keeps_its_place_while_its_sender_is_there,
    two_seconds_without_a_word_of_the_first_sender_give_its_place_to_another,
    two_senders_with_little_to_say_do_not_take_the_receiver_from_each_other,
}

/// A second sender, with the story's key if there is one.
fn another(story: &mut Story, config: Config) -> Carried<Sender> {
    Keys::sender(story.keys.as_mut(), config, story.now, 77)
}

/// Runs `second` beside the story's receiver, in steps of a millisecond, until it is connected or the time is over.
/// Returns the number of answers that it got.
fn calls(story: &mut Story, second: &mut Carried<Sender>, millis: core::ops::Range<u64>) -> usize {
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

fn second_sender_learns_that_the_receiver_is_busy(variant: Variant) {
    let mut story = quiet(variant);
    let config = Config { answer_timeout: Some(ms(10_000)), ..variant.sender() };
    let mut second = another(&mut story, config);
    // Ten seconds of attempts, and no goodbye to a receiver that never accepted the stream.
    let answers = calls(&mut story, &mut second, 3000..13_100);
    assert!(answers >= 10, "{answers}");
    assert!(!second.is_connected());
    let said: Vec<_> = core::iter::from_fn(|| second.poll_event()).collect();
    assert_eq!(said, [Said::Busy, Said::Ended(Ending::Busy)]);
    story.until(13_500);
    assert_eq!(story.lost(500, 13_400), 0, "the first stream is not harmed");
}

fn a_stream_without_media_keeps_its_place_while_its_sender_is_there(variant: Variant) {
    let mut story = quiet(variant);
    story.pause();
    let mut second = another(&mut story, variant.sender());
    calls(&mut story, &mut second, 3000..12_000);
    assert!(!second.is_connected(), "the first says hello every 200 ms");
    story.play(Rate::from_mbps(30)).until(14_000);
    assert_eq!(story.lost(500, 13_900), 0);
    assert_eq!(story.receiver_events.iter().filter(|(_, heard)| matches!(heard, Heard::Started { .. })).count(), 1);
}

fn two_seconds_without_a_word_of_the_first_sender_give_its_place_to_another(variant: Variant) {
    for idle in [false, true] {
        let mut story = quiet(variant);
        if idle {
            story.pause();
        }
        story.until(5000).deaf = true;
        let mut second = another(&mut story, variant.sender());
        calls(&mut story, &mut second, 5000..9000);
        assert!(second.is_connected());
        // The first sender's last hello arrived up to 200 ms before, and the other one tries every 100 ms.
        assert!((at(6800)..=at(7150)).contains(&story.now), "idle {idle}: {:?}", story.now);
    }
}

/// Two cameras that both send a datagram now and then: the first keeps its place, and the other is refused.
fn two_senders_with_little_to_say_do_not_take_the_receiver_from_each_other(variant: Variant) {
    let mut story = quiet(variant);
    // A datagram in 0.7 s.
    story.play(Rate::from_bps(15_000));
    let mut second = another(&mut story, variant.sender());
    calls(&mut story, &mut second, 3000..12_900);
    assert!(!second.is_connected());
    story.pause().until(14_000);
    assert_eq!(story.lost(500, 13_000), 0);
}

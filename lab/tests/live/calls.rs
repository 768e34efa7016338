//! Receivers that call: the sender listens, and no port of the receiver is open.

mod callers;
mod strangers;

use thalweg_core::rng::Rng;
use thalweg_core::session::live::receiver;
use thalweg_core::session::live::sender::{self, Event as Said};
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::path::Path;

use crate::live::props::{address, at, ms, receiver_config, wire};
use crate::live::story::{Back, Story};
use crate::live::variant::{Variant, stories};

/// The address at which the sender listens.
const LISTENS_AT: &str = "10.0.0.1:5000";
const MEDIA: Rate = Rate::from_mbps(30);

fn listening(variant: Variant) -> sender::Config {
    sender::Config { to: address(LISTENS_AT), listens: true, ..variant.sender() }
}

fn calling() -> receiver::Config {
    receiver::Config { call: Some(address(LISTENS_AT)), ..receiver_config() }
}

/// A receiver behind a NAT, whose outer address only the sender sees.
fn story_over(variant: Variant, forward: Path, reverse: Path) -> Story {
    let mut story = variant.story(listening(variant), calling(), forward, reverse);
    story.receiver_at = address("203.0.113.7:40000");
    story
}

fn story(variant: Variant) -> Story {
    story_over(variant, wire(ms(20)), wire(ms(20)))
}

/// The same at three seconds, when the stream has been running for 2.5 s.
fn streaming(variant: Variant) -> Story {
    let mut story = story(variant);
    story.until(500).play(MEDIA).until(3000);
    story
}

stories! {
    [geneva, geneva_keyed, auto, auto_keyed]:
    a_receiver_behind_a_nat_gets_the_stream,
    the_stream_begins_although_a_third_is_lost,
    nothing_leaves_before_a_receiver_has_called,
    a_receiver_whose_nat_changes_its_port_keeps_the_stream,
    a_receiver_that_restarts_behind_another_port_gets_the_stream_after_two_seconds,
    a_receiver_that_leaves_gets_no_more_datagrams_and_may_call_again,
    a_sender_that_restarts_is_called_again,
    a_receiver_that_is_stopped_before_it_is_answered_calls_no_more,
    an_outage_ends_with_the_stream,
}

fn a_receiver_behind_a_nat_gets_the_stream(variant: Variant) {
    let mut story = streaming(variant);
    story.pause().until(3500);
    assert_eq!((story.lost(0, 3000), story.receiver_events.len()), (0, 1), "{:?}", story.receiver_events);
    let (when, event) = story.sender_events[0];
    assert!(matches!(event, Said::Connected { to, .. } if to == story.receiver_at), "{event:?}");
    // In the clear two and a half round trips of 40 ms: request, hello, answer, hello, answer.
    assert!(story.keys.is_some() || when == at(100), "{when:?}");
    assert_eq!(story.elsewhere, []);
}

fn the_stream_begins_although_a_third_is_lost(variant: Variant) {
    let mut delivered = 0;
    for seed in 0..5 {
        let lossy = |seed| wire(ms(20)).then("loss", Loss::independent(0.3, Rng::new(seed)));
        let mut story = story_over(variant, lossy(seed), lossy(seed + 100));
        story.until(4000).play(Rate::from_mbps(1)).until(16_000).pause().until(16_500);
        assert!(story.is_in_order(), "seed {seed}");
        delivered += story.outputs.len();
    }
    // Five times three quarters of 1140 packets: repair is there for the loss that its paper measures.
    assert!(delivered > 5 * 855, "{delivered} packets");
}

fn nothing_leaves_before_a_receiver_has_called(variant: Variant) {
    let mut story = story(variant);
    story.back = Back::Nothing;
    story.play(MEDIA).until(15_000);
    assert!(story.departures.is_empty() && story.elsewhere.is_empty());
    story.back = Back::Everything;
    // By then a request leaves every second, and a hello of an association as well.
    story.until(18_000).pause().until(18_500);
    assert_eq!(story.lost(16_500, 18_000), 0, "{:?}", story.sender_events);
}

fn a_receiver_whose_nat_changes_its_port_keeps_the_stream(variant: Variant) {
    let mut story = streaming(variant);
    story.receiver_at = address("203.0.113.7:40001");
    story.until(6000).pause().until(6500);
    let (when, event) = *story.sender_events.last().expect("events");
    assert!(matches!(event, Said::Moved { to } if to == story.receiver_at), "{:?}", story.sender_events);
    assert!(when < at(4000) && story.lost(4000, 6000) == 0, "{when:?}");
    assert_eq!(story.receiver_events.len(), 1, "{:?}", story.receiver_events);
}

fn a_receiver_that_restarts_behind_another_port_gets_the_stream_after_two_seconds(variant: Variant) {
    let mut story = streaming(variant);
    story.receiver_at = address("203.0.113.7:40001");
    story.restart_receiver(calling(), 23);
    story.until(8000).pause().until(8500);
    let (when, event) = *story.sender_events.last().expect("events");
    assert!(matches!(event, Said::Connected { to, .. } if to == story.receiver_at), "{:?}", story.sender_events);
    assert!((at(5000)..at(5300)).contains(&when), "{when:?}");
    assert_eq!(story.lost(5300, 8000), 0);
}

fn a_receiver_that_leaves_gets_no_more_datagrams_and_may_call_again(variant: Variant) {
    let mut story = streaming(variant);
    story.receiver.finish();
    story.until(3200);
    let sent = |story: &Story| story.departures.iter().filter(|(when, _)| *when > at(3200)).count();
    story.until(8000);
    // An association is kept alive until it ends in silence.
    assert!(sent(&story) == 0 || (story.keys.is_some() && sent(&story) < 20), "{}", sent(&story));
    story.restart_receiver(calling(), 23);
    story.until(10_000).pause().until(10_500);
    assert_eq!(story.lost(8300, 10_000), 0, "{:?}", story.sender_events);
}

fn a_receiver_that_is_stopped_before_it_is_answered_calls_no_more(variant: Variant) {
    let is_clear = variant.keys.is_none();
    let mut story = story(variant);
    story.back = Back::Nothing;
    story.until(1000);
    story.receiver.finish();
    story.until(3000);
    // The hellos of an association go on until the program ends.
    assert!(story.last_returned.is_some_and(|last| !is_clear || last <= at(1000)), "{:?}", story.last_returned);
}

fn a_sender_that_restarts_is_called_again(variant: Variant) {
    let mut story = streaming(variant);
    story.restart_sender(listening(variant), 12);
    story.until(8000).pause().until(8500);
    // It is called once it has been silent for two seconds.
    assert_eq!(story.lost(5500, 8000), 0, "{:?} {:?}", story.sender_events, story.receiver_events);
}

fn an_outage_ends_with_the_stream(variant: Variant) {
    let mut story = streaming(variant);
    (story.back, story.deaf) = (Back::Nothing, true);
    story.until(20_000);
    assert!(story.sender_events.iter().any(|(_, said)| *said == Said::Silent), "{:?}", story.sender_events);
    (story.back, story.deaf) = (Back::Everything, false);
    story.until(26_000).pause().until(26_500);
    assert_eq!(story.lost(22_000, 26_000), 0, "{:?} {:?}", story.sender_events, story.receiver_events);
}

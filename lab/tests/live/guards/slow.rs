//! The brake of a stream that has few packets.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::Ending;
use thalweg_core::session::live::sender::Event as Said;
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;

use crate::props::{at, ms, receiver_config, sender_config, wire};
use crate::story::Story;

/// A stream of so many kilobits a second from half a second on, over a path that loses this part.
fn lossy(kbps: u64, loss: f64, seed: u64, until: u64) -> Story {
    let forward = wire(ms(20)).then("loss", Loss::independent(loss, Rng::new(seed)));
    let mut story = Story::new(sender_config(), receiver_config(), forward, wire(ms(20)));
    story.until(500).play(Rate::from_bps(kbps * 1000)).until(until);
    story
}

#[test]
fn a_tenth_of_loss_ends_slow_streams_as_it_ends_fast_ones() {
    for kbps in [300, 1000, 2000, 4000] {
        for seed in 1..=5 {
            let story = lossy(kbps, 0.1, seed, 17_000);
            let (when, last) = *story.sender_events.last().expect("an event");
            assert_eq!(last, Said::Ended(Ending::Breaker), "{kbps} kb/s, seed {seed}: {:?}", story.sender_events);
            // Ten seconds after the first losses, goodbyes, and where packets are few what chance takes.
            assert!((at(10_500)..at(15_500)).contains(&when), "{kbps} kb/s, seed {seed}: {when:?}");
            let wish = story.sender_events.iter().find(|(_, said)| matches!(said, Said::LowerRate(_)));
            let (when, _) = wish.expect("a wish before the end");
            assert!(
                *when <= at(9500),
                "{kbps} kb/s, seed {seed}: a second after five of average, and what chance takes: {when:?}"
            );
        }
    }
}

#[test]
fn a_percent_of_loss_ends_no_slow_stream() {
    for seed in 1..=5 {
        let story = lossy(300, 0.01, seed, 60_000);
        let ended = story.sender_events.iter().any(|(_, said)| matches!(said, Said::Ended(_)));
        assert!(!ended, "seed {seed}: {:?}", story.sender_events);
    }
}

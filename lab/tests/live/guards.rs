//! Effects that a stream must never have: flooding, control by unauthenticated peers, unbounded growth.

pub(super) mod cap;
mod floor;
mod forged;
mod lock_in;
mod lossy;
mod rate_law;
mod slow;

use proptest::prelude::*;
use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::law::redundancy::{Law, fixed::Fixed};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::receiver::Receiver;
use thalweg_core::session::live::sender::{self, Breaker, Event as Said, Sender};
use thalweg_core::session::live::{End, Ending};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::scenario::Scenario;

use crate::live::props::{address, at, bursty, geneva, ms, receiver_config, sender_config, wire};
use crate::live::story::{Back, Policer, Story};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    loss_that_stays_takes_repair_down_and_ends_the_session,
    a_path_that_brings_reports_and_takes_nothing_ends_the_session_as_well,
    packets_too_long_for_the_path_end_the_session_under_either_breaker,
    a_pause_and_a_short_darkness_leave_the_brake_alone,
    the_breakers_of_rfc_8083_end_what_a_tcp_would_not_send,
    replayed_reports_count_for_nothing,
    reports_from_elsewhere_count_for_nothing,
    strangers_get_no_more_than_they_send,
}

const RATE: Rate = Rate::from_mbps(30);

/// Effect of repair on the link of the demo, whose text is passed through `changed`, over three seeds: datagrams lost
/// for good with each, and cross traffic packets dropped.
fn beside_others(repair: &Law, changed: impl Fn(&str) -> String) -> ([usize; 3], u64) {
    let text = changed(include_str!("../../../scenarios/demo.toml"));
    let runs = [1, 2, 3].map(|seed| {
        let scenario = Scenario::parse("demo.toml", &text, Some(seed), &mut |_| unreachable!("it names no files"));
        let Scenario { forward, reverse, .. } = scenario.expect("a scenario");
        let config = sender::Config { repair: repair.clone(), ..sender_config() };
        let mut story = Story::new(config, receiver_config(), forward, reverse);
        story.until(500).play(RATE).until(20_500).pause().until(21_000);
        let dropped = story.forward.accounts().map(|account| account.tally.dropped.of_cross).sum::<u64>();
        (story.lost(0, 21_000), dropped)
    });
    (runs.map(|(lost, _)| lost), runs.iter().map(|(_, dropped)| dropped).sum())
}

/// In loss episodes that outlast a round trip the window follows the loss; between episodes it costs little.
#[test]
fn in_spells_of_loss_geneva_loses_less_than_half_of_what_static_repair_does() {
    let [(lost, _), (static_lost, _)] =
        [geneva(), Fixed::new(8).into()].map(|repair| beside_others(&repair, str::to_owned));
    assert!(lost.iter().zip(static_lost).all(|(lost, than)| *lost < than), "{lost:?} against {static_lost:?}");
    let [sum, static_sum] = [lost, static_lost].map(|lost| lost.iter().sum::<usize>());
    assert!(2 * sum < static_sum, "{lost:?} against {static_lost:?}");
}

#[test]
fn geneva_loses_less_than_static_repair_and_takes_little_more_from_others() {
    // Bursts of two packets, and cross traffic that leaves too little capacity even for the media.
    let short = |text: &str| {
        let text = text.replace("p = 0.0000526", "p = 0.0089").replace("r = 0.001", "r = 0.5");
        text.replace("loss_bad = 0.3", "loss_bad = 0.8").replace("28mbit", "40mbit")
    };
    let (lost, taken) = beside_others(&geneva(), short);
    let (static_lost, static_taken) = beside_others(&Fixed::new(8).into(), short);
    let [sum, static_sum] = [lost, static_lost].map(|lost| lost.iter().sum::<usize>());
    assert!(sum < static_sum, "{lost:?} against {static_lost:?}");
    // TCP performs about as well beside GENEVA as beside static repair (GENEVA §5.1): within a fifth.
    assert!(taken as f64 <= 1.2 * static_taken as f64, "{taken} against {static_taken}");
}

/// 30 Mb/s of media are 31 on the wire: even without repair an eighth is too much for 27.
fn loss_that_stays_takes_repair_down_and_ends_the_session(variant: Variant) {
    let mut story = variant.over(wire(ms(20)), wire(ms(20)));
    story.policer = Some(Policer::new(Rate::from_mbps(27)));
    story.until(500).play(RATE).until(4000);
    assert_eq!(story.sender_metrics()["repair_limit_packets"], 0.0);
    let wishes = story.sender_events.iter().filter_map(|(when, said)| match said {
        Said::LowerRate(rate) => Some((*when, *rate)),
        _ => None,
    });
    let wishes: Vec<_> = wishes.collect();
    assert!(wishes[0].0 < at(2500), "a second of loss, and as much for the question: {wishes:?}");
    let last = wishes.last().expect("a wish").1;
    assert!((last.as_mbps_f64() - 26.0).abs() < 1.5, "of 27 Mb/s some is headers: {wishes:?}");
    assert_eq!(story.sender_metrics()["wanted_rate_bps"], last.as_bps() as f64);
    story.until(16_000);
    let (when, last) = *story.sender_events.last().expect("an event");
    assert_eq!(last, Said::Ended(Ending::Breaker));
    assert!((at(12_500)..at(15_500)).contains(&when), "{when:?}");
}

/// A story of a stream over a round trip of 40 ms until `millis`; `fault` is applied at three seconds, when the stream
/// has been running for 2.5 s.
fn stricken(variant: Variant, breaker: Breaker, fault: impl FnOnce(&mut Story), millis: u64) -> Story {
    let config = sender::Config { breaker, ..variant.sender() };
    let mut story = variant.story(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.until(500).play(RATE).until(3000);
    fault(&mut story);
    story.until(millis);
    story
}

/// Media that does not arrive while reports do is a loss of everything, although no later packet reveals it.
fn a_path_that_brings_reports_and_takes_nothing_ends_the_session_as_well(variant: Variant) {
    let story = stricken(variant, Breaker::RepairFirst, |story| story.deaf = true, 14_500);
    let (when, first) = story.sender_events[1];
    assert!(matches!(first, Said::LowerRate(rate) if rate == Rate::from_bps(0)), "{first:?}");
    assert!((at(4500)..at(4800)).contains(&when), "noticed after half a second, reported after one more: {when:?}");
    assert_eq!(story.sender_metrics()["repair_limit_packets"], 0.0);
    // MEDIA_TIMEOUT is five reports, one a second (RFC 8083 §4.2); goodbyes follow for a fifth of a second.
    let (when, last) = *story.sender_events.last().expect("an event");
    assert_eq!(last, Said::Ended(Ending::Breaker), "{:?}", story.sender_events);
    assert!((at(8_000)..at(9_300)).contains(&when), "{when:?}");
}

/// A path whose maximum datagram is shorter than a media packet, so that only hellos pass.
fn packets_too_long_for_the_path_end_the_session_under_either_breaker(variant: Variant) {
    let narrow = |story: &mut Story| story.longest = 600;
    for breaker in [Breaker::RepairFirst, Breaker::Rfc8083] {
        let story = stricken(variant, breaker, narrow, 20_000);
        let (when, last) = *story.sender_events.last().expect("an event");
        assert_eq!(last, Said::Ended(Ending::Breaker), "{:?}", story.sender_events);
        // MEDIA_TIMEOUT is five reports, one a second (RFC 8083 §4.2).
        assert!((at(8_000)..at(9_300)).contains(&when), "{breaker:?}: {when:?}");
    }
}

/// Half a second without arrivals is no persistent loss, and a source that pauses loses nothing.
fn a_pause_and_a_short_darkness_leave_the_brake_alone(variant: Variant) {
    let mut story = stricken(variant, Breaker::RepairFirst, |story| story.deaf = true, 3500);
    story.deaf = false;
    story.until(6000).pause().until(20_000).play(RATE).until(23_000);
    assert_eq!(story.sender_events.len(), 1, "{:?}", story.sender_events);
    assert!(story.sender_metrics()["repair_limit_packets"].is_nan());
    assert!(story.sender_metrics()["wanted_rate_bps"].is_nan(), "nothing was ever asked");
}

fn the_breakers_of_rfc_8083_end_what_a_tcp_would_not_send(variant: Variant) {
    // 10 % at 40 ms: a TCP gets 1460 / (0.04 sqrt(2 0.1 / 3)) = 141 kB/s, a thirtieth of this.
    let run = |breaker| {
        let forward = wire(ms(20)).then("loss", Loss::independent(0.1, Rng::new(5)));
        let config = sender::Config { breaker, ..variant.sender() };
        let mut story = variant.story(config, receiver_config(), forward, wire(ms(20)));
        story.until(500).play(RATE).until(30_000);
        story
    };
    let letter = run(Breaker::Rfc8083);
    let &(ended, ref said) = letter.sender_events.last().expect("an event");
    assert_eq!(*said, Said::Ended(Ending::Breaker));
    // Tdr is a second, so that CB_INTERVAL, 3 min(max(10 Tf, 10 Tr, 3 Tdr), 15 s) / 3 Tdr, is three reports. The first
    // of them ends a second that had begun before.
    let took = ended.since(at(500));
    assert!(took >= ms(2000) && took <= ms(4040), "{took}");
    let off = run(Breaker::Off);
    assert_eq!(off.sender_events.len(), 1, "{:?}", off.sender_events);
    assert_eq!(off.sender_metrics()["breaker_open"], 1.0);
}

fn replayed_reports_count_for_nothing(variant: Variant) {
    let mut story = variant.over(bursty(ms(20), 7), wire(ms(20)));
    story.until(500).play(RATE).until(4000);
    let before = story.sender_metrics();
    let from = story.receiver_at;
    for bytes in core::mem::take(&mut story.returned) {
        // They are refused or hold no new information; either is right.
        let _ = story.sender.handle_datagram(story.now, from, &bytes);
    }
    let after = story.sender_metrics();
    for name in ["lost_packets_total", "delivered_packets_total", "repair_window_packets"] {
        assert_eq!(before[name], after[name], "{name}");
    }
}

fn reports_from_elsewhere_count_for_nothing(variant: Variant) {
    let mut story = variant.over(bursty(ms(20), 7), wire(ms(20)));
    story.until(500).play(RATE).until(3000);
    story.back = Back::Nothing;
    story.returned.clear();
    let before = story.sender_metrics();
    story.until(3500);
    assert!(story.returned.len() > 45, "a report every 10 ms");
    for bytes in core::mem::take(&mut story.returned) {
        let _ = story.sender.handle_datagram(story.now, address("10.6.6.6:666"), &bytes);
    }
    let after = story.sender_metrics();
    assert_eq!(before["delivered_packets_total"], after["delivered_packets_total"]);
    assert_eq!(before["repair_window_packets"], after["repair_window_packets"]);
}

fn strangers_get_no_more_than_they_send(variant: Variant) {
    let mut sender = Sender::new(variant.sender(), Time::ZERO, &Rng::new(1));
    let mut receiver = Receiver::new(receiver_config(), &Rng::new(2));
    let mut buf = [0; MAX_DATAGRAM];
    let hello = sender.poll_transmit(Time::ZERO, &mut buf).expect("a hello").len;
    let hello = buf[..hello].to_vec();
    for stranger in 1..=200 {
        let from = format!("10.1.1.{stranger}:9").parse().expect("an address");
        receiver.handle_datagram(at(stranger), from, &hello).expect("a hello");
        let answer = receiver.poll_transmit(at(stranger), &mut buf).expect("an answer");
        assert_eq!(answer.to, from);
        assert!(answer.len < hello.len(), "{} bytes for {}", answer.len, hello.len());
        assert!(receiver.poll_transmit(at(stranger), &mut buf).is_none(), "one answer for one hello");
        assert!(receiver.poll_event().is_none(), "no stream begins before the echo");
    }
    for _ in 0..1000 {
        let _ = receiver.handle_datagram(at(300), address("10.1.1.1:9"), &hello);
    }
    let answers = core::iter::from_fn(|| receiver.poll_transmit(at(300), &mut buf)).count();
    assert!(answers <= 16, "answers that wait are bounded: {answers}");
}

proptest! {
    /// Real datagrams of the stream, damaged, cut, repeated and sent to either endpoint.
    #[test]
    fn any_bytes_at_any_time_are_survived(
        is_auto in any::<bool>(),
        datagrams in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), damage()), 1..60),
    ) {
        let variant = if is_auto { Variant::auto() } else { Variant::geneva() };
        let mut story = variant.over(bursty(ms(5), 3), wire(ms(5)));
        story.until(100).play(RATE).until(300);
        let (from, to) = (story.sender_at, story.receiver_at);
        let (left, returned) = (story.recent.clone(), story.returned.clone());
        for (to_sender, which, damage) in datagrams {
            let mut bytes = if to_sender { which.get(&returned).clone() } else { left[which.index(left.len())].clone() };
            let from_end = if to_sender { End::Receiver } else { End::Sender };
            let change = |bytes: &mut [u8]| {
                for (at, value) in &damage.values {
                    let at = at.index(bytes.len().min(64));
                    bytes[at] ^= value;
                }
            };
            // An attacker who has read the secret on the path can authenticate any content.
            if damage.is_proved {
                story.tap.change(from_end, &mut bytes, change);
            } else {
                change(&mut bytes);
            }
            bytes.truncate(damage.keep.map_or(bytes.len(), |keep| keep.index(bytes.len())));
            let _ = match to_sender {
                true => story.sender.handle_datagram(story.now, to, &bytes),
                false => story.receiver.handle_datagram(story.now, from, &bytes),
            };
        }
        // After a source number was raised by 2^15 in steps, the stream takes as long to catch up with it.
        let flows = |story: &Story| story.outputs.iter().rev().take(100).filter(|output| output.intact).count() == 100;
        let mut end = 3000;
        story.until(end);
        loop {
            let from = story.outputs.len();
            end += 500;
            story.until(end);
            let new = &story.outputs[from..];
            let ended = story.sender_events.iter().any(|(_, event)| matches!(event, Said::Ended(_)));
            if ended || (new.len() > 1000 && flows(&story)) {
                // Arrivals do not pile up: no packet waits for longer than it ever may.
                let longest = new.iter().filter(|output| output.intact).map(|output| output.latency).max();
                prop_assert!(longest.is_none_or(|longest| longest <= Span::from_secs(1)), "{longest:?}");
                break;
            }
            prop_assert!(end < 20_000, "neither media nor an end: {:?} {:?}", story.sender_events, story.receiver_events);
        }
        let heard = story.receiver_metrics();
        let all = story.forward.delivered() as f64 + 60.0;
        prop_assert!(heard["media_packets_total"] <= all, "no more is delivered than arrived");
    }
}

/// The damage to a datagram: bytes among its first 64 changed, and its end cut off.
#[derive(Clone, Debug)]
struct Damage {
    values: Vec<(prop::sample::Index, u8)>,
    keep: Option<prop::sample::Index>,
    is_proved: bool,
}

fn damage() -> impl Strategy<Value = Damage> {
    let values = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (values, any::<Option<prop::sample::Index>>(), any::<bool>()).prop_map(|(values, keep, is_proved)| Damage {
        values,
        keep,
        is_proved,
    })
}

/// A law that begins at its maximum window.
pub(crate) fn at_its_greatest() -> Law {
    let parameters = Parameters { f: 60.0, ..Parameters::default() };
    Law::Geneva(Geneva::new(parameters).expect("parameters within their ranges"))
}

//! Streams with a key: their handshake, the keys that follow it, and attackers who do not have the key.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::carried::Notice;
use thalweg_core::session::live::sender::{self, Event as Said};
use thalweg_core::session::live::{MAX_PAYLOAD, MAX_SEALED_PAYLOAD};
use thalweg_core::session::secure::Ending;
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::secure::handshake::Unknown;
use thalweg_lab::node::corrupt::Corrupt;
use thalweg_lab::node::loss::Loss;

use crate::live::faults::quiet;
use crate::live::guards::cap::peak;
use crate::live::keys::Keys;
use crate::live::outsider::{heard_at, said};
use crate::live::props::{address, bursty, ms, payload, receiver_config, wire};
use crate::live::story::{Back, Story};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva_keyed, auto_keyed]:
    the_stream_begins_behind_its_handshake_although_a_third_is_lost,
    no_byte_of_media_and_no_ssrc_is_in_the_clear,
    strangers_get_a_cookie_and_nothing_else,
    a_receiver_without_a_key_notices_one_that_has,
    recorded_changed_and_forged_datagrams_change_no_byte_and_no_rate,
    a_forged_unknown_harms_nothing,
    damaged_datagrams_are_lost_whole,
    only_the_sender_of_the_stream_is_reported_to_move,
    keys_change_under_load_without_loss,
    a_stream_survives_the_end_of_its_association,
    the_maximum_rate_includes_the_seal,
    the_longest_datagrams_fit_into_an_ethernet_payload_with_ipv6,
}

const MEDIA: Rate = Rate::from_mbps(30);
/// The first byte of a sealed datagram; its second byte is the epoch of the keys (`core/src/wire/secure.rs`).
const SEALED: u8 = 5;

fn the_stream_begins_behind_its_handshake_although_a_third_is_lost(variant: Variant) {
    for seed in 0..5 {
        let lossy = |seed| wire(ms(20)).then("loss", Loss::independent(0.3, Rng::new(seed)));
        let mut story = variant.over(lossy(seed), lossy(seed + 100));
        story.until(4000).play(Rate::from_mbps(1)).until(8000).pause().until(8500);
        // Three quarters of 380 packets: repair is there for the loss that its paper measures.
        assert!(story.outputs.len() > 285 && story.is_in_order(), "{} packets, seed {seed}", story.outputs.len());
        assert!(story.outputs.iter().all(|output| output.intact));
        let mut kinds: BTreeSet<u8> = story.recent.iter().chain(&story.returned).map(|sent| sent[0]).collect();
        assert!(kinds.remove(&SEALED) && kinds.iter().all(|kind| (1..=3).contains(kind)), "{kinds:?}");
    }
}

fn no_byte_of_media_and_no_ssrc_is_in_the_clear(variant: Variant) {
    let mut story = variant.over(wire(ms(20)), wire(ms(20)));
    story.written = Some([Vec::new(), Vec::new()]);
    story.until(500).play(MEDIA).until(1500);
    let [sent, _] = story.written.as_ref().expect("it was kept");
    let wanted: [[u8; 8]; 3] = [100, 200, 300].map(|number| *payload(number)[8..].first_chunk().expect("eight bytes"));
    assert!(!sent.windows(8).any(|bytes| wanted.iter().any(|wanted| wanted == bytes)));
    assert_eq!((story.tap.sender, story.tap.receiver), (0, 0), "the attacker reads no hello and no answer");
}

fn strangers_get_a_cookie_and_nothing_else(variant: Variant) {
    let mut story = quiet(variant);
    let from = address("10.6.6.6:666");
    let mut clear = Keys::sender(None, variant.sender(), story.now, 66);
    let mut other = Keys::sender(Some(&mut Keys::new(2)), variant.sender(), story.now, 67);
    let (mut sent, mut got) = (0, 0);
    for millis in (3000..14_000).step_by(50) {
        story.until(millis);
        for stranger in [&mut clear, &mut other] {
            stranger.handle_timeout(story.now);
            stranger.handle_media(story.now, b"a stranger's media");
            for datagram in said(stranger, story.now) {
                sent += datagram.len();
                let _ = story.receiver.handle_datagram(story.now, from, &datagram);
            }
        }
        story.until(millis + 1);
        for reply in heard_at(&mut story, from) {
            got += reply.len();
            assert_eq!((reply[0], reply.len()), (2, 18), "a cookie");
            let _ = other.handle_datagram(story.now, story.receiver_at, &reply);
        }
    }
    assert!(got > 0 && got * 10 < sent, "{got} bytes for {sent}");
    assert_eq!(story.notices()[1], [Notice::InTheClear { from }, Notice::OtherKey { from }]);
    let refused: Vec<Notice> = core::iter::from_fn(|| other.poll_notice()).collect();
    assert_eq!(refused, [Notice::Refused(Ending::Refused)]);
    assert_eq!((story.lost(500, 13_500), story.sender_events.len(), story.receiver_events.len()), (0, 1, 1));
}

fn a_receiver_without_a_key_notices_one_that_has(variant: Variant) {
    let mut story = Story::new(variant.sender(), receiver_config(), wire(ms(20)), wire(ms(20)));
    story.sender = Keys::sender(Some(&mut Keys::new(1)), variant.sender(), story.now, 11);
    story.until(12_000);
    let from = story.sender_at;
    assert_eq!(story.notices(), [vec![], vec![Notice::Encrypted { from }]]);
    assert_eq!(story.returned, Vec::<Vec<u8>>::new());
}

/// The number of datagrams of an attack: ten million in the long tier.
fn attack_len() -> usize {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 10_000_000 } else { 200_000 }
}

/// Datagrams of one round of an attack: three to each end, from the address of the other end and from another.
const ROUND: usize = 12;

/// Attacks for three seconds with datagrams that were recorded, changed or made up.
fn attack(story: &mut Story) {
    let mut rng = Rng::new(7);
    for millis in 3000..6000 {
        story.until(millis);
        for _ in 0..attack_len().div_ceil(3000 * ROUND) {
            attack_once(story, &mut rng);
        }
    }
}

fn attack_once(story: &mut Story, rng: &mut Rng) {
    let elsewhere = address("10.6.6.6:666");
    // Datagrams that have arrived: the path takes 20 ms, and at most 3600 a second leave.
    let old = 80 + rng.u32() as usize % 20;
    let recorded = [story.recent[old].clone(), story.returned[rng.u32() as usize % 100].clone()];
    let answer = story.returned.iter().rfind(|returned| returned[0] == SEALED).expect("reports");
    let mut changed = [story.recent[0].clone(), answer.clone()];
    for datagram in &mut changed {
        let place = rng.u32() as usize % datagram.len();
        datagram[place] ^= 1 << (rng.u32() % 8);
    }
    let forged: Vec<u8> = (0..200).map(|_| rng.u32() as u8).collect();
    for [forward, back] in [recorded, changed, [forged.clone(), forged]] {
        for from in [story.sender_at, elsewhere] {
            let _ = story.receiver.handle_datagram(story.now, from, &forward);
        }
        for from in [story.receiver_at, elsewhere] {
            let _ = story.sender.handle_datagram(story.now, from, &back);
        }
    }
}

/// The metrics of the sender but for the datagrams that it has rejected, with the bits of their values.
fn rates(story: &Story) -> BTreeMap<&'static str, u64> {
    let metrics = story.sender_metrics().into_iter().filter(|(name, _)| *name != "rejected_datagrams_total");
    metrics.map(|(name, value)| (name, value.to_bits())).collect()
}

/// The datagrams and the metrics of a sender that was attacked are the same as those of one that was not.
fn recorded_changed_and_forged_datagrams_change_no_byte_and_no_rate(variant: Variant) {
    let [calm, attacked] = [false, true].map(|is_attacked| {
        let mut story = variant.over(wire(ms(20)), wire(ms(20)));
        story.written = Some([Vec::new(), Vec::new()]);
        story.until(500).play(MEDIA).until(2999);
        if is_attacked {
            attack(&mut story);
        }
        story.until(8000).pause().until(8500);
        story
    });
    assert_eq!(calm.outputs, attacked.outputs);
    assert!(calm.departures == attacked.departures, "no packet more, and none at another time");
    assert!(calm.written.as_ref().map(|[sent, _]| sent) == attacked.written.as_ref().map(|[sent, _]| sent));
    assert_eq!(rates(&calm), rates(&attacked));
    // Half of all go to the receiver; some of the changed ones ask for an unknown association.
    assert!(attacked.receiver_metrics()["rejected_datagrams_total"] > attack_len() as f64 / 3.0);
    let replies: BTreeSet<(SocketAddr, u8)> = attacked.elsewhere.iter().map(|(to, bytes)| (*to, bytes[0])).collect();
    assert!(replies.iter().all(|(_, kind)| [2, 4, 6].contains(kind)), "cookies, versions, `unknown`: {replies:?}");
}

/// Each claim that the receiver does not know the association causes a ping, and a handshake that is given up.
fn a_forged_unknown_harms_nothing(variant: Variant) {
    let mut story = quiet(variant);
    for millis in (3000..6000).step_by(100) {
        story.until(millis);
        let sealed = story.recent.iter().find(|sent| sent[0] == SEALED).expect("media");
        let id = u64::from_be_bytes(*sealed[2..].first_chunk().expect("an id"));
        let mut claim = [0; 10];
        Unknown { id }.emit(&mut claim);
        let from = story.receiver_at;
        assert_eq!(story.sender.handle_datagram(story.now, from, &claim), Ok(()));
    }
    story.until(8000).pause().until(8500);
    assert_eq!((story.lost(500, 8000), story.sender_events.len(), story.receiver_events.len()), (0, 1, 1));
}

/// Damage costs the packets that it hits, and no damaged datagram is delivered, as some are in the clear.
fn damaged_datagrams_are_lost_whole(variant: Variant) {
    let forward = wire(ms(20)).then("corrupt", Corrupt::new(0.01, 3, Rng::new(3)));
    let mut story = variant.over(forward, wire(ms(20)));
    story.until(500).play(MEDIA).until(8000).pause().until(8500);
    assert!(story.outputs.iter().all(|output| output.intact) && story.is_in_order());
    // One in a hundred, less five deviations of a binomial, which repair recovers.
    let expected = story.forward.accepted() as f64 / 100.0;
    assert!(story.receiver_metrics()["rejected_datagrams_total"] > expected - 5.0 * expected.sqrt());
    assert_eq!(story.lost(500, 8000), 0);
}

/// The receiver is busy, so that a second sender's new address is nothing to report.
fn only_the_sender_of_the_stream_is_reported_to_move(variant: Variant) {
    let mut story = quiet(variant);
    let mut second = Keys::sender(story.keys.as_mut(), variant.sender(), story.now, 77);
    let mut from = address("10.7.7.7:7000");
    let mut heard = [0, 0];
    for millis in 3000..6000 {
        story.until(millis);
        if millis == 4000 {
            from = address("10.7.7.8:7000");
        }
        second.handle_timeout(story.now);
        for datagram in said(&mut second, story.now) {
            let _ = story.receiver.handle_datagram(story.now, from, &datagram);
        }
        story.until(millis);
        for datagram in heard_at(&mut story, from) {
            heard[usize::from(millis >= 4000)] += 1;
            let _ = second.handle_datagram(story.now, story.receiver_at, &datagram);
        }
    }
    assert!(heard.iter().all(|count| *count > 10), "busy at both addresses: {heard:?}");
    assert_eq!(story.receiver_events.len(), 1, "{:?}", story.receiver_events);
}

fn keys_change_under_load_without_loss(variant: Variant) {
    let mut keys = Keys::new(1);
    keys.config.limits.packets = 2000;
    let mut story = Variant { keys: Some(keys), ..variant }.over(wire(ms(20)), wire(ms(20)));
    story.until(500).play(MEDIA).until(8000).pause().until(8500);
    // 3600 packets a second leave, so that each key lasts for 0.56 s and two round trips.
    let epochs = story.recent.front().expect("datagrams")[1];
    assert!((10..=14).contains(&epochs), "{epochs}");
    assert_eq!((story.lost(500, 8000), story.sender_events.len(), story.receiver_events.len()), (0, 1, 1));
    assert_eq!(story.sender_metrics()["lost_packets_total"], 0.0);
}

fn a_stream_survives_the_end_of_its_association(variant: Variant) {
    // Of both directions, or of the return path alone: then the receiver still has the old association.
    for deaf in [true, false] {
        let mut story = quiet(variant);
        // An association ends after 15 s of silence; an end of the stream, after ten.
        (story.back, story.deaf) = (Back::Nothing, deaf);
        story.until(20_000);
        (story.back, story.deaf) = (Back::Everything, false);
        story.until(26_000).pause().until(26_500);
        assert_eq!(story.lost(22_000, 26_000), 0, "{:?} {:?}", story.sender_events, story.receiver_events);
        let answered = story.sender_events.iter().filter(|(_, said)| matches!(said, Said::Connected { .. })).count();
        assert_eq!(answered, 2, "{:?}", story.sender_events);
        let names = story.receiver_events.iter().any(|(_, heard)| format!("{heard:?}").contains("100::"));
        assert!(!names, "events have addresses: {:?}", story.receiver_events);
    }
}

fn the_maximum_rate_includes_the_seal(variant: Variant) {
    for mbps in [60, 36, 33] {
        let config = sender::Config { max_rate: Some(Rate::from_mbps(mbps)), ..variant.sender() };
        let mut story = variant.story(config, receiver_config(), wire(ms(20)), wire(ms(20)));
        story.until(500).play(MEDIA).until(5500).pause().until(6000);
        // One packet more or less fits into a tenth of a second. Media takes 31.9 Mb/s with its headers.
        let peak = peak(&story);
        assert!(peak.as_bps() <= mbps * 1_000_000 + 120_000, "{peak} under {mbps} Mb/s");
        assert_eq!(story.lost(500, 5500), 0, "{mbps} Mb/s");
    }
}

/// Repair packets are the longest ones, and fit into 1500 bytes with IPv6; the longest media goes through as well.
fn the_longest_datagrams_fit_into_an_ethernet_payload_with_ipv6(variant: Variant) {
    let config = sender::Config { to: address("[2001:db8::2]:6000"), ..variant.sender() };
    let mut story = variant.story(config, receiver_config(), bursty(ms(20), 3), wire(ms(20)));
    story.sender_at = address("[2001:db8::1]:5000");
    story.until(500).play(MEDIA).until(3000);
    assert_eq!(story.lost(500, 2900), 0);
    assert!(story.sender_metrics()["repair_packets_total"] > if variant.has_blocks() { 1000.0 } else { 10.0 });
    let headers = thalweg_lab::packet::Packet::datagram(0, Vec::new()).size;
    let longest = |story: &Story| story.departures.iter().map(|(_, size)| size.0).max().unwrap_or(0) - headers.0;
    // RTP 12, seal 35; payload ID 6 and ADUI 3 + 12, or payload ID 8, flow 1, length 2 and 12.
    let code = if variant.has_blocks() { 6 + 15 } else { 8 + 1 + 2 + 12 };
    assert_eq!(longest(&story), 1316 + 12 + code + 35);
    story.pause().until(3500);
    let unsent = story.sender_metrics()["unsent_packets_total"];
    for number in 0..100 {
        story.until(3500 + number);
        let now = story.now;
        story.sender.handle_media(now, &[7; MAX_SEALED_PAYLOAD]);
    }
    story.sender.handle_media(story.now, &[7; MAX_PAYLOAD]);
    story.until(4500);
    assert_eq!(story.sender_metrics()["unsent_packets_total"], unsent + 1.0);
    assert!(Bytes(longest(&story) + 48) <= Bytes(1500), "{}", longest(&story));
    assert!(longest(&story) > 1316 + 68);
}

//! Forged reports: a stream without a key has no defence on the path, so an attacker who reads the secret's halves on the path, and can write
//! the receiver's address on a datagram, is treated like the receiver. Such reports may take repair up to the limits
//! that always hold, and down; never beyond, and without lasting effect.

use thalweg_core::session::live::sender::{self, Event as Said};
use thalweg_core::session::live::{End, REPAIR};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_core::wire::feedback::{Arrival, Builder, Ecn, Offset};
use thalweg_core::wire::ntp::NtpShort;
use thalweg_core::wire::rtcp::Writer;
use thalweg_core::wire::rtp;

use super::cap::peak;
use crate::live::props::{at, bursty, ms, receiver_config, wire};
use crate::live::story::Story;
use crate::live::tap::Tap;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    forged_reports_take_repair_to_no_more_than_its_limit_and_are_forgotten,
    a_clock_of_hours_to_come_shuts_nobody_out,
    recorded_reports_played_again_for_five_seconds_change_nothing,
}

const MEDIA: Rate = Rate::from_mbps(30);
const GREATEST: Rate = Rate::from_mbps(40);
/// The number of packets of each stream that a forged report names.
const NAMED: u16 = 120;

/// The knowledge of an attacker who has seen the stream: the reporter's identity, and the streams with their newest
/// sequence numbers.
#[derive(Clone, Copy)]
struct Seen {
    tap: Tap,
    streams: [Option<(u32, u16)>; 2],
}

impl Seen {
    /// The knowledge from the story's last packets; for a stream that has paused, the knowledge from before.
    fn of(story: &Story, before: Option<Seen>) -> Seen {
        let newest = |nth: usize, payload_type| {
            let packets = story.recent.iter().filter(|bytes| !rtp::is_rtcp(bytes));
            let mut headers = packets.map(|bytes| rtp::Packet::parse(bytes).expect("our own").header);
            let header = headers.find(|header| header.payload_type == payload_type);
            let seen = header.map(|header| (header.ssrc, header.sequence));
            seen.or(before.and_then(|seen| seen.streams[nth]))
        };
        Seen { tap: story.tap, streams: [newest(0, rtp::MP2T), newest(1, REPAIR)] }
    }

    /// A report of `stamp` on the packets from `back` before the newest on, each with the outcome that `fate` returns.
    fn report(&self, stamp: NtpShort, back: u16, fate: impl Fn(u16) -> Option<Arrival>) -> Vec<u8> {
        let mut buf = [0; MAX_DATAGRAM];
        let mut writer = Writer::new(&mut buf);
        let mut builder = Builder::new(&mut writer, self.tap.receiver).expect("room");
        for (ssrc, newest) in self.streams.into_iter().flatten() {
            let fates: Vec<_> = (0..NAMED).map(&fate).collect();
            builder.stream(ssrc, newest.wrapping_sub(back), fates.into_iter()).expect("room");
        }
        builder.finish(stamp);
        let len = writer.len();
        let len = self.tap.prove(End::Receiver, &mut buf, len);
        buf[..len].to_vec()
    }
}

fn held(span: Span) -> Option<Arrival> {
    Some(Arrival { ecn: Ecn::NotEct, offset: Offset::between(at(20_000), at(20_000) + span) })
}

/// The forged report of time `millis`; one is sent every 3 ms.
type Forgery = fn(&Seen, u64) -> Vec<u8>;

fn stamp(millis: u64) -> NtpShort {
    NtpShort::from(at(millis))
}

/// All but the last three are lost: these reveal the loss (RFC 5348 §5.1).
fn total_loss(seen: &Seen, millis: u64) -> Vec<u8> {
    seen.report(stamp(millis), NAMED, |nth| (nth + 3 >= NAMED).then_some(held(Span::ZERO)).flatten())
}

/// Two in ten are lost, and the round trip is alternately zero and nearly two seconds.
fn absurd_round_trips(seen: &Seen, millis: u64) -> Vec<u8> {
    let (back, long) = if millis % 20 < 10 { (NAMED, Span::from_secs(7)) } else { (6000, Span::ZERO) };
    seen.report(stamp(millis), back, |nth| (nth % 10 > 1).then_some(held(long)).flatten())
}

/// Numbers all around the circle, most of which were never sent.
fn absurd_numbers(seen: &Seen, millis: u64) -> Vec<u8> {
    seen.report(stamp(millis), (millis * 7919) as u16, |nth| {
        nth.is_multiple_of(7).then_some(held(Span::ZERO)).flatten()
    })
}

/// Total loss, by a clock that is hours ahead.
fn absurd_clock(seen: &Seen, millis: u64) -> Vec<u8> {
    let hours = millis + 3_600_000 * (1 + millis % 8);
    seen.report(stamp(hours), NAMED, |nth| (nth + 3 >= NAMED).then_some(held(Span::ZERO)).flatten())
}

/// Five seconds of forgeries from three seconds on, one every 3 ms, followed by 8 s without.
fn attacked(variant: Variant, greatest: Option<Rate>, forgery: Forgery) -> Story {
    let config = sender::Config { max_rate: greatest, ..variant.sender() };
    let mut story = variant.story(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.until(500).play(MEDIA);
    let mut seen = None;
    for millis in (3000..8000).step_by(3) {
        story.until(millis);
        let (now, from) = (Seen::of(&story, seen), story.receiver_at);
        let _ = story.sender.handle_datagram(story.now, from, &forgery(&now, millis));
        seen = Some(now);
    }
    story.until(16_000).pause().until(16_500);
    story
}

/// Repair packets per SYN in the story's worst tenth of a second. Source packets are as dense as the media.
fn most_repair(story: &Story) -> f64 {
    let sources = MEDIA.bytes_in(ms(10)).0 as f64 / 1316.0;
    let tenths = (30..160).map(|tenth| (at(tenth * 100), at(tenth * 100 + 100)));
    let packets =
        tenths.map(|(from, to)| story.departures.iter().filter(|(when, _)| (from..to).contains(when)).count());
    packets.max().unwrap_or(0) as f64 / 10.0 - sources
}

fn expect_survival(name: &str, greatest: Option<Rate>, story: &Story) {
    let case = format!("{name} under {greatest:?}");
    if let Some(greatest) = greatest {
        // One packet more or less fits into a tenth of a second, and media catches up on the ten milliseconds before it.
        let peak = peak(story);
        assert!(peak.as_bps() <= greatest.as_bps() / 10 * 11 + 120_000, "{case}: {peak}");
    }
    // GENEVA §3.2.4: Fwnd_max is 60. A hello every 200 ms, and a packet more or less.
    let most = most_repair(story);
    assert!(most <= 61.0, "{case}: {most}");
    assert_eq!(story.lost(500, 16_000), 0, "{case}: no media is harmed");
    assert!(story.latency(1.0) <= ms(90), "{case}: {}", story.latency(1.0));
    // Afterwards all effects are gone.
    let said = story.sender_metrics();
    assert_eq!(said["repair_window_packets"], 8.0, "{case}: {said:?}");
    assert!(said["repair_limit_packets"].is_nan() && said["wanted_rate_bps"].is_nan(), "{case}: {said:?}");
    assert!((said["ertt_seconds"] - 0.040).abs() < 0.005, "{case}: {said:?}");
    let ended = story.sender_events.iter().any(|(_, said)| matches!(said, Said::Ended(_) | Said::Silent | Said::Left));
    assert!(!ended, "{case}: {:?}", story.sender_events);
    // The receiver's reports count again: the last second is reported as delivered.
    assert_eq!(said["loss_before_repair_ratio"], 0.0, "{case}: {said:?}");
}

fn forged_reports_take_repair_to_no_more_than_its_limit_and_are_forgotten(variant: Variant) {
    let forgeries: [(&str, Forgery); 4] = [
        ("total loss", total_loss),
        ("absurd round trips", absurd_round_trips),
        ("absurd numbers", absurd_numbers),
        ("absurd clock", absurd_clock),
    ];
    for (name, forgery) in forgeries {
        for greatest in [Some(GREATEST), None] {
            let story = attacked(variant, greatest, forgery);
            expect_survival(name, greatest, &story);
            if name == "total loss" {
                // The report was believed, so the brake acted, too.
                let asked = story.sender_events.iter().any(|(_, said)| matches!(said, Said::LowerRate(_)));
                assert!(asked, "{:?}", story.sender_events);
                // More than GENEVA's minimum.
                assert!(greatest.is_some() || most_repair(&story) > 10.0, "{}", most_repair(&story));
            }
        }
    }
}

/// The clock of a forged report does not make the receiver's reports look old: packets delivered meanwhile are counted.
fn a_clock_of_hours_to_come_shuts_nobody_out(variant: Variant) {
    let (attacked, left_alone) = (attacked(variant, None, absurd_clock), attacked(variant, None, |_, _| Vec::new()));
    let delivered = |story: &Story| story.sender_metrics()["delivered_packets_total"];
    assert_eq!(delivered(&attacked), delivered(&left_alone));
}

/// Reports of two seconds, losses among them, replayed repeatedly while the stream goes on.
fn recorded_reports_played_again_for_five_seconds_change_nothing(variant: Variant) {
    let play = |greatest, again: bool| {
        let config = sender::Config { max_rate: greatest, ..variant.sender() };
        let mut story = variant.story(config, receiver_config(), bursty(ms(20), 7), wire(ms(20)));
        story.until(500).play(MEDIA).until(2500);
        let recorded = core::mem::take(&mut story.returned);
        for (nth, millis) in (2500..7500).step_by(5).enumerate() {
            story.until(millis);
            if again {
                let from = story.receiver_at;
                let _ = story.sender.handle_datagram(story.now, from, &recorded[nth % recorded.len()]);
            }
        }
        story.until(9000);
        story
    };
    for greatest in [Some(GREATEST), None] {
        let (story, alone) = (play(greatest, true), play(greatest, false));
        assert!(story.departures == alone.departures, "not a packet leaves otherwise, under {greatest:?}");
        assert!(alone.sender_metrics()["lost_packets_total"] > 100.0, "there was something to play again");
    }
}

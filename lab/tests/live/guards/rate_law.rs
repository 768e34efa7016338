//! A rate law: it bounds all that leaves, and media that it does not carry is dropped, never queued.

use thalweg_core::law::redundancy::{Law, none};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{self, Breaker, Event as Said};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::trace_link::{Trace, TraceLink};
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;

use super::cap::{came, peak};
use crate::live::props::{PAYLOAD, at, geneva, ms, receiver_config, sender_config, wire};
use crate::live::story::{Back, Story};

/// The bytes of a source packet with RTP header, payload ID, UDP and IP.
const PACKET: u64 = PAYLOAD as u64 + 12 + 6 + 28;

fn config(law: &str, repair: Law) -> sender::Config {
    let rate = Some(law.parse().expect("a law"));
    sender::Config { rate, repair, breaker: Breaker::Rfc8083, ..sender_config() }
}

/// A story under a rate law on a path of 40 ms, after half a second of handshake.
fn under(config: sender::Config) -> Story {
    let mut story = Story::new(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.until(500);
    story
}

/// A bottleneck of `rate` with a queue of one round trip of 40 ms.
fn bottleneck(rate: Rate) -> Path {
    let queue = DropTail::new(rate, Limit::Bytes(rate.bytes_in(ms(40))));
    Path::default().then("queue", queue).then("wire", Wire::new(ms(20)))
}

#[test]
fn fixed_rate_is_never_exceeded_by_media_repair_and_control() {
    // Media of 30 Mb/s takes 31 with its headers.
    for (law, most, bound) in [("fixed:20mbit", None, 20), ("fixed:36mbit", None, 36), ("fixed:40mbit", Some(20), 20)] {
        for repair in [geneva(), none::None.into()] {
            let mut story = under(sender::Config { max_rate: most.map(Rate::from_mbps), ..config(law, repair) });
            story.play(Rate::from_mbps(30)).until(5500).pause().until(6000);
            let peak = peak(&story);
            // One packet more or less fits into a tenth of a second, and a sender that is late catches up on a
            // millisecond.
            assert!(peak.as_bps() <= bound * 1_010_000 + 120_000, "{peak} under {law} and {most:?}");
            let came = came(&story, 2000);
            let fits = (bound * 1_000_000 * PAYLOAD as u64 / PACKET).min(30_000_000);
            assert!(came.as_bps() >= fits / 100 * 85, "{came} under {law} and {most:?}");
            assert!(story.latency(1.0) <= ms(90) && story.is_in_order(), "{} under {law}", story.latency(1.0));
            let metrics = story.sender_metrics();
            let unsent = metrics["unsent_packets_total"];
            assert_eq!(metrics["source_packets_total"] + unsent, story.inputs.len() as f64, "{law}");
            assert_eq!(story.lost(500, 6000) as f64, unsent, "{law}: all that left arrived");
            assert_eq!(unsent > 0.0, bound < 31, "{unsent} under {law}");
        }
    }
}

#[test]
fn media_at_the_wanted_rate_passes_whole() {
    for repair in [geneva(), none::None.into()] {
        let mut story = under(config("fixed:20mbit", repair.clone()));
        story.play(Rate::from_mbps(30)).until(5500);
        let wanted = story.sender_metrics()["wanted_rate_bps"];
        // Repair takes at most 40 % of the media's bytes where nothing is lost.
        let headers = PAYLOAD as f64 / (PACKET - 6) as f64;
        assert!((20e6 / 1.4 * 0.95..=20e6 * headers).contains(&wanted), "{wanted} with {repair:?}");
        story.play(Rate::from_bps(wanted as u64 / 100 * 98)).until(7000);
        let before = story.sender_metrics()["unsent_packets_total"];
        story.until(10_000);
        assert_eq!(story.sender_metrics()["unsent_packets_total"], before, "{wanted} with {repair:?}");
    }
}

/// RFC 5348 §3.1: the throughput of TCP with the same loss event rate and round trip.
#[test]
fn tfrc_sends_at_the_rate_of_the_tcp_equation() {
    use thalweg_core::law::rate::tfrc::{Equation, TcpThroughput};
    use thalweg_core::units::Seconds;
    let lossy = Path::default().then("loss", Loss::independent(0.01, Rng::new(3))).then("wire", Wire::new(ms(50)));
    let mut story = Story::new(config("tfrc", none::None.into()), receiver_config(), lossy, wire(ms(50)));
    story.until(500).play(Rate::from_mbps(30)).until(60_500);
    let before = story.sender_metrics()["wire_bytes_total"];
    story.until(180_500);
    let rate = (story.sender_metrics()["wire_bytes_total"] - before) / 120.0;
    let equation = TcpThroughput::default().rate(Bytes(PACKET), Seconds(0.1), 0.01);
    // Losses of one round trip are one event, so that p is somewhat below the loss rate.
    assert!((0.7..=1.5).contains(&(rate / equation)), "{rate} bytes/s, and {equation} by the equation");
    assert!(story.latency(1.0) <= ms(90), "{}", story.latency(1.0));
}

#[test]
fn every_law_fills_a_bottleneck_and_yields_when_its_queue_is_full() {
    for law in ["cubic", "copa", "newreno", "tfrc"] {
        let link = Rate::from_mbps(10);
        let config = sender::Config { latency: ms(200).into(), ..config(law, geneva()) };
        let mut story = Story::new(config, receiver_config(), bottleneck(link), wire(ms(20)));
        story.until(500).play(Rate::from_mbps(30)).until(30_500);
        let metrics = story.sender_metrics();
        let (lost, delivered) = (metrics["lost_packets_total"], metrics["delivered_packets_total"]);
        // Without a law two thirds would be lost.
        assert!(lost / (lost + delivered) < 0.05, "{law}: {lost} of {}", lost + delivered);
        let bytes: u64 = story.outputs.iter().filter(|output| output.at > at(10_500)).count() as u64 * PAYLOAD as u64;
        let came = Rate::of(Bytes(bytes), ms(20_000));
        // Headers and the least repair take up to a third.
        assert!(came.as_bps() > link.as_bps() / 2, "{law}: {came}");
        let ended = story.sender_events.iter().find(|(_, said)| matches!(said, Said::Ended(_)));
        assert_eq!(ended, None, "{law}");
        // Within one round trip the path's queue may fill by more than the reserve.
        let [most, usual] = [1.0, 0.99].map(|quantile| story.latency(quantile));
        assert!(usual <= ms(200) && most <= ms(210), "{law}: {usual}, at most {most}");
    }
}

#[test]
fn silence_takes_the_rate_down_and_reports_bring_it_back() {
    for law in ["tfrc", "cubic", "copa"] {
        let mut story = under(config(law, none::None.into()));
        story.play(Rate::from_mbps(10)).until(10_500);
        let sent = |story: &mut Story, until: u64| {
            let before = story.sender_metrics()["source_packets_total"];
            story.until(until);
            story.sender_metrics()["source_packets_total"] - before
        };
        let each = 10e6 / 8.0 / PAYLOAD as f64;
        assert!(sent(&mut story, 11_500) > 0.98 * each, "{law} on a clean path");
        story.back = Back::Answers;
        story.until(13_000);
        // Media without reports would leave at its full rate for two seconds.
        assert!(sent(&mut story, 13_400) < 0.4 * 0.5 * each, "{law} without reports");
        story.back = Back::Everything;
        story.until(25_000);
        assert!(sent(&mut story, 26_000) > 0.98 * each, "{law} after the silence");
    }
}

/// The first packets wait for 400 ms, more than the latency, in a link that is dead for so long. All that waits with
/// them is late, but the queue drains. TFRC begins at one packet a second (RFC 5348 §4.2).
#[test]
fn stream_goes_on_after_its_first_packets_were_late() {
    for (law, from) in [("cubic", 1_500), ("copa", 1_500), ("newreno", 1_500), ("tfrc", 5_000)] {
        let alive = |millis: &u64| !(500..900).contains(millis);
        let stamps: String = (1..=30_000).filter(alive).map(|millis| format!("{millis}\n").repeat(4)).collect();
        let link = TraceLink::new(Trace::parse(&stamps).expect("a trace"), Limit::Packets(1_000));
        let path = Path::default().then("link", link).then("wire", Wire::new(ms(5)));
        let mut story = Story::new(config(law, none::None.into()), receiver_config(), path, wire(ms(5)));
        story.until(500).play(Rate::from_mbps(3)).until(10_000);
        assert_eq!(story.lost(from, 9_900), 0, "{law}");
    }
}

/// At a β of 1/2, Eq. (2) of GCA is sqrt(α) times the equation of a TCP, whatever the loss.
#[test]
fn gca_shows_its_rate_as_a_multiple_of_a_tcps() {
    for (law, multiple) in [("gca:4", Some(2.0)), ("gca", Some(1.0)), ("tfrc", None)] {
        let lossy = Path::default().then("loss", Loss::independent(0.01, Rng::new(3))).then("wire", Wire::new(ms(20)));
        let mut story = Story::new(config(law, none::None.into()), receiver_config(), lossy, wire(ms(20)));
        story.until(500).play(Rate::from_mbps(3)).until(5500);
        let shown = story.sender_metrics()["tcp_multiple"];
        match multiple {
            Some(multiple) => assert!((shown - multiple).abs() < 1e-9, "{shown} under {law}"),
            None => assert!(shown.is_nan(), "{shown} under {law}"),
        }
    }
}

/// Source packets sent, and those of them that were lost for good, under GCA with 2 % of loss and a round trip of 25 ms. The
/// source is an encoder: it has 95 % of what the law leaves to media, ten times a second.
fn of_an_encoder(repair: Law, seed: u64) -> (f64, f64) {
    let way = Span::from_micros(12_500);
    let lossy = Path::default().then("loss", Loss::independent(0.02, Rng::new(seed))).then("wire", Wire::new(way));
    let config = sender::Config { latency: ms(150).into(), ..config("gca", repair) };
    let mut story = Story::new(config, receiver_config(), lossy, wire(way));
    story.sender.set_follows_budget(true);
    story.until(500).play(Rate::from_mbps(1));
    let counts = |story: &Story| {
        (story.sender_metrics()["source_packets_total"], story.receiver_metrics()["residual_lost_packets_total"])
    };
    let mut before = (0.0, 0.0);
    for tenth in 6..=600 {
        story.until(tenth * 100);
        if tenth == 100 {
            before = counts(&story);
        }
        let wanted = story.sender_metrics()["wanted_rate_bps"];
        if wanted.is_finite() {
            story.play(Rate::from_bps((0.95 * wanted) as u64));
        }
    }
    let (sent, lost) = counts(story.pause().until(61_000));
    (sent - before.0, lost - before.1)
}

#[test]
fn geneva_recovers_nine_of_ten_losses_under_gca() {
    let shares = [none::None.into(), geneva()].map(|repair: Law| {
        let all = (1..=5).map(|seed| of_an_encoder(repair.clone(), seed));
        let (sent, lost) = all.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        println!("{sent} source packets in 250 s, {lost} lost for good");
        lost / sent
    });
    let [without, with] = shares;
    assert!((0.015..0.025).contains(&without) && with <= without / 10.0, "{with} with repair, {without} without");
}

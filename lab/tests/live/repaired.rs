//! The figures of repair at both ends, beside what the path has lost.

use std::collections::BTreeMap;

use thalweg_core::rng::Rng;
use thalweg_core::session::live::{receiver, sender};
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::fecframe::PayloadId;
use thalweg_core::wire::rlc::SourcePayloadId;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::tap::Tap;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::{Element, Path};

use crate::live::auto::configs;
use crate::live::props::{PAYLOAD, ms, receiver_config, sender_config, wire};
use crate::live::story::{Story, wire_len};

/// The numbers of `loss_cause`.
const PATH: f64 = 0.0;
const QUEUE: f64 = 1.0;

const DELAY: u64 = 50;
const BEGIN: u64 = 1300;

/// A path that loses this share of the packets, and remembers those that remain; the same share of reports is lost.
fn lossy((sender, receiver): (sender::Config, receiver::Config), loss: f64) -> Story {
    let loss = |seed| Loss::independent(loss, Rng::new(seed));
    let forward =
        Path::default().then("loss", loss(1)).then("tap", Tap::new(1 << 20)).then("wire", Wire::new(ms(DELAY)));
    let back = Path::default().then("loss", loss(2)).then("wire", Wire::new(ms(DELAY)));
    Story::new(sender, receiver, forward, back)
}

/// Source packets, of this size, that the path has lost.
fn dropped(story: &Story, size: u64) -> f64 {
    let Some(Element::Tap(tap)) = story.forward.element("tap") else { panic!("a tap") };
    let sent = story.departures.iter().filter(|(_, sent)| *sent == Bytes(size)).count();
    (sent - tap.seen().filter(|seen| seen.size == Bytes(size)).count()) as f64
}

/// Plays for twenty seconds, and waits until the last report has arrived.
fn play(story: &mut Story) -> [BTreeMap<&'static str, f64>; 2] {
    story.until(BEGIN).play(Rate::from_mbps(10)).until(BEGIN + 20_000).pause().until(BEGIN + 25_000);
    [story.sender_metrics(), story.receiver_metrics()]
}

#[test]
fn lost_packets_are_recovered_or_lost_for_good_at_both_ends() {
    let blocks = (sender_config(), receiver_config());
    let cases = [(configs(120, 2 * DELAY), SourcePayloadId::LEN, true), (blocks, PayloadId::LEN, false)];
    for (configs, id, resends) in cases {
        let mut story = lossy(configs, 0.05);
        let [sent, got] = play(&mut story);
        let lost = dropped(&story, wire_len(id + PAYLOAD));
        assert!(lost > 0.0);
        assert_eq!(got["recovered_packets_total"] + got["residual_lost_packets_total"], lost);
        assert_eq!(got["residual_lost_packets_total"], story.lost(0, BEGIN + 20_000) as f64);
        for name in ["recovered_packets_total", "residual_lost_packets_total"] {
            assert_eq!(sent[name], got[name], "{name}");
        }
        let by_resend = got["resend_recovered_packets_total"];
        assert_eq!(by_resend > 0.0, resends);
        assert!(by_resend <= sent["resent_packets_total"]);
    }
}

/// Asserts that `loss_cause` is this one, in each second from the fifth to the twentieth.
fn expect_cause(story: &mut Story, cause: f64) {
    story.until(BEGIN).play(Rate::from_mbps(10));
    for second in 5..=20 {
        story.until(BEGIN + second * 1000);
        assert_eq!(story.sender_metrics()["loss_cause"], cause, "after {second} s");
    }
}

#[test]
fn random_loss_has_its_cause_in_the_path() {
    let mut story = lossy(configs(120, 2 * DELAY), 0.05);
    expect_cause(&mut story, PATH);
    let sent = story.sender_metrics();
    assert!(sent["loss_after_repair_ratio"] < sent["loss_before_repair_ratio"] / 5.0, "{sent:?}");
    assert!(sent["expected_loss_ratio"] < sent["loss_before_repair_ratio"] / 5.0, "{sent:?}");
    // Nothing is sent any more, so nothing is lost.
    story.pause().until(BEGIN + 25_000);
    assert!(story.sender_metrics()["loss_cause"].is_nan());
}

#[test]
fn full_queue_is_the_cause_of_its_loss() {
    let (sender, receiver) = configs(120, 2 * DELAY);
    let queue = DropTail::new(Rate::from_mbps(8), Limit::Packets(60));
    let forward = Path::default().then("queue", queue).then("wire", Wire::new(ms(DELAY)));
    expect_cause(&mut Story::new(sender, receiver, forward, wire(ms(DELAY))), QUEUE);
}

#[test]
fn path_without_loss_has_no_cause() {
    let mut story = lossy(configs(120, 2 * DELAY), 0.0);
    let [sent, got] = play(&mut story);
    assert!(sent["loss_cause"].is_nan());
    assert_eq!(sent["loss_after_repair_ratio"], 0.0);
    for metrics in [sent, got] {
        assert_eq!((metrics["recovered_packets_total"], metrics["residual_lost_packets_total"]), (0.0, 0.0));
    }
}

/// A receiver counts over all its streams; its reports to a sender have the losses of that sender's stream alone.
#[test]
fn another_sender_is_not_reported_the_losses_before_it() {
    let (sender, receiver) = configs(120, 2 * DELAY);
    let mut story = lossy((sender.clone(), receiver), 0.05);
    let [_, first] = play(&mut story);
    story.restart_sender(sender, 33);
    story.until(40_000).play(Rate::from_mbps(10)).until(60_000).pause().until(65_000);
    let (sent, both) = (story.sender_metrics(), story.receiver_metrics());
    for name in ["recovered_packets_total", "residual_lost_packets_total"] {
        assert!(first[name] > 0.0, "{name}");
        assert_eq!(sent[name], both[name] - first[name], "{name}");
    }
}

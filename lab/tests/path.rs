//! Arbitrary paths: no packet is invented or forgotten, and the results do not depend on how often a path is driven.

use proptest::prelude::*;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::node::corrupt::Corrupt;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::duplicate::Duplicate;
use thalweg_lab::node::jitter::{Distribution, Jitter};
use thalweg_lab::node::loss::{Gilbert, Loss};
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::recorded::{Columns, Index, Recorded, Recording};
use thalweg_lab::node::reorder::Reorder;
use thalweg_lab::node::tap::Tap;
use thalweg_lab::node::trace_link::{Trace, TraceLink};
use thalweg_lab::node::wire::Wire;
use thalweg_lab::packet::Packet;
use thalweg_lab::path::{Element, Path};
use thalweg_lab::traffic::on_off::{Bursts, OnOff};

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(0u64..20).prop_map(Limit::Packets), (0u64..30_000).prop_map(|most| Limit::Bytes(Bytes(most)))]
}

fn span() -> impl Strategy<Value = Span> {
    (0u64..20_000).prop_map(Span::from_micros)
}

fn element() -> impl Strategy<Value = Element> {
    let share = || 0.0..=1.0;
    let rng = || any::<u64>().prop_map(Rng::new);
    let gilbert = (share(), share(), share(), share()).prop_map(|(to_bad, to_good, loss_bad, loss_good)| Gilbert {
        to_bad,
        to_good,
        loss_bad,
        loss_good,
    });
    prop_oneof![
        span().prop_map(|delay| Wire::new(delay).into()),
        (1u64..200, limit()).prop_map(|(mbps, limit)| DropTail::new(Rate::from_mbps(mbps), limit).into()),
        (proptest::collection::vec(0u32..5, 1..20), limit()).prop_map(|(gaps, limit)| {
            let stamps = gaps.iter().scan(1, |at, gap| {
                *at += gap;
                Some(format!("{at}\n"))
            });
            TraceLink::new(Trace::parse(&stamps.collect::<String>()).expect("never decreases"), limit).into()
        }),
        (share(), rng()).prop_map(|(rate, rng)| Loss::independent(rate, rng).into()),
        (gilbert, rng()).prop_map(|(gilbert, rng)| Loss::bursts(gilbert, rng).into()),
        (span(), any::<bool>(), rng()).prop_map(|(most, keep, rng)| Jitter::new(
            Distribution::Uniform(most),
            keep,
            rng
        )
        .into()),
        (share(), span(), rng()).prop_map(|(share, by, rng)| Reorder::new(share, by, rng).into()),
        (share(), rng()).prop_map(|(share, rng)| Duplicate::new(share, rng).into()),
        (share(), 0u32..4, rng()).prop_map(|(share, bytes, rng)| Corrupt::new(share, bytes, rng).into()),
        any::<bool>().prop_map(|by_packet| {
            let columns = Columns { sent: "at".into(), delay: "delay".into(), lost: Some("lost".into()), least: None };
            let recording = Recording::parse("at,delay,lost\n0,3,0\n1,,1\n2,1.5,0\n7,2,0\n", &columns);
            let index = if by_packet { Index::Packet } else { Index::Time };
            Recorded::new(recording.expect("a recording"), index, false).into()
        }),
        Just(Tap::new(3).into()),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let crowd = (any::<u64>(), 1u64..50, 1u64..5, 1u64..5).prop_map(|(seed, mbps, on, off)| {
        let (on, off) = (Span::from_millis(on), Span::from_millis(off));
        OnOff::new(Bursts { rate: Rate::from_mbps(mbps), on, off, packet: Bytes(1000) }, Rng::new(seed))
    });
    (proptest::collection::vec(element(), 0..6), proptest::option::of(crowd)).prop_map(|(elements, crowd)| {
        let chain = |path: Path, (index, element): (usize, Element)| path.then(&index.to_string(), element);
        let path = elements.into_iter().enumerate().fold(Path::default(), chain);
        match crowd {
            Some(crowd) => path.clone().joined(crowd, "0").unwrap_or(path),
            None => path,
        }
    })
}

/// Gaps in microseconds and payload sizes of the packets sent.
fn load() -> impl Strategy<Value = Vec<(u64, usize)>> {
    proptest::collection::vec((0u64..2_000, 0usize..1_472), 0..200)
}

fn send(path: &mut Path, load: &[(u64, usize)], mut drive: impl FnMut(&mut Path, Time)) -> Time {
    let mut now = Time::ZERO;
    for (flow, (gap, size)) in load.iter().enumerate() {
        now += Span::from_micros(*gap);
        drive(path, now);
        path.accept(now, Packet::datagram(flow as u32, vec![7; *size]));
    }
    let end = now + Span::from_secs(1);
    drive(path, end);
    end
}

proptest! {
    #[test]
    fn every_packet_is_delivered_or_accounted_for(mut path in path(), load in load()) {
        let mut out = 0;
        let mut last = Time::ZERO;
        send(&mut path, &load, |path, now| {
            while let Some(at) = path.next().filter(|at| *at <= now) {
                assert!(at >= last, "time goes back");
                last = at;
                out += u64::from(path.poll(at).is_some());
            }
            check::conservation(path).expect("in = out + dropped + queued");
        });
        prop_assert_eq!(path.accepted(), load.len() as u64);
        prop_assert_eq!(path.delivered(), out);
    }

    #[test]
    fn a_path_that_is_driven_late_does_the_same(path in path(), load in load()) {
        let (mut prompt, mut late) = (path.clone(), path);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        send(&mut prompt, &load, |path, now| {
            while let Some(at) = path.next().filter(|at| *at <= now) {
                first.extend(path.poll(at));
            }
        });
        let end = send(&mut late, &load, |_, _| {});
        while let Some(packet) = late.poll(end) {
            second.push(packet);
        }
        // Events without visible effect may be postponed: one poll brings both paths to the same state.
        prop_assert_eq!(prompt.poll(end), None);
        prop_assert_eq!(first, second);
        prop_assert_eq!(prompt, late);
    }
}

//! Exactness of shares, and groups of streams over virtual time.

use super::link::{Flow, share};
use super::*;
use crate::law::rate::gca::ALPHA;
use crate::time::{Span, Time};
use crate::units::Rate;
use proptest::prelude::*;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

#[test]
fn needs_of_9_6_and_3_have_the_multipliers_of_each_norm() {
    let needs = [9e6, 6e6, 3e6].map(Need::alone);
    for (norm, expected) in [("sum", [1.5, 1.0, 0.5]), ("max", [1.0, 2.0 / 3.0, 1.0 / 3.0]), ("min", [3.0, 2.0, 1.0])] {
        let norm: Norm = norm.parse().expect(norm);
        for (found, expected) in multipliers(&needs, norm).expect("valid").into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{norm}: {found}, not {expected}");
        }
    }
    let greediness = Greediness::times(1.5).expect("above 0");
    assert_eq!((greediness.alpha(), greediness.beta()), (2.25, 0.5));
}

#[test]
fn bad_needs_and_flows_are_refused_by_name() {
    let need = Need { demand: 1e6, rtt: Seconds(0.1), p: 0.01 };
    for (needs, expected) in [
        (vec![], "demand: no stream is given"),
        (vec![need, Need { demand: 0.0, ..need }], "demand must be above 0"),
        (vec![Need { rtt: Seconds(0.0), ..need }], "rtt must be above 0"),
        (vec![Need { p: 0.0, ..need }], "p must be above 0 and at most 1, not 0"),
        (vec![Need { p: f64::NAN, ..need }], "p must be"),
    ] {
        let error = multipliers(&needs, Norm::Sum).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!("mean".parse::<Norm>().expect_err("no norm").to_string(), "'mean' is not sum, max or min");
    let flow = flow(0.04, 1.0, None);
    for (capacity, flows, expected) in [
        (1e6, vec![], "flows: no flow is given"),
        (0.0, vec![flow], "capacity must be above 0"),
        (1e6, vec![Flow { segment: Bytes(0), ..flow }], "s must be at least 1"),
        (1e6, vec![Flow { cap: Some(0.0), ..flow }], "cap must be above 0"),
    ] {
        let error = share(capacity, &flows).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

fn flow(rtt: f64, alpha: f64, cap: Option<f64>) -> Flow {
    let greediness = Greediness::new(alpha, 0.5).expect("in the domain");
    Flow { segment: Bytes(1_024), rtt: Seconds(rtt), greediness, cap }
}

#[test]
fn link_gives_alike_flows_with_alpha_of_a_squared_multiplier_that_multiple() {
    // 9 : 6 : 3 of what remains beside a source of 200 kB/s, whatever p it takes.
    let flows = [flow(0.04, 2.25, None), flow(0.04, 1.0, None), flow(0.04, 0.25, None), flow(0.04, 1.0, Some(2e5))];
    let found = share(2e6, &flows).expect("valid");
    for (x, expected) in found.x.iter().zip([9e5, 6e5, 3e5, 2e5]) {
        assert!((x / expected - 1.0).abs() < 1e-9, "{:?}", found.x);
    }
    assert_eq!(found.p, flows[1].greediness.loss_event_rate(Bytes(1_024), Seconds(0.04), found.x[1]));
    let fits = share(2e6, &[flow(0.04, 1.0, Some(1.5e6)), flow(0.04, 1.0, Some(5e5))]).expect("valid");
    assert_eq!((fits.p, fits.x), (0.0, vec![1.5e6, 5e5]));
}

const MANY: Rate = Rate::from_mbps(1_000);

/// The events of a group until `end`, whose streams measure `rtt` and `p` every 50 ms.
fn run(group: &mut Group, from: u64, end: u64, measured: impl Fn(u32, u64) -> Option<(f64, f64)>) -> Vec<Event> {
    let mut events = Vec::new();
    for now in (from..end).step_by(50) {
        for id in 0..3 {
            if let Some((rtt, p)) = measured(id, now) {
                group.handle_measurement(at(now), Id(id), Span::from_secs_f64(rtt), p);
            }
        }
        group.handle_timeout(at(now));
        events.extend(core::iter::from_fn(|| group.poll_event()));
    }
    events
}

/// The α of each stream after `events`.
fn alphas(events: &[Event]) -> [f64; 3] {
    let mut alphas = [1.0; 3];
    for event in events {
        if let Event::Changed(id, greediness) = event {
            alphas[id.0 as usize] = greediness.alpha();
        }
    }
    alphas
}

fn is_near(found: [f64; 3], expected: [f64; 3]) {
    let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
    assert!(near, "{found:?} is not {expected:?}");
}

fn group(coupling: Coupling) -> Group {
    let mut group = Group::new(at(0), coupling, Norm::Sum);
    for (id, mbps) in [9, 6, 3].into_iter().enumerate() {
        group.handle_need(at(0), Id(id as u32), Rate::from_mbps(mbps), MANY).expect("above 0");
    }
    group
}

#[test]
fn fixed_coupling_ignores_measurements_and_measured_follows_them() {
    // Loss event rates of the three clients in a cell, at the same round trip: a faster stream sees a lower one.
    let p = [0.0065, 0.0086, 0.0121];
    let measured = |id: u32, now: u64| Some((0.02 + 0.01 * libm::sin(now as f64 / 700.0), p[id as usize]));
    let fixed = run(&mut group(Coupling::Fixed), 0, 20_000, measured);
    is_near(alphas(&fixed), [2.25, 1.0, 0.25]);
    let found = alphas(&run(&mut group(Coupling::Measured), 0, 20_000, measured));
    // Rates are in proportion to the needs, and the mean of the multipliers is 1.
    let x = |n: usize| Greediness::new(found[n], 0.5).expect("in the domain").rate(Bytes(1_024), Seconds(0.02), p[n]);
    assert!((x(0) / x(2) - 3.0).abs() < 1e-9 && (x(1) / x(2) - 2.0).abs() < 1e-9, "{found:?}");
    assert!((found.map(f64::sqrt).iter().sum::<f64>() - 3.0).abs() < 1e-9, "{found:?}");
    assert!(found[0] < 2.25 && found[2] > 0.25, "{found:?}");
}

#[test]
fn stream_that_leaves_returns_its_share_and_a_new_one_gets_its_own() {
    let mut group = group(Coupling::Measured);
    let events = |group: &mut Group| core::iter::from_fn(|| group.poll_event()).collect::<Vec<_>>();
    is_near(alphas(&events(&mut group)), [2.25, 1.0, 0.25]);
    group.handle_departure(at(100), Id(1));
    // 9 : 3 with a mean of 1: 1.5 and .5 as before.
    let stays = events(&mut group);
    let same = |event: &Event| matches!(event, Event::Changed(Id(id), it) if (it.alpha() - [2.25, 0.0, 0.25][*id as usize]).abs() < 1e-12);
    assert!(stays.iter().all(same), "{stays:?}");
    group.handle_need(at(200), Id(2), Rate::from_mbps(9), MANY).expect("above 0");
    let equal: Vec<Event> = events(&mut group);
    let one = Greediness::default();
    assert_eq!(equal, [Event::Changed(Id(0), one), Event::Changed(Id(2), one)]);
    let error = group.handle_need(at(300), Id(1), Rate::from_bps(0), MANY).expect_err("nothing needed");
    assert!(error.to_string().starts_with("need must be above 0"), "{error}");
    assert!(group.poll_event().is_none());
    for id in [0, 2] {
        group.handle_departure(at(400), Id(id));
    }
    assert_eq!(group.poll_timeout(), None);
}

#[test]
fn multiplier_above_three_is_bounded_and_reported_once() {
    let mut group = Group::new(at(0), Coupling::Fixed, Norm::Min);
    for (id, mbps) in [(0, 8), (1, 2)] {
        group.handle_need(at(0), Id(id), Rate::from_mbps(mbps), MANY).expect("above 0");
    }
    let events: Vec<Event> = core::iter::from_fn(|| group.poll_event()).collect();
    let nine = Greediness::times(MOST).expect("above 0");
    assert_eq!(events, [Event::Bounded(Id(0), 4.0), Event::Changed(Id(0), nine)]);
    assert!(run(&mut group, 0, 5_000, |_, _| None).is_empty());
    group.handle_need(at(5_000), Id(0), Rate::from_mbps(6), MANY).expect("above 0");
    assert_eq!(group.poll_event(), Some(Event::Unbounded(Id(0))));
}

/// The round trip behind a queue that fills and drains with a period of `millis`.
fn queue(now: u64, millis: f64) -> f64 {
    0.02 * f64::abs(libm::sin(now as f64 * core::f64::consts::PI / millis))
}

#[test]
fn streams_behind_one_queue_stay_together_and_one_behind_another_leaves() {
    let shared = |id: u32, now: u64| Some((0.01 * f64::from(id + 1) + queue(now, 3_100.0), 0.01));
    let mut group = group(Coupling::Measured);
    let events = run(&mut group, 0, 40_000, shared);
    assert!(!events.iter().any(|event| matches!(event, Event::Apart(_))), "{events:?}");
    // Stream 2 moves to a queue of its own.
    let moved = |id: u32, now: u64| if id == 2 { Some((0.03 + queue(now, 1_700.0), 0.02)) } else { shared(id, now) };
    let events = run(&mut group, 40_000, 80_000, moved);
    assert!(events.contains(&Event::Apart(Id(2))), "{events:?}");
    assert!(!events.contains(&Event::Apart(Id(0))) && !events.contains(&Event::Apart(Id(1))), "{events:?}");
    assert_eq!(alphas(&events)[2], 1.0, "as a TCP");
    // The two that share are as greedy as two: 1.2 and .8, at round trips that differ by a half.
    let [first, second, _] = alphas(&events).map(f64::sqrt);
    assert!((first + second - 2.0).abs() < 1e-9, "{first} {second}");
    let events = run(&mut group, 80_000, 120_000, shared);
    assert!(events.contains(&Event::Together(Id(2))), "{events:?}");
}

fn needs() -> impl Strategy<Value = Vec<Need>> {
    let need = (1e3..1e9f64, 0.0001..10.0f64, -6.0..0.0f64);
    let need = need.prop_map(|(demand, rtt, log_p)| Need { demand, rtt: Seconds(rtt), p: libm::exp10(log_p) });
    prop::collection::vec(need, 1..20)
}

fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let flow = (0.001..1.0f64, 0.01..16.0f64, 0.05..0.95f64, prop::option::of(1e3..1e7f64), 1u64..2_000);
    let flow = flow.prop_map(|(rtt, alpha, beta, cap, s)| {
        let greediness = Greediness::new(alpha, beta).expect("in the domain");
        Flow { segment: Bytes(s), rtt: Seconds(rtt), greediness, cap }
    });
    prop::collection::vec(flow, 1..20)
}

proptest! {
    #[test]
    fn rates_are_in_proportion_to_needs_and_the_norm_is_one(needs in needs()) {
        for (norm, _) in Norm::ALL {
            let m = multipliers(&needs, norm).expect("valid");
            let satisfaction = |n: usize| {
                let greediness = Greediness::times(m[n]).expect("above 0");
                greediness.rate(Bytes(1_000), needs[n].rtt, needs[n].p) / needs[n].demand
            };
            for n in 0..needs.len() {
                prop_assert!((satisfaction(n) / satisfaction(0) - 1.0).abs() < 1e-9);
            }
            prop_assert!((norm.of(&m) - 1.0).abs() < 1e-12);
        }
        let sum: f64 = multipliers(&needs, Norm::Sum).expect("valid").iter().sum();
        prop_assert!((sum / needs.len() as f64 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn greater_need_gives_a_greater_multiplier_and_takes_from_the_others(needs in needs(), more in 1.01..10.0f64) {
        prop_assume!(needs.len() > 1);
        let before = multipliers(&needs, Norm::Sum).expect("valid");
        let mut raised = needs.clone();
        raised[0].demand *= more;
        let after = multipliers(&raised, Norm::Sum).expect("valid");
        prop_assert!(after[0] > before[0]);
        prop_assert!(after.iter().zip(&before).skip(1).all(|(after, before)| after < before));
    }

    #[test]
    fn flows_fill_the_link_unless_all_sources_fit(flows in flows(), capacity in 1e5..1e7f64) {
        let found = share(capacity, &flows).expect("valid");
        let sum: f64 = found.x.iter().sum();
        match found.p {
            0.0 => prop_assert!(sum <= capacity && flows.iter().zip(&found.x).all(|(flow, x)| flow.cap == Some(*x))),
            // Not even a loss of every packet slows them enough.
            1.0 => prop_assert!(sum >= capacity),
            _ => prop_assert!((sum / capacity - 1.0).abs() < 1e-9, "{} of {}", sum, capacity),
        }
        prop_assert!(flows.iter().zip(&found.x).all(|(flow, x)| flow.cap.is_none_or(|cap| *x <= cap)));
        let more = share(2.0 * capacity, &flows).expect("valid");
        prop_assert!(more.p <= found.p && more.x.iter().zip(&found.x).all(|(more, x)| more >= x));
    }

    #[test]
    fn group_takes_any_measurement(rtt: u64, p: f64, wait in 0u64..30_000) {
        let mut group = group(Coupling::Measured);
        group.handle_measurement(at(wait), Id(0), Span::from_nanos(rtt), p);
        group.handle_measurement(at(wait), Id(9), Span::from_nanos(rtt), p);
        group.handle_timeout(at(wait + 1_000));
        while let Some(event) = group.poll_event() {
            if let Event::Changed(_, greediness) = event {
                prop_assert!(ALPHA.contains(&greediness.alpha()), "{:?}", greediness);
            }
        }
    }
}

#[test]
fn rates_of_rfc_8699_are_shared_by_need_and_all_streams_stay_as_greedy_as_a_tcp() {
    let mut group = group(Coupling::Rfc8699);
    assert_eq!(group.poll_event(), None);
    // Two streams are registered by their first rates: 4 and 2 Mb/s of 6, by needs of 9 and 6.
    group.handle_rate(Id(0), Rate::from_mbps(4));
    group.handle_rate(Id(1), Rate::from_mbps(2));
    let rates: Vec<Event> = core::iter::from_fn(|| group.poll_event()).skip(1).collect();
    assert_eq!(rates, [Event::Rate(Id(0), Rate::from_bps(3_600_000)), Event::Rate(Id(1), Rate::from_bps(2_400_000))]);
    // The third is registered, and 9 Mb/s are shared by 9, 6 and 3.
    group.handle_rate(Id(2), Rate::from_mbps(3));
    let rates: Vec<Event> = core::iter::from_fn(|| group.poll_event()).collect();
    let mbps = [4_500_000, 3_000_000, 1_500_000].map(Rate::from_bps);
    assert_eq!(rates, [0, 1, 2].map(|id| Event::Rate(Id(id), mbps[id as usize])));
    assert!(run(&mut group, 0, 20_000, |id, _| Some((0.02, 0.01 / f64::from(id + 1)))).is_empty());
}

#[test]
fn couplings_are_parsed_printed_and_refused() {
    for (text, coupling) in
        [("fixed", Coupling::Fixed), ("measured", Coupling::Measured), ("rfc8699", Coupling::Rfc8699)]
    {
        assert_eq!((text.parse(), coupling.to_string()), (Ok(coupling), text.to_owned()));
    }
    let error = "nada".parse::<Coupling>().expect_err("another law").to_string();
    assert_eq!(error, "'nada' is not fixed, measured or rfc8699");
}

//! The equations of the RFC at points computed by hand, and flows behind one queue over virtual time.

use std::collections::VecDeque;

use super::*;

fn is_near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found / expected - 1.0).abs() < tolerance
}

#[test]
fn ramp_up_is_bounded_by_the_queue_that_it_may_cause() {
    // gamma = 50 / (30 + 100 + 120) = 0.2, and 50 / 220 on a path without delay: GAMMA_MAX never binds.
    assert!(is_near(accelerated(1e6, 2e6, 0.030), 2.4e6, 1e-12));
    assert!(is_near(accelerated(1e6, 2e6, 0.0), 2e6 * 270.0 / 220.0, 1e-12));
    assert_eq!(accelerated(3e6, 2e6, 0.030), 3e6, "the ramp-up never lowers the rate");
}

#[test]
fn gradual_update_rests_where_the_signal_is_xref_rmax_over_the_rate() {
    // x_ref = 10 ms * 20 / 5 = 40 ms.
    assert_eq!(gradual(5e6, 0.1, (0.040, 0.040), 20e6), 5e6);
    // 10 ms above: 1/2 * .1/.5 * .01/.5 = 1/500 less; with x_diff of 10 ms another 1/2 * 2 * .01/.5 = 1/50.
    assert!(is_near(gradual(5e6, 0.1, (0.050, 0.050), 20e6), 5e6 * (1.0 - 1.0 / 500.0), 1e-12));
    assert!(is_near(gradual(5e6, 0.1, (0.050, 0.040), 20e6), 5e6 * (1.0 - 1.0 / 500.0 - 1.0 / 50.0), 1e-12));
    assert!(is_near(gradual(5e6, 0.1, (0.030, 0.030), 20e6), 5e6 * (1.0 + 1.0 / 500.0), 1e-12));
    // Twice the priority rests at twice the signal.
    assert_eq!(gradual(5e6, 0.1, (0.080, 0.080), 2.0 * 20e6), 5e6);
}

#[test]
fn delay_is_warped_above_50_ms_while_losses_are_recent() {
    assert_eq!(d_tilde(0.040, 1.0), 0.040);
    assert_eq!(d_tilde(0.050, 1.0), 0.050);
    // 50 exp(-.5 * 50/50), and of 150 ms 50 exp(-1).
    assert!(is_near(d_tilde(0.100, 1.0), 0.050 * libm::exp(-0.5), 1e-12));
    assert!(is_near(d_tilde(0.150, 1.0), 0.050 * libm::exp(-1.0), 1e-12));
    assert_eq!(d_tilde(0.150, 0.0), 0.150);
    // One percent of loss counts as 10 ms, two as 40.
    assert!(is_near(x_curr(0.030, 0.01), 0.040, 1e-12) && is_near(x_curr(0.0, 0.02), 0.040, 1e-12));
}

#[test]
fn priority_is_parsed_and_refused_by_name() {
    let mut priority = Priority::default();
    priority.set_argument("2.5").expect("in range");
    assert_eq!((priority.argument(), Priority::default().argument()), (Some("2.5".to_owned()), None));
    for (text, expected) in
        [("0", "priority must be at least 0.05 and at most 20, not 0"), ("a", "priority: 'a' is not")]
    {
        let error = priority.set_argument(text).expect_err("out of range").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// Bytes of each packet.
const PACKET: Bytes = Bytes(1_200);
/// The round trip without queues.
const RTT: Span = Span::from_millis(50);

/// The results of the last 20 s: the rates of the flows in bits per second, the mean queuing delay, and the longest of
/// the whole run.
struct Outcome {
    rates: Vec<f64>,
    queue: f64,
    longest: f64,
}

/// Flows of these priorities for `secs` seconds behind a queue without bound of `capacity`, whose receivers report every
/// 50 ms; the path loses every `lossy`-th packet.
fn run(priorities: &[f64], capacity: Rate, lossy: u64, secs: u64) -> Outcome {
    let config = Config { now: Time::ZERO, packet: PACKET, most: Rate::from_mbps(1_000), slack: Span::from_millis(1) };
    let mut flows: Vec<Nada> = priorities.iter().map(|prio| Nada::new(Priority(*prio), &config)).collect();
    // Of each flow: packets that will be acknowledged, as (arrival, sent), and those found lost since the last report.
    let mut acks: Vec<VecDeque<(Time, Time)>> = vec![VecDeque::new(); flows.len()];
    let mut lost = vec![0; flows.len()];
    let (mut free, mut number, mut sums) = (Time::ZERO, 0, (vec![0.0; flows.len()], 0.0, 0.0, 0.0));
    for millis in 0..1_000 * secs {
        let now = Time::ZERO + Span::from_millis(millis);
        let is_late = secs * 1_000 - millis <= 20_000;
        for (n, flow) in flows.iter_mut().enumerate() {
            while flow.next_send(0).is_some_and(|at| at <= now) {
                flow.on_sent(now, PACKET);
                number += 1;
                if number % lossy == 0 {
                    lost[n] += 1;
                    continue;
                }
                free = free.max(now) + capacity.time_for(PACKET);
                acks[n].push_back((free + RTT, now));
                let queue = free.since(now).as_secs_f64();
                sums.3 = f64::max(sums.3, queue);
                if is_late {
                    (sums.0[n], sums.1, sums.2) = (sums.0[n] + 8.0 * 1_200.0 / 20.0, sums.1 + queue, sums.2 + 1.0);
                }
            }
            if millis % 50 == 0 {
                let mut delivered = 0;
                while let Some(&(arrival, sent)) = acks[n].front().filter(|(arrival, _)| *arrival <= now) {
                    acks[n].pop_front();
                    flow.on_delivered(arrival, 0, sent, PACKET);
                    delivered += 1;
                }
                let lost = core::mem::take(&mut lost[n]);
                let srtt = Some(RTT);
                let report = Report { delivered, lost, srtt, limited: true, ..Report::of(now, &[]) };
                flow.on_report(&report);
            }
        }
    }
    Outcome { rates: sums.0, queue: sums.1 / sums.2, longest: sums.3 }
}

#[test]
fn one_flow_fills_its_link_with_the_queue_of_the_equilibrium() {
    for mbps in [2, 5, 10] {
        let found = run(&[1.0], Rate::from_mbps(mbps), u64::MAX, 120);
        // XREF RMAX / r_ref.
        let (rate, queue) = (mbps as f64 * 1e6, 0.010 * 20.0 / mbps as f64);
        assert!(is_near(found.rates[0], rate, 0.02), "{mbps} Mb/s: {}", found.rates[0]);
        assert!(is_near(found.queue, queue, 0.1), "{mbps} Mb/s: {} s of queue, not {queue}", found.queue);
    }
}

#[test]
fn ramp_up_ends_with_no_more_queue_than_it_may_cause() {
    // QBOUND above QEPS, at which the ramp-up ends, within the time of a report and the filter.
    let found = run(&[1.0], Rate::from_mbps(10), u64::MAX, 21);
    assert!(found.longest < QBOUND + QEPS, "{}", found.longest);
}

#[test]
fn flows_share_by_their_priorities() {
    let found = run(&[2.0, 1.0], Rate::from_mbps(6), u64::MAX, 200);
    assert!(is_near(found.rates[0] + found.rates[1], 6e6, 0.02), "{:?}", found.rates);
    assert!(is_near(found.rates[0] / found.rates[1], 2.0, 0.1), "{:?}", found.rates);
}

#[test]
fn loss_holds_the_rate_where_it_stands_for_the_reference_signal() {
    // 2 % of loss stand for 40 ms: on a link that is never full r_ref = XREF RMAX / x = 10/40 of 20 Mb/s.
    let found = run(&[1.0], Rate::from_mbps(100), 50, 200);
    assert!(is_near(found.rates[0], 5e6, 0.1), "{}", found.rates[0]);
}

#[test]
fn silence_halves_the_rate_down_to_the_minimum() {
    let config = Config { now: Time::ZERO, packet: PACKET, most: Rate::from_mbps(8), slack: Span::ZERO };
    let mut flow = Nada { r_ref: 400e3, ..Nada::new(Priority::default(), &config) };
    flow.on_silence(Time::ZERO, 5);
    assert_eq!(flow.r_ref(), 200e3);
    flow.on_silence(Time::ZERO, 5);
    assert_eq!(flow.r_ref(), RMIN);
}

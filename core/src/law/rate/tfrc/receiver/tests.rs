//! A receiver with hand-made packets, over virtual time: round trips of 100 ms, packets of 1000 bytes.

use super::*;
use proptest::prelude::*;

const S: Bytes = Bytes(1000);
const R: Span = Span::from_millis(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Packet `sequence`, which took half a round trip and arrives at `now`.
fn data(sequence: u64, now: Time) -> Data {
    Data { sequence, sent: now - R / 2, rtt: Some(R) }
}

/// The receiver's reports and their times, while packet k arrives at 10 k ms, except those that are `lost`.
fn reports(receiver: &mut Receiver, packets: u64, lost: &[u64]) -> Vec<(Time, Feedback)> {
    let mut reports = Vec::new();
    for k in 0..packets {
        while let Some(timer) = receiver.poll_timeout().filter(|timer| *timer < at(10 * k)) {
            reports.extend(receiver.poll_feedback(timer).map(|feedback| (timer, feedback)));
        }
        if !lost.contains(&k) {
            receiver.handle_data(at(10 * k), &data(k, at(10 * k)), S);
            reports.extend(receiver.poll_feedback(at(10 * k)).map(|feedback| (at(10 * k), feedback)));
        }
    }
    reports
}

#[test]
fn receiver_reports_the_first_packet_then_once_a_round_trip() {
    let mut receiver = Receiver::new(Config::new(S));
    let reports = reports(&mut receiver, 42, &[]);
    assert_eq!(reports.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [at(0), at(100), at(200), at(300), at(400)]);
    let expected = |x_recv, now: Time| Feedback {
        recvdata: now - R / 2,
        delay: Span::ZERO,
        x_recv,
        p: 0.0,
        new_loss_event: false,
    };
    assert_eq!(reports[0].1, expected(0.0, at(0)), "nothing could be measured yet");
    for (now, feedback) in &reports[1..] {
        // Ten packets in a round trip.
        assert_eq!(*feedback, expected(100_000.0, *now));
    }
}

#[test]
fn report_covers_the_round_trip_its_timer_was_set_for() {
    let mut receiver = Receiver::new(Config::new(S));
    receiver.handle_data(at(0), &data(0, at(0)), S);
    assert!(receiver.poll_feedback(at(0)).is_some());
    // Packet k arrives at 10 k ms; from 5 on the round trip is 50 ms. At 100 ms the rate still covers the last 100 ms.
    for k in 1..=6 {
        let rtt = if k < 5 { R } else { R / 2 };
        receiver.handle_data(at(10 * k), &Data { rtt: Some(rtt), ..data(k, at(10 * k)) }, S);
    }
    assert_eq!(receiver.poll_timeout(), Some(at(100)));
    assert_eq!(receiver.poll_feedback(at(100)).map(|feedback| feedback.x_recv), Some(60_000.0));
    // §6.2, steps 2 and 4: the next report covers R_m, and its minimum is one packet.
    assert_eq!(receiver.poll_timeout(), Some(at(150)));
    receiver.handle_data(at(140), &Data { rtt: Some(R / 2), ..data(7, at(140)) }, S);
    assert_eq!(receiver.poll_feedback(at(150)).map(|feedback| feedback.x_recv), Some(20_000.0));
}

#[test]
fn every_packet_is_reported_while_the_round_trip_is_unknown() {
    let mut receiver = Receiver::new(Config::new(S));
    for k in 0..3 {
        receiver.handle_data(at(10 * k), &Data { rtt: None, ..data(k, at(10 * k)) }, S);
        assert!(receiver.poll_feedback(at(10 * k)).is_some());
        assert_eq!(receiver.poll_timeout(), None);
    }
    // The first packet that carries the round trip starts the timer.
    receiver.handle_data(at(1000), &data(3, at(1000)), S);
    assert_eq!(receiver.poll_feedback(at(1000)), None);
    assert_eq!(receiver.poll_timeout(), Some(at(1100)));
}

#[test]
fn first_packet_after_idle_is_reported_at_once() {
    let mut receiver = Receiver::new(Config::new(S));
    receiver.handle_data(at(0), &data(0, at(0)), S);
    assert!(receiver.poll_feedback(at(0)).is_some());
    assert_eq!(receiver.poll_feedback(at(100)), None, "nothing came");
    assert_eq!(receiver.poll_feedback(at(200)), None);
    receiver.handle_data(at(250), &data(1, at(250)), S);
    let feedback = receiver.poll_feedback(at(250)).expect("at once");
    // One packet in a round trip.
    assert_eq!(feedback.x_recv, 10_000.0);
    assert_eq!(receiver.poll_timeout(), Some(at(350)));
}

#[test]
fn first_loss_event_is_reported_at_once_and_seeds_the_history() {
    let mut receiver = Receiver::new(Config::new(S));
    let reports = reports(&mut receiver, 60, &[25, 27]);
    // 25 is declared lost when 29, the third packet after it, arrives; 27 belongs to the same event.
    let times: Vec<_> = reports.iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [at(0), at(100), at(200), at(290), at(390), at(490), at(590)]);
    // §6.3.1: the equation gives X_target = 100 kB/s at 1/p.
    let p = reports[3].1.p;
    let x = TcpThroughput::default().rate(S, Seconds(0.1), p);
    assert!((x / 100_000.0 - 1.0).abs() < 1e-9, "{x}");
    assert_eq!(receiver.lost(), 2);
}

#[test]
fn loss_event_is_in_the_next_report_even_if_p_does_not_grow() {
    let mut receiver = Receiver::new(Config::new(S));
    // Ten events 20 packets apart, and one 300 later: the history is full, so closing I_0 makes p no larger (§5.4).
    let lost: Vec<u64> = (0..10).map(|nth| 25 + 20 * nth).chain([505]).collect();
    let reports = reports(&mut receiver, 560, &lost);
    let flagged: Vec<usize> = (0..reports.len()).filter(|nth| reports[*nth].1.new_loss_event).collect();
    assert_eq!(flagged.len(), 11);
    assert_eq!(reports[flagged[0]].0, at(280), "p was 0: at once, with the third packet after it");
    let last = flagged[10];
    assert!(reports[last].1.p <= reports[last - 1].1.p);
    assert_eq!(reports[last].0, reports[last - 1].0 + R, "in its turn");
}

#[test]
fn lost_first_packet_seeds_half_a_packet_per_round_trip() {
    let mut receiver = Receiver::new(Config::new(S));
    let reports = reports(&mut receiver, 5, &[0]);
    let (_, last) = reports.last().expect("a report of the loss");
    // §5.4 with k = 1: the longer of I_0, packets 0 to 3, and I_1, for which the equation gives half a packet.
    let x = TcpThroughput::default().rate(S, Seconds(0.1), last.p);
    assert!((x / 5_000.0 - 1.0).abs() < 1e-9 && 1.0 / last.p > 4.0, "{x} at {}", last.p);
}

#[test]
fn congestion_mark_is_a_loss_event_without_a_lost_packet() {
    let mut receiver = Receiver::new(Config::new(S));
    reports(&mut receiver, 25, &[]);
    receiver.handle_marked(at(250), &data(25, at(250)), S);
    let feedback = receiver.poll_feedback(at(250)).expect("a new loss event");
    assert!(feedback.p > 0.0);
    assert_eq!((receiver.lost(), receiver.received()), (0, 26));
}

#[test]
fn duplicates_and_late_packets_are_not_counted_twice() {
    let mut receiver = Receiver::new(Config::new(S));
    reports(&mut receiver, 20, &[7]);
    let before = receiver.clone();
    receiver.handle_data(at(195), &data(19, at(195)), S);
    receiver.handle_data(at(195), &data(7, at(195)), S);
    assert_eq!(receiver, before);
}

proptest! {
    #[test]
    fn arbitrary_packets_give_reports_within_valid_ranges(
        steps in proptest::collection::vec(
            (any::<u64>(), 0u64..64, any::<u64>(), proptest::option::of(any::<u64>()), any::<u64>(), any::<bool>()),
            1..60,
        ),
    ) {
        let mut receiver = Receiver::new(Config::new(S));
        let mut now = Time::ZERO;
        for (number, shift, gap, rtt, size, marked) in steps {
            now += Span::from_nanos(gap >> (shift / 2 + 16));
            let packet = Data { sequence: number >> shift, sent: Time::from_nanos(gap), rtt: rtt.map(Span::from_nanos) };
            match marked {
                true => receiver.handle_marked(now, &packet, Bytes(size)),
                false => receiver.handle_data(now, &packet, Bytes(size)),
            }
            if let Some(feedback) = receiver.poll_feedback(now) {
                prop_assert!((0.0..f64::INFINITY).contains(&feedback.x_recv), "{feedback:?}");
                prop_assert!((0.0..=1.0).contains(&feedback.p), "{feedback:?}");
            }
            prop_assert!(receiver.poll_timeout().is_none_or(|timer| timer > now));
        }
    }
}

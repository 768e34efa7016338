//! TFRC alone (RFC 5348): a sender and a receiver over a path with 1 % of random loss, in virtual time, without the
//! features of `thalweg-core`. Prints the rate of the sender beside that of the equation (§3.1).

use std::collections::VecDeque;

use thalweg_core::law::ParameterError;
use thalweg_core::law::rate::tfrc::{Equation, Receiver, Sender, TcpThroughput, receiver, sender};
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate, Seconds};

const SEGMENT: Bytes = Bytes(1200);
const ONE_WAY: Span = Span::from_millis(20);
const LOSS: f64 = 0.01;
const STEP: Span = Span::from_micros(100);

fn main() -> Result<(), ParameterError> {
    let mut sender = Sender::new(Time::ZERO, sender::Config::new(SEGMENT, Rate::from_mbps(100)))?;
    let mut receiver = Receiver::new(receiver::Config::new(SEGMENT));
    let mut losses = Rng::new(1).fork("losses");
    // Packets and reports in flight, with their arrival times.
    let (mut packets, mut reports) = (VecDeque::new(), VecDeque::new());
    let (mut now, mut before, mut ratio) = (Time::ZERO, 0, f64::NAN);
    println!("{:>6} {:>12} {:>12} {:>8}", "s", "rate, kB/s", "equation", "p");
    for second in 1..=120u64 {
        while now < Time::ZERO + Span::from_secs(second) {
            while let Some(packet) = sender.poll_packet(now) {
                if !losses.chance(LOSS) {
                    packets.push_back((now + ONE_WAY, packet));
                }
            }
            while let Some(packet) = due(&mut packets, now) {
                receiver.handle_data(now, &packet, SEGMENT);
            }
            reports.extend(receiver.poll_feedback(now).map(|report| (now + ONE_WAY, report)));
            while let Some(report) = due(&mut reports, now) {
                sender.handle_feedback(now, &report).expect("a report of this receiver");
            }
            if sender.poll_timeout().is_some_and(|at| at <= now) {
                sender.handle_timeout(now);
            }
            now += STEP;
        }
        if second % 30 == 0 {
            let p = receiver.loss_event_rate();
            let rate = (sender.sent() - before) as f64 * SEGMENT.0 as f64 / 30.0;
            let equation = TcpThroughput::default().rate(SEGMENT, Seconds(2.0 * ONE_WAY.as_secs_f64()), LOSS);
            println!("{second:>6} {:>12.1} {:>12.1} {p:>8.4}", rate / 1e3, equation / 1e3);
            (before, ratio) = (sender.sent(), rate / equation);
        }
    }
    // The loss event rate of a few hundred packets varies, and so does the rate; its mean is near the equation's.
    assert!((0.8..1.3).contains(&ratio), "{ratio}");
    Ok(())
}

/// Removes the first element if its time has come.
fn due<T>(queue: &mut VecDeque<(Time, T)>, now: Time) -> Option<T> {
    if queue.front()?.0 <= now { queue.pop_front().map(|(_, it)| it) } else { None }
}

use super::super::Coded;
use super::*;

const EPS: f64 = 0.05;
const PRICE: f64 = 0.002;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(1000 + millis)
}

fn path(budget: Span) -> Path {
    let notice = Span::from_millis(100);
    Path { channel: Channel::independent(EPS), notice, again: notice, budget, slot: Span::from_millis(1) }
}

fn uncoded(l: u64) -> Coded {
    Coded { first: l, last: l, p_useless: 0.0 }
}

/// A window of `n` originals in flight, one a millisecond.
fn in_flight(n: u64) -> Window {
    let mut window = Window::new(0);
    for l in 0..n {
        window.push(at(l));
        window.sent(at(l), &uncoded(l));
    }
    window
}

fn law() -> Deadline {
    Deadline::new(Parameters { price: PRICE }).expect("in range")
}

fn chosen(window: &Window, now: Time, budget: Span) -> (Deadline, Decision) {
    let mut law = law();
    let decision = law.choose(&View { now, queue: window, path: path(budget) });
    (law, decision)
}

/// One original, no repair yet, and no time for a retransmission: a second copy saves it if the first is lost and the
/// second is not, .05 times .95.
#[test]
fn copy_is_worth_the_loss_that_it_prevents() {
    let (law, decision) = chosen(&in_flight(1), at(0), Span::from_millis(40));
    assert!((law.worth() - EPS * (1.0 - EPS)).abs() < 1e-12, "{}", law.worth());
    assert_eq!(decision.next, Next::Resend { original: 0 });
}

/// With time for one retransmission of n = 3 copies (.05² .95 = .0024 is above the price of .002, .05³ .95 is below), the copy
/// is worth .05 .95 (.05³ + 3 price).
#[test]
fn copy_is_worth_less_while_its_loss_can_be_waited_for() {
    let (law, decision) = chosen(&in_flight(1), at(0), Span::from_millis(150));
    let weight = EPS * EPS * EPS + 3.0 * PRICE;
    assert!((law.weights()[0] - weight).abs() < 1e-12, "{:?}", law.weights());
    assert!((law.worth() - EPS * (1.0 - EPS) * weight).abs() < 1e-12);
    assert_eq!(decision, Decision::IDLE);
}

#[test]
fn known_loss_is_sent_again_while_it_is_in_time() {
    let budget = Span::from_millis(150);
    let mut window = in_flight(3);
    window.lost(&uncoded(1));
    assert_eq!(chosen(&window, at(102), budget).1, Decision::resend(1));
    assert_eq!(chosen(&window, at(152), budget).1.next, Next::Idle, "only original 2 is in time, and it is in flight");
}

/// Two lost originals in their last round: two combinations or copies replace them, and more insure these.
#[test]
fn last_round_is_insured() {
    let budget = Span::from_millis(110);
    let mut window = in_flight(2);
    [0, 1].iter().for_each(|l| window.lost(&uncoded(*l)));
    let mut law = law();
    let mut sent = 0;
    loop {
        let decision = law.choose(&View { now: at(105), queue: &window, path: path(budget) });
        let Some(packet) = decision.packet(window.queue()) else { break };
        window.sent(at(105), &packet);
        sent += 1;
    }
    // All of 4 with at most two lost: 1 - .05³ (4 - 3 .05) = .9995; the fifth packet gains less than the price.
    assert_eq!(sent, 4);
}

#[test]
fn originals_leave_the_window_when_they_are_there_or_too_late() {
    let mut window = in_flight(4);
    window.arrived(&uncoded(0));
    window.release(at(5), Span::from_millis(40));
    assert_eq!(window.queue().b(), 1);
    window.release(at(43), Span::from_millis(40));
    assert_eq!((window.queue().b(), window.in_doubt().count()), (3, 1));
}

#[test]
fn price_has_a_range() {
    for price in [0.0, -1.0, 1.1, f64::NAN] {
        assert!(Deadline::new(Parameters { price }).is_err(), "{price}");
    }
}

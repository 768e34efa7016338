use super::*;
use crate::rng::Rng;
use crate::wire::hello::Answer;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn places() -> [SocketAddr; 2] {
    ["10.0.0.1:6000", "10.9.9.9:6000"].map(|text| text.parse().unwrap())
}

/// A receiver: its SSRC and its half.
#[derive(Clone, Copy)]
struct Other(u32, u64);

const HERE: Other = Other(5, 55);

impl Other {
    /// Answers `call` from `from`, in a datagram that proves both halves: that of `call` and its own.
    fn answer(self, peer: &mut Peer, millis: u64, from: SocketAddr, call: Call) -> Option<Change> {
        let stamp = (at(millis).as_nanos() / 1_000) as u32;
        let has_echo = call.echo == u64::from(self.0);
        let half = if has_echo { self.1 } else { 0 };
        let (busy, seated, latency) = (false, false, Latency::Auto.into());
        let answer = Answer { busy, seated, latency, stamp, token: self.0.into(), echo: call.token, half };
        peer.on_answer(at(millis), from, (self.0, &answer), &self.datagram(call.half))
    }

    fn datagram(self, sender: u64) -> Vec<u8> {
        let mut buf = [0; 120];
        let len = Secret { sender, receiver: self.1 }.prove(End::Receiver, self.0, &mut buf, 100).unwrap();
        buf[..len].to_vec()
    }
}

/// A peer that has agreed on a secret with `HERE` by 40 ms.
fn agreed() -> Peer {
    let [to, _] = places();
    let mut peer = Peer::new(to, false, Time::ZERO, &Rng::new(1));
    let call = peer.poll_hello(at(0)).unwrap();
    assert_eq!((call.to, call.echo, call.half), (to, 0, 0), "no half is sent before the address is proved");
    assert_eq!(HERE.answer(&mut peer, 20, to, call), None);
    let call = peer.poll_hello(at(20)).unwrap();
    assert_eq!(call.echo, 5, "its token goes back at once");
    assert_ne!(call.half, 0);
    assert_eq!(HERE.answer(&mut peer, 40, to, call), Some(Change::Connected));
    assert!(peer.is_connected() && peer.is_proved(&HERE.datagram(call.half)));
    peer
}

fn report(peer: &mut Peer, millis: u64, from: SocketAddr) -> ReportKind {
    let datagram = HERE.datagram(peer.secret().unwrap().sender);
    let is_proved = peer.is_proved(&datagram);
    peer.on_report(at(millis), from, datagram.len(), HERE.0, is_proved)
}

#[test]
fn two_answers_establish_a_secret() {
    agreed();
}

#[test]
fn answer_with_a_wrong_token_or_half_establishes_no_secret() {
    let [to, _] = places();
    let mut peer = Peer::new(to, false, Time::ZERO, &Rng::new(1));
    let call = peer.poll_hello(at(0)).unwrap();
    assert_eq!(HERE.answer(&mut peer, 20, to, Call { token: 1, ..call }), None);
    assert_eq!(peer.poll_hello(at(99)), None, "not heard");
    assert_eq!(HERE.answer(&mut peer, 30, to, Call { echo: 5, half: 1, ..call }), None);
    assert!(!peer.is_connected());
}

#[test]
fn receiver_moves_after_echoing_a_challenge_if_its_address_is_silent() {
    let (mut peer, [to, other]) = (agreed(), places());
    assert_eq!(report(&mut peer, 50, to), ReportKind::FromPeer);
    assert_eq!(report(&mut peer, 60, other), ReportKind::Misdirected);
    assert_eq!(peer.poll_challenge(at(60)).unwrap().0, to);
    let (asked, challenge) = peer.poll_challenge(at(160)).unwrap();
    assert_eq!(asked, other);
    let call = Call { to: other, token: challenge.token, echo: 5, half: peer.half };
    assert_eq!(HERE.answer(&mut peer, 200, other, call), Some(Change::Moved));
    assert_eq!(peer.to(), other);
}

#[test]
fn report_without_the_secret_is_ignored_from_any_address() {
    let (mut peer, [to, other]) = (agreed(), places());
    for from in [to, other] {
        assert_eq!(peer.on_report(at(50), from, 120, HERE.0, false), ReportKind::Unproved);
    }
    assert_eq!(peer.poll_challenge(at(60)), None);
}

#[test]
fn restarted_receiver_connects_as_a_new_one() {
    let (mut peer, [to, _]) = (agreed(), places());
    let again = Other(6, 66);
    let call = peer.poll_hello(at(220)).unwrap();
    assert_eq!(again.answer(&mut peer, 240, to, Call { half: 0, ..call }), None);
    assert_eq!(report(&mut peer, 245, to), ReportKind::FromPeer, "until the new one has our half");
    let call = peer.poll_hello(at(250)).unwrap();
    assert_eq!(again.answer(&mut peer, 260, to, call), Some(Change::Connected));
    assert_eq!(report(&mut peer, 270, to), ReportKind::Unproved);
}

/// The receiver is called at one address of its host and answers from another: it gets hellos there as well, and then
/// only there.
#[test]
fn receiver_answering_from_another_address_is_called_there() {
    let [to, other] = places();
    let mut peer = Peer::new(to, false, Time::ZERO, &Rng::new(1));
    let call = peer.poll_hello(at(0)).unwrap();
    assert_eq!(HERE.answer(&mut peer, 20, other, Call { token: 1, ..call }), None);
    assert_eq!(peer.poll_hello(at(100)).unwrap().to, to, "nobody who has not heard us");
    assert_eq!(HERE.answer(&mut peer, 120, other, Call { echo: 0, ..call }), None);
    let call = peer.poll_hello(at(200)).unwrap();
    assert_eq!((call.to, call.half), (other, 0));
    assert_eq!(peer.poll_hello(at(200)).unwrap().to, to);
    assert_eq!(HERE.answer(&mut peer, 220, other, Call { echo: 0, ..call }), None);
    let call = peer.poll_hello(at(220)).unwrap();
    assert_eq!(call.to, other);
    assert_eq!(HERE.answer(&mut peer, 240, other, call), Some(Change::Connected));
}

#[test]
fn receiver_that_returns_after_an_hour_connects_again() {
    let (mut peer, [to, _]) = (agreed(), places());
    peer.give_up();
    for minutes in [36, 60, 75, 150] {
        let (millis, again) = (minutes * 60_000, Other(minutes as u32, minutes));
        let call = peer.poll_hello(at(millis)).unwrap();
        again.answer(&mut peer, millis + 20, to, call);
        let call = peer.poll_hello(at(millis + 20)).unwrap();
        assert_eq!(again.answer(&mut peer, millis + 40, to, call), Some(Change::Connected), "{minutes} min");
    }
}

#[test]
fn challenge_is_answered_only_to_the_receivers_address() {
    let (mut peer, [to, other]) = (agreed(), places());
    peer.poll_hello(at(220));
    peer.on_challenge(at(250), other, Challenge { token: 9 });
    assert_eq!(peer.poll_hello(at(300)), None);
    peer.on_challenge(at(310), to, Challenge { token: 9 });
    assert_eq!(peer.poll_hello(at(310)).unwrap().echo, 9);
    assert_eq!(peer.poll_hello(at(510)).unwrap().echo, 5);
}

#[test]
fn repeated_answers_are_ignored() {
    let (mut peer, [to, _]) = (agreed(), places());
    let call = peer.poll_hello(at(240)).unwrap();
    HERE.answer(&mut peer, 260, to, call);
    let heard = peer.keepalive.heard();
    let answer = Answer {
        busy: false,
        seated: true,
        latency: Latency::Fixed(Span::from_secs(9)).into(),
        stamp: 260_000,
        token: 7,
        echo: peer.tokens.of(to, &[]),
        half: 0,
    };
    assert_eq!(peer.on_answer(at(900), to, (HERE.0, &answer), &HERE.datagram(peer.half)), None);
    assert_eq!((peer.keepalive.heard(), peer.latency()), (heard, Latency::Auto.into()));
}

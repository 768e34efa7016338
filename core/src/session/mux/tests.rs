use super::*;

/// All that `from` says, to `to`.
fn carry(from: &mut Mux, to: &mut Mux) {
    let mut frames = Vec::new();
    while from.poll(1000, &mut frames) {}
    to.handle(Time::ZERO, &frames).expect("what a mux says makes sense");
}

#[test]
fn bytes_arrive() {
    let (mut here, mut there) = (Mux::new(Role::Initiator, 10), Mux::new(Role::Responder, 10));
    let id = here.open(Time::ZERO).expect("room");
    assert_eq!(here.write(id, b"hello"), 5);
    carry(&mut here, &mut there);
    assert_eq!([there.poll_event(), there.poll_event()], [Some(Event::Opened(id)), Some(Event::Readable(id))]);
    let mut buf = [0; 10];
    assert_eq!(there.read(Time::ZERO, Span::ZERO, id, &mut buf), 5);
    assert_eq!(buf[..5], *b"hello");
}

use proptest::prelude::*;

use super::*;
use crate::wire::mux::{DATA_HEADER, FIRST_CREDIT};

const CAPACITY: usize = 1000;
const RTT: Span = Span::from_millis(100);

fn pair() -> (Mux, Mux) {
    (Mux::new(Role::Initiator, 10), Mux::new(Role::Responder, 10))
}

/// All frames that a mux writes.
fn outgoing(mux: &mut Mux) -> Vec<u8> {
    let mut frames = Vec::new();
    while mux.poll(CAPACITY, &mut frames) {}
    frames
}

/// Passes the frames of `from` to `to`.
fn transfer(now: Time, from: &mut Mux, to: &mut Mux) {
    to.handle(now, &outgoing(from)).expect("what a mux says makes sense");
}

/// Everything that can be read from a connection.
fn read(mux: &mut Mux, now: Time, id: u32) -> Vec<u8> {
    let (mut all, mut buf) = (Vec::new(), [0; 4096]);
    while let count @ 1.. = mux.read(now, RTT, id, &mut buf) {
        all.extend_from_slice(&buf[..count]);
    }
    all
}

fn events(mux: &mut Mux) -> Vec<Event> {
    core::iter::from_fn(|| mux.poll_event()).collect()
}

proptest! {
    /// The connections are the same however the stream cuts its bytes.
    #[test]
    fn frames_are_parsed_at_any_segmentation(
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..5),
        cuts in prop::collection::vec(1..40usize, 1..20),
    ) {
        let (mut here, mut there) = pair();
        let ids: Vec<u32> = texts.iter().map(|_| here.open(Time::ZERO).expect("room")).collect();
        for (id, text) in ids.iter().zip(&texts) {
            prop_assert_eq!(here.write(*id, text), text.len());
            here.finish(*id);
        }
        let bytes = outgoing(&mut here);
        let (mut rest, mut cuts) = (bytes.as_slice(), cuts.into_iter().cycle());
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
            prop_assert_eq!(there.handle(Time::ZERO, part), Ok(()));
            rest = behind;
        }
        for (id, text) in ids.iter().zip(&texts) {
            prop_assert_eq!(&read(&mut there, Time::ZERO, *id), text);
            there.finish(*id);
        }
        transfer(Time::ZERO, &mut there, &mut here);
        prop_assert!(here.is_empty() && there.is_empty());
        for mux in [&mut here, &mut there] {
            let closed = events(mux).into_iter().filter(|event| matches!(event, Event::Closed(_))).count();
            prop_assert_eq!(closed, texts.len());
        }
    }
}

/// RFC 8290 §4.1: new flows before old ones, and a flow that was emptied is an old one.
#[test]
fn new_flows_are_served_first_and_once() {
    let (mut here, _) = pair();
    let [bulk, other, keys] = [0; 3].map(|_| here.open(Time::ZERO).expect("room"));
    outgoing(&mut here);
    here.write(bulk, &[0; 20_000]);
    here.write(other, &[0; 20_000]);
    let turn = |here: &mut Mux| {
        let mut frames = Vec::new();
        assert!(here.poll(CAPACITY, &mut frames) && frames.len() <= CAPACITY);
        match Frame::parse(&frames) {
            Ok((Frame::Data { id, len }, DATA_HEADER)) => (id, usize::from(len)),
            other => panic!("{other:?}"),
        }
    };
    let whole = CAPACITY - DATA_HEADER;
    assert_eq!([turn(&mut here), turn(&mut here), turn(&mut here)], [(bulk, whole), (other, whole), (bulk, whole)]);
    here.write(keys, b"k");
    assert_eq!([turn(&mut here), turn(&mut here)], [(keys, 1), (other, whole)]);
    // A second keystroke before all others had their turn waits for its own.
    here.write(keys, b"k");
    assert_eq!([turn(&mut here), turn(&mut here), turn(&mut here)], [(bulk, whole), (keys, 1), (other, whole)]);
}

/// The further bytes that may be sent after the first credit was sent, and was read `span` later.
fn granted(span: Span) -> usize {
    let (mut here, mut there) = pair();
    let id = here.open(Time::ZERO).expect("room");
    let first = vec![1; FIRST_CREDIT as usize];
    assert_eq!(here.write(id, &first), first.len());
    transfer(Time::ZERO, &mut here, &mut there);
    let later = Time::ZERO + span;
    assert_eq!(read(&mut there, later, id).len(), first.len());
    transfer(later, &mut there, &mut here);
    let mut more = 0;
    while let count @ 1.. = here.write(id, &first) {
        let bytes = outgoing(&mut here);
        there.handle(later, &bytes).expect("granted");
        more += count;
        if bytes.is_empty() {
            break;
        }
    }
    let [unsent, _] = here.buffered();
    more - unsent as usize
}

/// Half of the credit used within eight round trips doubles it; a late reader that finds all of it does not.
#[test]
fn credit_doubles_for_fast_readers() {
    let first = FIRST_CREDIT as usize;
    // A quarter of the doubled credit is read and not worth a frame yet.
    assert_eq!([granted(RTT * 9), granted(RTT)], [first, 2 * first - first / 2]);
}

#[test]
fn connection_reset_before_open_is_not_reported() {
    let (mut here, mut there) = pair();
    let id = here.open(Time::ZERO).expect("room");
    here.write(id, b"never mind");
    here.reset(id, Reason::Aborted);
    assert!(outgoing(&mut here).is_empty());
    let next = here.open(Time::ZERO).expect("room");
    transfer(Time::ZERO, &mut here, &mut there);
    assert_eq!(events(&mut there), [Event::Opened(next)]);
}

#[test]
fn finished_connection_with_unread_data_outlives_its_stream() {
    let (mut here, mut there) = pair();
    let [done, open] = [0; 2].map(|_| here.open(Time::ZERO).expect("room"));
    for id in [done, open] {
        here.write(id, b"text");
    }
    here.finish(done);
    transfer(Time::ZERO, &mut here, &mut there);
    there.finish(done);
    transfer(Time::ZERO, &mut there, &mut here);
    events(&mut there);
    assert_eq!(there.end(), [open]);
    assert_eq!(there.open(Time::ZERO), Err(Unopened::Stopped));
    assert_eq!(read(&mut there, Time::ZERO, done), b"text");
    assert_eq!(events(&mut there), [Event::Finished(done), Event::Closed(done)]);
    assert!(there.is_over());
}

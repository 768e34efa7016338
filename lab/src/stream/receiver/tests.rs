use super::*;
use thalweg_core::wire::feedback::Builder;
use thalweg_core::wire::ntp::NtpShort;
use thalweg_core::wire::rtcp::Writer;

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Packet `sequence` of blocks of 33.
fn packet(sequence: u64) -> Packet {
    let (block, index) = (25 * ((sequence - 1) / 33), ((sequence - 1) % 33) as u16);
    Packet { flow: 0, size: Bytes(1500), body: Body::Media(Symbol { sequence, block, index, k: 25, n: 33 }) }
}

/// The next report and its size.
fn report(receiver: &mut Receiver) -> (Report, Bytes) {
    let due = receiver.next().expect("it reports for ever");
    let packet = receiver.poll(due).expect("it was due");
    let Body::Report(report) = packet.body else { panic!("no report: {packet:?}") };
    (report, packet.size)
}

#[test]
fn every_syn_it_says_what_came_and_what_did_not() {
    let mut receiver = Receiver::new(Config::default());
    assert_eq!(receiver.next(), None);
    let take = |receiver: &mut Receiver, now: u64, numbers: &[u64]| {
        numbers.iter().for_each(|&number| receiver.accept(ms(now), packet(number)));
        report(receiver).0
    };
    // The first packets are lost before any packet arrives.
    assert_eq!(take(&mut receiver, 5, &[3, 4]), Report { number: 0, highest: 4, received: 2, lost: 2 });
    assert_eq!(receiver.next(), Some(ms(25)));
    assert_eq!(take(&mut receiver, 15, &[5, 8]), Report { number: 1, highest: 8, received: 2, lost: 2 });
    // An interval without packets, then the packet that reveals the gap.
    assert_eq!(take(&mut receiver, 25, &[]), Report { number: 2, highest: 8, received: 0, lost: 0 });
    assert_eq!(take(&mut receiver, 35, &[20]), Report { number: 3, highest: 20, received: 1, lost: 11 });
    // One late packet offsets a loss, two more have no loss to offset; a duplicate does not count.
    assert_eq!(take(&mut receiver, 45, &[19, 22]), Report { number: 4, highest: 22, received: 2, lost: 0 });
    assert_eq!(take(&mut receiver, 55, &[17, 18, 18]), Report { number: 5, highest: 22, received: 2, lost: 0 });
    assert_eq!(receiver.received().lost, 2 + 2 + 11 + 1 - 3);
    assert_eq!(receiver.received().packets, 22);
}

#[test]
fn a_report_has_the_size_of_the_bytes_that_the_emitter_writes() {
    for (came, covered) in [(1, 1), (2, 2), (33, 33), (1, 85), (135, 135), (1, 726), (1, 5000)] {
        let mut receiver = Receiver::new(Config::default());
        (covered - came + 1..=covered).for_each(|number| receiver.accept(ms(1), packet(number)));
        let (report, size) = report(&mut receiver);
        assert_eq!((u64::from(report.received), report.highest), (came, covered));
        let mut buf = [0; MAX_DATAGRAM];
        let mut writer = Writer::new(&mut buf[HEADERS.0 as usize..]);
        let mut builder = Builder::new(&mut writer, 1).unwrap();
        let named = builder.room().min(covered as usize);
        builder.stream(2, 1, vec![None; named].into_iter()).unwrap();
        builder.finish(NtpShort(0));
        assert_eq!(size, HEADERS + Bytes(writer.len() as u64), "{covered} packets");
    }
    let config = Config { reports: Some(ReportSize::Fixed(Bytes(64))), ..Config::default() };
    let mut receiver = Receiver::new(config);
    receiver.accept(ms(1), packet(1));
    assert_eq!(report(&mut receiver).1, Bytes(64));
}

#[test]
fn plain_udp_hears_nothing_back() {
    let mut receiver = Receiver::new(Config { reports: None, ..Config::default() });
    receiver.accept(ms(1), packet(1));
    assert_eq!((receiver.next(), receiver.poll(ms(100))), (None, None));
}

#[test]
fn a_run_belongs_to_the_window_that_sees_its_end() {
    let mut receiver = Receiver::new(Config::default());
    [1, 2].iter().for_each(|&number| receiver.accept(ms(1), packet(number)));
    let before = receiver.received();
    receiver.accept(ms(5), packet(7));
    let after = receiver.received();
    receiver.accept(ms(6), packet(8));
    let (run, rest) = (after.since(&before), receiver.received().since(&after));
    assert_eq!((run.packets, run.lost, run.bursts), (5, 4, 1));
    assert_eq!((rest.packets, rest.lost, rest.bursts), (1, 0, 0));
}

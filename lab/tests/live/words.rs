//! Messages that end a stream, and the endpoints that are allowed to send them.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::Ending;
use thalweg_core::session::live::receiver::{Event as Heard, Receiver};
use thalweg_core::session::live::sender::{self, Breaker, Event as Said, Sender, SourceId};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Time;
use thalweg_core::units::Rate;
use thalweg_core::wire::hello::{Hello, NAME, Refusal, VERSION};
use thalweg_core::wire::ntp::NtpShort;
use thalweg_core::wire::proof;
use thalweg_core::wire::rtcp::{App, Compound, Goodbye, Packet, Report, ReportBlock, Writer};

use crate::live::faults::quiet;
use crate::live::outsider::{hello, renamed, said, ssrc};
use crate::live::props::{address, at, metrics, ms, receiver_config, wire};
use crate::live::story::{Back, Story};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    a_goodbye_counts_in_its_own_session_and_with_its_proof_alone,
    a_goodbye_of_the_sender_without_its_proof_ends_nothing,
    another_version_is_refused_on_both_sides,
    a_player_of_plain_rtp_ends_a_stream_by_rfc_8083_and_nobody_elsewhere_does,
}

fn is_goodbye(datagram: &[u8]) -> bool {
    let packets = Compound::parse(datagram).into_iter().flat_map(|compound| compound.frames().collect::<Vec<_>>());
    packets.into_iter().any(|frame| matches!(Packet::parse(frame), Ok(Packet::Goodbye(_))))
}

fn a_goodbye_counts_in_its_own_session_and_with_its_proof_alone(variant: Variant) {
    let mut story = quiet(variant);
    story.receiver.finish();
    story.until(3100);
    let goodbye = story.returned.iter().find(|datagram| is_goodbye(datagram)).cloned().expect("a goodbye");
    assert_eq!(story.sender_events.last().map(|(_, said)| *said), Some(Said::Left));
    story.restart_receiver(receiver_config(), 33);
    story.until(4000);
    let connected = story.sender_events.len();
    assert!(matches!(story.sender_events[connected - 1].1, Said::Connected { .. }));
    // The same receiver again, which has not left: the goodbye with an old proof, and without any.
    let old = renamed(goodbye, ssrc(&story.returned[0]), story.tap.receiver.to_be_bytes());
    for datagram in [&old[..], &old[..old.len() - proof::LEN]] {
        let _ = story.sender.handle_datagram(story.now, story.receiver_at, datagram);
    }
    story.until(6000).pause().until(6500);
    assert_eq!((story.sender_events.len(), story.lost(4000, 6000)), (connected, 0), "{:?}", story.sender_events);
}

fn a_goodbye_of_the_sender_without_its_proof_ends_nothing(variant: Variant) {
    let mut story = quiet(variant);
    let ssrc = story.tap.sender;
    let mut buf = [0; MAX_DATAGRAM];
    let mut writer = Writer::new(&mut buf);
    writer.push(&Report { ssrc, sender: None, raw_blocks: &[] }).expect("room");
    writer.push(&Goodbye { sources: &[ssrc.to_be_bytes()], reason: b"" }).expect("room");
    let len = writer.len();
    let from = story.sender_at;
    assert!(story.receiver.handle_datagram(story.now, from, &buf[..len]).is_err());
    story.until(5000).pause().until(5500);
    assert_eq!((story.receiver_events.len(), story.lost(500, 5000)), (1, 0), "{:?}", story.receiver_events);
}

/// `datagram` with the version of its hello changed.
fn of_version(mut datagram: Vec<u8>, version: u8) -> Vec<u8> {
    let at = datagram.windows(4).position(|bytes| bytes == NAME).expect("a hello") + NAME.len();
    datagram[at] = version;
    datagram
}

fn another_version_is_refused_on_both_sides(variant: Variant) {
    let mut receiver = Receiver::new(receiver_config(), &Rng::new(1));
    let mut sender = Sender::new(variant.sender(), Time::ZERO, &Rng::new(2));
    let from = address("10.0.0.1:5000");
    let theirs = of_version(hello(&mut sender, at(0)), VERSION + 1);
    for _ in 0..2 {
        receiver.handle_datagram(at(20), from, &theirs).expect("a hello of some version");
    }
    let events: Vec<_> = core::iter::from_fn(|| receiver.poll_event()).collect();
    assert_eq!(events, [Heard::OtherVersion { from, version: VERSION + 1 }], "said once");
    let refusals = said(&mut receiver, at(20));
    assert!(refusals.len() == 2 && refusals[0].len() < theirs.len());

    // A receiver of a later version refuses our hello: its refusal differs in the version that it names.
    let refusal = |echo| {
        let mut buf = [0; MAX_DATAGRAM];
        let mut writer = Writer::new(&mut buf);
        let data = Refusal { version: VERSION + 1, echo }.emit();
        writer.push(&App { subtype: Refusal::SUBTYPE, ssrc: 0, name: NAME, data: &data }).expect("room");
        let len = writer.len();
        buf[..len].to_vec()
    };
    let frame = Compound::parse(&refusals[0]).expect("RTCP").frames().next().expect("a refusal");
    let Ok(Packet::App(App { data, .. })) = Packet::parse(frame) else { panic!("{frame:?}") };
    let token = Refusal::parse(data).expect("a refusal").echo;
    assert_eq!(Hello::parse_other(&theirs[theirs.len() - Hello::LEN..]), Some((VERSION + 1, token)));
    let _ = sender.handle_datagram(at(40), variant.sender().to, &refusal(token ^ 1));
    assert_eq!(sender.poll_event(), None, "forged");
    let _ = sender.handle_datagram(at(40), variant.sender().to, &refusal(token));
    assert_eq!(said(&mut sender, at(40)), Vec::<Vec<u8>>::new());
    assert_eq!(sender.poll_event(), Some(Said::Ended(Ending::Version(VERSION + 1))));
    assert!(metrics(&sender)["rejected_datagrams_total"] == 0.0);
}

/// A player of plain RTP at `from`, which reports once a second that no media arrives, and says goodbye.
fn played_plain(variant: Variant, to: &str, from: &str) -> Story {
    let config =
        sender::Config { to: address(to), source_id: SourceId::Plain, breaker: Breaker::Rfc8083, ..variant.sender() };
    let mut story = variant.story(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.back = Back::Nothing;
    story.play(Rate::from_mbps(30));
    // Without any report RFC 8083 §4.1 would end it at 15 s.
    for second in 1..=12 {
        story.until(1000 * second);
        let block = ReportBlock {
            ssrc: story.tap.sender,
            fraction_lost: 128,
            cumulative_lost: 1000,
            // Nothing has arrived since the last report.
            highest: 1000,
            jitter: 0,
            last_report: NtpShort(0),
            delay: NtpShort(0),
        };
        let mut buf = [0; MAX_DATAGRAM];
        let mut writer = Writer::new(&mut buf);
        writer.push(&Report { ssrc: 7, sender: None, raw_blocks: &[block.emit()] }).expect("room");
        writer.push(&Goodbye { sources: &[7u32.to_be_bytes()], reason: b"" }).expect("room");
        let len = writer.len();
        let _ = story.sender.handle_datagram(story.now, address(from), &buf[..len]);
    }
    story
}

/// RFC 8083 §4.2: reports that show no media for five intervals end the stream, and nothing else does.
fn a_player_of_plain_rtp_ends_a_stream_by_rfc_8083_and_nobody_elsewhere_does(variant: Variant) {
    let ended = |story: &Story| story.sender_events.iter().any(|(_, said)| *said == Said::Ended(Ending::Breaker));
    assert!(ended(&played_plain(variant, "10.0.0.2:6000", "10.0.0.2:6001")), "from the same host");
    assert!(ended(&played_plain(variant, "239.1.1.1:6000", "10.0.0.9:6001")), "a member of the group");
    let story = played_plain(variant, "10.0.0.2:6000", "10.0.0.9:6001");
    assert_eq!(story.sender_events, [], "from elsewhere");
    assert_eq!(story.sender_metrics()["repair_packets_total"], 0.0);
    // 30 Mb/s in datagrams of 1316 bytes: no receiver has promised a report.
    let last = story.departures.iter().filter(|(when, _)| (at(11_000)..at(12_000)).contains(when)).count();
    assert!((2800..=2900).contains(&last), "{last}");
}

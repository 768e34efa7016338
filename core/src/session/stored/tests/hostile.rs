//! Messages that no well-behaved receiver sends.

use super::at;
use super::pair::{Pair, Video};
use super::stored;
use crate::session::Session;
use crate::session::stored::control::Control;
use crate::time::Span;
use crate::wire;
use crate::wire::rtcp::{App, Nack, Writer};
use crate::wire::stored::{FlowControl, Message, Mode, NAME};

fn flow_control(token: u64, number: u32, rho: f64) -> Vec<u8> {
    let message = FlowControl {
        token,
        number,
        rho,
        lambda: rho,
        period: Span::from_millis(100),
        playout: Span::ZERO,
        mode: Mode::Selective,
    };
    let (subtype, data) = Message::FlowControl(message).emit();
    let mut buf = [0; 200];
    let mut writer = Writer::new(&mut buf);
    writer.push(&App { subtype, ssrc: 1, name: NAME, data: &data }).expect("fits");
    let len = writer.len();
    buf[..len].to_vec()
}

#[test]
fn forged_old_and_repeated_messages_change_nothing() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(5.0));
    let (client, victim) = (pair.client(), "192.0.2.1:4000".parse().expect("an address"));
    let token = pair.token();
    let sender = pair.sender_mut();
    // A guess, and the token of another address: media can be directed to no third party.
    for (from, token) in [(client, token ^ 1), (victim, token), (victim, 0)] {
        let result = sender.handle_datagram(at(5.0), from, &flow_control(token, 1 << 20, 1e5));
        assert_eq!(result, Err(wire::Error::Forged));
    }
    // An old message of the receiver's own.
    assert_eq!(sender.handle_datagram(at(5.0), client, &flow_control(token, 2, 1e5)), Ok(()));
    let before = pair.departures().len();
    pair.run_until(at(6.0));
    let sent = pair.departures().len() - before;
    assert!(sent as f64 <= pair.requested(at(5.0), at(6.0)) + 2.0, "{sent}");
}

#[test]
fn rates_beyond_all_bounds_send_no_flood() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(2.0));
    let (client, token) = (pair.client(), pair.token());
    let sender = pair.sender_mut();
    sender.handle_datagram(at(2.0), client, &flow_control(token, 1 << 30, 4e6)).expect("a message");
    let mut buf = [0; 1500];
    let burst = core::iter::from_fn(|| sender.poll_transmit(at(2.0), &mut buf)).take(10_000).count();
    // What one period of 0.1 s holds at the greatest rate that a sender serves.
    assert!(burst < 20, "{burst}");
}

#[test]
fn nacks_of_all_numbers_retransmit_what_is_known_within_the_rate() {
    let mut pair = Pair::new(Video::of_seconds(20), Span::from_millis(30));
    pair.start(Control::R3cpPlus, stored(&pair));
    pair.run_until(at(5.0));
    let (client, token, media_ssrc) = (pair.client(), pair.token(), pair.ssrc());
    let entries = Nack::entries_of(0..=u16::MAX);
    let mut buf = vec![0; 20_000];
    let sent = pair.departures().len();
    for nth in 0..20 {
        let message = flow_control(token, (1 << 30) + nth, 100.0);
        let mut writer = Writer::new(&mut buf);
        // Of the stream, and of one that does not exist.
        for media_ssrc in [media_ssrc, media_ssrc ^ 1] {
            let nack = Nack { sender_ssrc: 1, media_ssrc, entries: &entries[..entries.len() / 2] };
            writer.push(&nack).expect("fits");
        }
        let len = writer.len();
        let datagram = [&message, &buf[..len]].concat();
        assert_eq!(pair.sender_mut().handle_datagram(at(5.0), client, &datagram), Ok(()));
    }
    pair.run_until(at(6.0));
    // The rate asked for, the packet that opens the window, and one that an earlier rate had planned.
    let sent = pair.departures().len() - sent;
    assert!((90..=102).contains(&sent), "{sent}");
}

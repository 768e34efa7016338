//! A live stream over loopback: two sessions, two sockets, one loop. Run with `cargo run --example live`.

use std::error::Error;
use std::net::UdpSocket;
use std::thread::sleep;
use std::time::Duration;

use thalweg_core::law::redundancy::Choice;
use thalweg_core::session::live::{receiver, receiver::Receiver, sender, sender::Sender};
use thalweg_core::session::{MAX_DATAGRAM, Session, Transmit};
use thalweg_core::time::{Span, Time};
use thalweg_net::{clock::Clock, entropy};

fn main() -> Result<(), Box<dyn Error>> {
    let (clock, rng) = (Clock::start(), entropy::rng()?);
    let (near, far) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    let law = sender::redundancy(&Choice::named("geneva").ok_or("no such law")?)?;
    let config = sender::Config::new(far.local_addr()?, law);
    let mut sender = Sender::new(config, clock.now(), &rng.fork("sender"));
    let mut receiver = Receiver::new(receiver::Config::default(), &rng.fork("receiver"));
    let (mut sent, mut received) = (0, 0);
    while received < 100 && clock.now() < Time::ZERO + Span::from_secs(10) {
        let now = clock.now();
        // A source of a datagram every 2 ms, once the receiver has answered.
        if sender.is_connected() && sent < 100 {
            sender.handle_media(now, format!("datagram {sent}").as_bytes());
            sent += 1;
        }
        turn(&mut sender, &near, now)?;
        turn(&mut receiver, &far, now)?;
        while let Some(datagram) = receiver.poll_media(now) {
            println!("{}", String::from_utf8_lossy(datagram));
            received += 1;
        }
        sleep(Duration::from_millis(2));
    }
    if received == 100 { Ok(()) } else { Err(format!("{received} of {sent} datagrams").into()) }
}

/// One turn of the loop: datagrams that have arrived, timers that are due, datagrams to send, events.
fn turn<S: Session>(session: &mut S, socket: &UdpSocket, now: Time) -> std::io::Result<()> {
    let mut buf = [0; MAX_DATAGRAM];
    socket.set_nonblocking(true)?;
    while let Ok((len, from)) = socket.recv_from(&mut buf) {
        // A datagram that is refused is counted and changes nothing.
        let _ = session.handle_datagram(now, from, &buf[..len]);
    }
    if session.poll_timeout().is_some_and(|at| at <= now) {
        session.handle_timeout(now);
    }
    while let Some(Transmit { to, len }) = session.poll_transmit(now, &mut buf) {
        socket.send_to(&buf[..len], to)?;
    }
    while session.poll_event().is_some() {}
    Ok(())
}

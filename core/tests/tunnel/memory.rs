//! Idle ends take little memory.

use allocation_counter::measure;
use thalweg_core::law::rate::Choice;
use thalweg_core::session::mux::Reason;
use thalweg_core::session::tunnel::Config;
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_core::wire::mux::FIRST_CREDIT;

use crate::tunnel::pair::Pair;

/// The bytes that both ends hold together after `count` connections have carried `bytes` each and were idle.
fn held(count: usize, bytes: usize) -> u64 {
    let mut pair = None;
    let made = measure(|| {
        let mut made = Pair::new();
        let ids: Vec<_> = (0..count).map(|_| made.client.open(made.now).expect("room")).collect();
        for id in ids {
            let script = vec![7; bytes];
            let mut written = 0;
            while written < bytes {
                written += made.client.write(id, &script[written..]);
                made.run(Span::from_millis(20));
            }
            assert_eq!(made.received.remove(&id).map_or(0, |received| received.len()), bytes);
        }
        made.run(Span::from_secs(30));
        (made.events, made.seen) = (Vec::new(), Vec::new());
        pair = Some(made);
    });
    u64::try_from(made.bytes_current).expect("more is held than before")
}

#[test]
fn idle_connections_and_links_use_little_memory() {
    let [few, many] = [held(1, 100_000), held(501, 100_000)];
    let each = (many - few) / 500;
    println!("{each} bytes for a connection, both ends; {few} for two ends with one");
    assert!(each < 4 << 10, "{each} bytes");
    // Association, stream and one connection of an end: the bound that users were promised.
    assert!(few / 2 < 32 << 10, "{few} bytes");
}

/// Memory of a full window is given back: the first credit of 48 connections, 12.6 MB in 11 000 originals, is sent and
/// nothing arrives.
#[test]
fn memory_of_a_full_window_is_released() {
    let config = Config { rate: Choice::Fixed(Rate::from_mbps(300)), ..Config::default() };
    let (mut kept, mut full) = (None, 0);
    let made = measure(|| {
        let mut pair = Pair::with(config);
        pair.run(Span::from_millis(100));
        let ids: Vec<_> = (0..48).map(|_| pair.client.open(pair.now).expect("room")).collect();
        for id in &ids {
            pair.client.write(*id, &[7; FIRST_CREDIT as usize]);
        }
        let (end, mut buf) = (pair.now + Span::from_secs(2), [0; MAX_DATAGRAM]);
        loop {
            while pair.client.poll_transmit(pair.now, &mut buf).is_some() {}
            let Some(next) = pair.client.poll_timeout().filter(|next| *next <= end) else { break };
            pair.now = pair.now.max(next);
            pair.client.handle_timeout(pair.now);
        }
        full = pair.client.links().map(|link| link.sent().new).sum::<u64>();
        pair.run(Span::from_secs(60));
        for id in ids {
            assert_eq!(pair.received[&id].len(), FIRST_CREDIT as usize);
            pair.client.reset(id, Reason::Aborted);
        }
        pair.run(Span::from_secs(30));
        (pair.events, pair.seen, pair.received) = Default::default();
        kept = Some(pair);
    });
    assert!(full > 10_000, "{full} originals left");
    let held = made.bytes_current;
    assert!(held / 2 < 64 << 10, "{held} bytes at both ends");
    drop(kept);
}

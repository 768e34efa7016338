//! The source of all streams: datagrams at the rates that their senders want.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use thalweg_net::clock::Clock;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::STREAMS;

/// The rate of each stream before its sender wants one, in bits per second.
pub(super) const START: u64 = 500_000;
/// Seven packets of MPEG-TS.
const PAYLOAD: usize = 1316;
/// The time between two looks at what is due.
const TICK: Duration = Duration::from_millis(2);

/// The rates of all streams, in bits per second.
pub(super) type Rates = [AtomicU64; STREAMS.len()];

/// Sends datagrams to `inputs` at `rates` until `over` is asked for.
pub(super) fn play(inputs: &[SocketAddr], rates: &Rates, clock: Clock, over: &Stop) -> Result<(), String> {
    let open = || UdpSocket::bind("127.0.0.1:0");
    let socket = open().map_err(|error| format!("cannot open a UDP socket on 127.0.0.1: {}", plain(&error)))?;
    let (mut owed, mut before) = ([0.0; STREAMS.len()], clock.now());
    while !over.asked() {
        std::thread::sleep(TICK);
        let now = clock.now();
        let passed = now.since(before).as_secs_f64();
        before = now;
        for ((owed, rate), input) in owed.iter_mut().zip(rates).zip(inputs) {
            // After a stall of this machine the source goes on as a live one does.
            *owed = (*owed + rate.load(Ordering::Relaxed) as f64 / 8.0 * passed).min(20.0 * PAYLOAD as f64);
            while *owed >= PAYLOAD as f64 {
                *owed -= PAYLOAD as f64;
                // A datagram that the kernel refuses is lost as one on the path.
                let _ = socket.send_to(&[0; PAYLOAD], input);
            }
        }
    }
    Ok(())
}

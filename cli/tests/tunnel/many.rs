//! Many connections at once, each with bytes of its own; some are reset by one end or the other.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{TIMEOUT, wait_until};
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{HARSH, Tunnel, close_with_reset, is_long, open, program};

/// The first byte of a connection, which is a request to the program.
const ECHO: u8 = 0;
const BREAK_OFF: u8 = 1;
/// A connection carries fewer bytes than this.
const MOST: u64 = 50_000;
/// One connection in this many is reset by the near end, and as many by the far one.
const RARE: u64 = 8;

/// The numbers of connections, by their ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Ends {
    whole: u64,
    /// Connections reset by the near end, and by the far one.
    near: u64,
    far: u64,
}

/// Echoes all bytes but the first, or resets the connection; counts the connections that the other end has reset.
fn echo_or_reset(mut stream: TcpStream, resets: &AtomicU64) -> std::io::Result<()> {
    let (mut first, mut bytes) = ([0], [0; 1 << 14]);
    let mut outcome = stream.read_exact(&mut first);
    if first == [BREAK_OFF] {
        close_with_reset(stream);
        return Ok(());
    }
    while outcome.is_ok() {
        let len = match stream.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(len) => len,
            Err(error) => {
                outcome = Err(error);
                break;
            }
        };
        outcome = stream.write_all(&bytes[..len]);
    }
    resets.fetch_add(1, Ordering::Relaxed);
    outcome
}

/// One connection, from its first byte to its end.
fn run_connection(local: &str, dice: &mut Noise, ends: &mut Ends) {
    let (seed, len, way) = (dice.below(1 << 32), dice.below(MOST), dice.below(RARE));
    let mut stream = open(local);
    stream.set_read_timeout(Some(TIMEOUT * 2)).expect("a timeout");
    std::thread::sleep(Duration::from_millis(dice.below(50)));
    match way {
        0 => {
            // A part of the answer is read, so that the program is connected; the rest is in flight.
            stream.write_all(&[ECHO]).expect("room");
            Noise::new(seed).write(&mut stream, len + 1).expect("the tunnel takes all");
            Noise::new(seed).expect_part(&mut stream, dice.below(len + 1) + 1);
            close_with_reset(stream);
            ends.near += 1;
        }
        1 => {
            stream.write_all(&[BREAK_OFF]).expect("room");
            let end = stream.read(&mut [0]).map_err(|error| error.kind());
            assert_eq!(end, Err(ErrorKind::ConnectionReset));
            ends.far += 1;
        }
        _ => {
            let mut writer = stream.try_clone().expect("a copy");
            // The echo's own buffers hold less than this, so both directions run at once.
            let reader = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
                Noise::new(seed).expect(&mut stream, len);
            });
            writer.write_all(&[ECHO]).expect("room");
            Noise::new(seed).write(&mut writer, len).expect("the tunnel takes all");
            writer.shutdown(Shutdown::Write).expect("a connection");
            reader.expect("a thread").join().expect("the same bytes");
            ends.whole += 1;
        }
    }
}

/// Opens and closes connections over `path` from `threads` threads until `time` has passed, or one each; returns their
/// ends.
fn run_connections(name: &str, path: Option<&str>, threads: u64, time: Duration) -> Ends {
    let resets = Arc::new(AtomicU64::new(0));
    let count = resets.clone();
    let target = program("127.0.0.1:0", move |stream| {
        let _ = echo_or_reset(stream, &count);
    });
    let tunnel = Tunnel::with(name, &target, path, &[]);
    let until = Instant::now() + time;
    let threads: Vec<_> = (0..threads)
        .map(|thread| {
            let local = tunnel.local().to_owned();
            let run = move || {
                let (mut dice, mut ends) = (Noise::new(thread + 1), Ends::default());
                loop {
                    run_connection(&local, &mut dice, &mut ends);
                    if Instant::now() >= until {
                        return ends;
                    }
                }
            };
            std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread")
        })
        .collect();
    let ends = threads.into_iter().map(|thread| thread.join().expect("every connection ended as it should"));
    let ends = ends.fold(Ends::default(), |sum, part| Ends {
        whole: sum.whole + part.whole,
        near: sum.near + part.near,
        far: sum.far + part.far,
    });
    // Each connection that was reset at the near end was reset at the far end, and no other.
    wait_until("all resets", || resets.load(Ordering::Relaxed) >= ends.near);
    assert_eq!(resets.load(Ordering::Relaxed), ends.near);
    ends
}

#[test]
fn hundred_parallel_connections_end_as_expected() {
    let ends = run_connections("hundred", None, 100, Duration::ZERO);
    assert_eq!(ends.whole + ends.near + ends.far, 100);
    assert!(ends.whole > 0 && ends.near > 0 && ends.far > 0, "{ends:?}");
}

#[test]
fn thousand_connections_over_a_minute_end_as_expected() {
    if is_long() {
        let ends = run_connections("thousand", None, 1_000, Duration::from_secs(60));
        println!("{ends:?}");
        assert!(ends.whole > 1_000 && ends.near > 100 && ends.far > 100, "{ends:?}");
    }
}

#[test]
fn two_hundred_connections_over_a_harsh_path_end_as_expected() {
    if is_long() {
        let ends = run_connections("two-hundred", Some(HARSH), 200, Duration::from_secs(20));
        println!("{ends:?}");
        assert!(ends.whole > 100 && ends.near > 10 && ends.far > 10, "{ends:?}");
    }
}

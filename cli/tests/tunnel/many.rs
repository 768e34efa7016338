//! Many connections at once, each with bytes of its own; some are broken off by one end or the other.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, wait_until};
use crate::noise::Noise;
use crate::stage::{HARSH, Tunnel, break_off, is_long, open, program};

/// What the first byte asks of the program.
const ECHO: u8 = 0;
const BREAK_OFF: u8 = 1;
/// A connection carries less than so many bytes.
const MOST: u64 = 50_000;
/// One connection in so many is broken off by the near end, and as many by the far one.
const RARE: u64 = 8;

/// How connections ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Ends {
    whole: u64,
    /// Broken off by the near end, and by the far one.
    near: u64,
    far: u64,
}

/// Gives back what it gets behind the first byte, or breaks off; counts what was broken off by the other end.
fn fickle(mut stream: TcpStream, resets: &AtomicU64) -> std::io::Result<()> {
    let (mut first, mut bytes) = ([0], [0; 1 << 14]);
    let mut outcome = stream.read_exact(&mut first);
    if first == [BREAK_OFF] {
        break_off(stream);
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
fn one(local: &str, dice: &mut Noise, ends: &mut Ends) {
    let (seed, len, way) = (dice.below(1 << 32), dice.below(MOST), dice.below(RARE));
    let mut stream = open(local);
    stream.set_read_timeout(Some(PATIENCE * 2)).expect("a timeout");
    std::thread::sleep(Duration::from_millis(dice.below(50)));
    match way {
        0 => {
            // A part of the answer is read, so that the program is there; the rest is in flight.
            stream.write_all(&[ECHO]).expect("room");
            Noise::new(seed).write(&mut stream, len + 1).expect("the tunnel takes all");
            Noise::new(seed).expect_part(&mut stream, dice.below(len + 1) + 1);
            break_off(stream);
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
            // The echo's own buffers hold less than this: both ways at once.
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

/// Opens and closes connections over `path` from `threads` threads until `time` has passed, or one each; how they ended.
fn come_and_go(name: &str, path: Option<&str>, threads: u64, time: Duration) -> Ends {
    let resets = Arc::new(AtomicU64::new(0));
    let count = resets.clone();
    let target = program("127.0.0.1:0", move |stream| {
        let _ = fickle(stream, &count);
    });
    let tunnel = Tunnel::with(name, &target, path, &[]);
    let until = Instant::now() + time;
    let threads: Vec<_> = (0..threads)
        .map(|thread| {
            let local = tunnel.local().to_owned();
            let run = move || {
                let (mut dice, mut ends) = (Noise::new(thread + 1), Ends::default());
                loop {
                    one(&local, &mut dice, &mut ends);
                    if Instant::now() >= until {
                        return ends;
                    }
                }
            };
            std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread")
        })
        .collect();
    let ends = threads.into_iter().map(|thread| thread.join().expect("every connection ended as it should"));
    let ends = ends.fold(Ends::default(), |sum, one| Ends {
        whole: sum.whole + one.whole,
        near: sum.near + one.near,
        far: sum.far + one.far,
    });
    // Each that was broken off here was broken off there, and no other.
    wait_until("all resets", || resets.load(Ordering::Relaxed) >= ends.near);
    assert_eq!(resets.load(Ordering::Relaxed), ends.near);
    ends
}

#[test]
fn a_hundred_connections_at_once_each_end_as_they_should() {
    let ends = come_and_go("hundred", None, 100, Duration::ZERO);
    assert_eq!(ends.whole + ends.near + ends.far, 100);
    assert!(ends.whole > 0 && ends.near > 0 && ends.far > 0, "{ends:?}");
}

#[test]
fn a_thousand_connections_come_and_go_for_a_minute_and_each_ends_as_it_should() {
    if is_long() {
        let ends = come_and_go("thousand", None, 1_000, Duration::from_secs(60));
        println!("{ends:?}");
        assert!(ends.whole > 1_000 && ends.near > 100 && ends.far > 100, "{ends:?}");
    }
}

#[test]
fn two_hundred_connections_come_and_go_over_a_harsh_path() {
    if is_long() {
        let ends = come_and_go("two-hundred", Some(HARSH), 200, Duration::from_secs(20));
        println!("{ends:?}");
        assert!(ends.whole > 100 && ends.near > 10 && ends.far > 10, "{ends:?}");
    }
}

//! Many connections at once, each with bytes of its own.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use crate::common::PATIENCE;
use crate::noise::Noise;
use crate::stage::{Tunnel, echo, is_long, open, program};

/// Opens and closes connections from `threads` threads until `time` has passed, or one each; how many there were.
fn come_and_go(name: &str, threads: u64, time: Duration, most: u64) -> u64 {
    let tunnel = Tunnel::start(name, &program("127.0.0.1:0", echo));
    let until = Instant::now() + time;
    let threads: Vec<_> = (0..threads)
        .map(|thread| {
            let local = tunnel.local().to_owned();
            let one = move || {
                let mut dice = Noise::new(thread + 1);
                let mut count = 0;
                loop {
                    let (seed, len) = (dice.below(1 << 32), dice.below(most));
                    let mut stream = open(&local);
                    stream.set_read_timeout(Some(PATIENCE * 2)).expect("a timeout");
                    let mut writer = stream.try_clone().expect("a copy");
                    std::thread::sleep(Duration::from_millis(dice.below(50)));
                    // The echo's own buffers hold less than this: both ways at once.
                    let reader = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
                        Noise::new(seed).expect(&mut stream, len);
                    });
                    Noise::new(seed).write(&mut writer, len).expect("the tunnel takes all");
                    writer.shutdown(Shutdown::Write).expect("a connection");
                    reader.expect("a thread").join().expect("the same bytes");
                    count += 1;
                    if Instant::now() >= until {
                        return count;
                    }
                }
            };
            std::thread::Builder::new().stack_size(256 << 10).spawn(one).expect("a thread")
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("every connection was whole")).sum()
}

#[test]
fn a_hundred_connections_at_once_are_each_whole() {
    assert_eq!(come_and_go("hundred", 100, Duration::ZERO, 50_000), 100);
}

#[test]
fn a_thousand_connections_come_and_go_for_a_minute_and_are_each_whole() {
    if is_long() {
        let count = come_and_go("thousand", 1_000, Duration::from_secs(60), 50_000);
        println!("{count} connections");
        assert!(count > 1_000);
    }
}

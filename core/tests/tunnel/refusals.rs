//! Refusals name the value and its valid range.

use thalweg_core::law::rate::Choice;
use thalweg_core::session::secure;
use thalweg_core::session::stream;
use thalweg_core::session::tunnel::{Config, Tunnel, Unopened};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

use crate::tunnel::pair::{Pair, config, there};

#[test]
fn configuration_errors_name_the_value_out_of_range() {
    let ours = Config::default();
    let datagram = |datagram| secure::Config { datagram, ..ours.secure };
    let refused = [
        (Config { max_overhead: -1.0, ..ours.clone() }, "max_overhead must be at least 0 and at most 1000000, not -1"),
        // A packet of 1200 bytes, with 28 of IPv4 and UDP, in a second.
        (
            Config { max_rate: Some(Rate::from_bps(9823)), ..ours.clone() },
            "max_rate in bit/s must be at least 9824 and at most 1000000000000, not 9823",
        ),
        (
            Config { rate: Choice::Fixed(Rate::from_mbps(1_000_001)), ..ours.clone() },
            "rate in bit/s must be at least 9824 and at most 1000000000000, not 1000001000000",
        ),
        (Config { connections: 0, ..ours.clone() }, "connections must be at least 1, not 0"),
        (Config { links: 0, ..ours.clone() }, "links must be at least 1, not 0"),
        (Config { secure: datagram(255), ..ours.clone() }, "datagram must be at least 256 and at most 1500, not 255"),
        (
            Config { stream: stream::Config { frame: 127, ..ours.stream }, ..ours.clone() },
            "frame must be at least 128 and at most 65535, not 127",
        ),
        (
            Config { stream: stream::Config { ack_delay: Span::from_millis(6), ..ours.stream }, ..ours.clone() },
            "ack_delay in ms must be at least 0 and at most 5, not 6",
        ),
    ];
    for (config, why) in refused {
        let mut pair = Pair::new();
        let (key, entropy) = (pair.key.clone(), pair.entropy.fork());
        assert_eq!(Tunnel::serve(config.clone(), &key, entropy).unwrap_err().to_string(), why);
        let entropy = pair.entropy.fork();
        assert_eq!(Tunnel::connect(config, &key, there(), Time::ZERO, entropy).unwrap_err().to_string(), why);
    }
}

#[test]
fn failed_open_reports_its_reason() {
    let mut pair = Pair::new();
    assert_eq!(pair.server.open(pair.now), Err(Unopened::Nobody));
    let (key, entropy) = (pair.key.clone(), pair.entropy.fork());
    let few = Config { connections: 1, ..config() };
    let mut client = Tunnel::connect(few, &key, there(), Time::ZERO, entropy).expect("in range");
    client.open(Time::ZERO).expect("the first");
    let full = client.open(Time::ZERO).unwrap_err();
    assert_eq!(full, Unopened::Full { limit: 1 });
    let line = full.to_string();
    assert!(line.contains("limit") && line.ends_with(" 1"), "{line}");
    client.shutdown(Time::ZERO, secure::Reason::Stopped);
    assert_eq!(client.open(Time::ZERO), Err(Unopened::Stopped));
}

//! What is idle takes little.

use allocation_counter::measure;
use thalweg_core::time::Span;

use crate::pair::Pair;

/// What both ends hold together after `count` connections have carried `bytes` each and rested.
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
            assert_eq!(made.heard.remove(&id).map_or(0, |heard| heard.len()), bytes);
        }
        made.run(Span::from_secs(30));
        (made.events, made.seen) = (Vec::new(), Vec::new());
        pair = Some(made);
    });
    u64::try_from(made.bytes_current).expect("more is held than before")
}

#[test]
fn an_idle_connection_takes_little_and_so_does_an_idle_link() {
    let [few, many] = [held(1, 100_000), held(501, 100_000)];
    let each = (many - few) / 500;
    println!("{each} bytes for a connection, both ends; {few} for two ends with one");
    assert!(each < 4 << 10, "{each} bytes");
    // Association, stream and one connection of an end: the bound that a user was promised.
    assert!(few / 2 < 32 << 10, "{few} bytes");
}

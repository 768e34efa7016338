//! Endpoints that fall silent: those that return resume where they were, for those that do not, open connections end
//! with a reason.

use thalweg_core::session::secure::Ending;
use thalweg_core::session::tunnel::{Event, Reason, Why};
use thalweg_core::time::Time;

use crate::tunnel::story::{CLIENT, SERVER, Story, at, config, ms, rough, wire};

/// The silence after which the peer counts as missing, and the time for which its return is awaited, in milliseconds.
const IDLE: u64 = 15_000;
const RESUME: u64 = 60_000;

fn interrupted(event: &Event) -> bool {
    matches!(event, Event::Interrupted { .. })
}

fn resumed(event: &Event) -> bool {
    matches!(event, Event::Resumed { .. })
}

fn transfer(seed: u64) -> (Story, thalweg_core::session::tunnel::Id) {
    let mut story = Story::new(config(20), rough(seed), rough(seed + 1));
    story.answer = (1 << 20, true);
    let id = story.open(4 << 20, true);
    (story, id)
}

/// The association ends by silence at both endpoints; a new one carries the same stream.
#[test]
fn forty_dark_seconds_are_an_interruption_and_no_byte_is_lost_or_doubled() {
    let (mut story, id) = transfer(1);
    story.until(700);
    let before = story.app(SERVER, id).read;
    assert!(before > 0 && before < 4 << 20);
    story.dark = true;
    story.until(40_700).dark = false;
    assert!(story.runs_to_its_end(200_000));
    assert_eq!([story.app(SERVER, id).read, story.app(CLIENT, id).read], [4 << 20, 1 << 20]);
    for side in [CLIENT, SERVER] {
        assert_eq!([story.count(side, interrupted), story.count(side, resumed)], [1, 1]);
        assert_eq!(story.count(side, |event| matches!(event, Event::Up { .. })), 1);
    }
}

/// The outage may concern the client alone, or the forward path alone.
#[test]
fn a_client_that_comes_back_from_elsewhere_before_it_is_missed_goes_on() {
    let (mut story, id) = transfer(3);
    story.until(700);
    story.dark = true;
    // The client has given its association up, and its server is about to.
    story.until(700 + IDLE - 100).dark = false;
    story.client_at = "192.0.2.77:4000".parse().expect("an address");
    assert!(story.runs_to_its_end(200_000));
    assert_eq!([story.app(SERVER, id).read, story.app(CLIENT, id).read], [4 << 20, 1 << 20]);
}

/// While the path works, a hello is sent at least once a second.
#[test]
fn again_and_again() {
    let mut story = Story::new(config(20), rough(5), rough(6));
    let id = story.open(16 << 20, true);
    for nth in 0..4 {
        let start = story.now.as_nanos() / 1_000_000;
        story.until(start + 1000 + nth * 50).dark = true;
        story.until(start + 21_000 + nth * 3_050).dark = false;
        story.until(start + 23_000 + nth * 3_050);
    }
    assert!(story.runs_to_its_end(400_000));
    assert_eq!(story.app(SERVER, id).read, 16 << 20);
    assert!(story.count(CLIENT, resumed) >= 3, "{}", story.count(CLIENT, resumed));
}

/// A restarted server knows no stream: connections end as soon as that is detected, and new ones are served.
#[test]
fn a_restarted_server_ends_what_was_open_and_serves_what_is_new() {
    let (mut story, id) = transfer(7);
    story.while_(10_000, |story| story.sides[SERVER].apps.get(&id).is_none_or(|app| app.read < 100_000));
    let now = story.now;
    story.restart(SERVER);
    story.sides[SERVER].apps.clear();
    let start = now.as_nanos() / 1_000_000;
    story.until(start + 5000);
    let (when, reason) = story.app(CLIENT, id).reset.expect("it is reported");
    assert_eq!(reason, Reason::Lost(Why::Forgotten));
    // Two seconds of doubt, then a handshake over a path that loses a fifth.
    assert!(when.since(now) > ms(2000) && when.since(now) < ms(5000), "{when:?}, {now:?}");
    let id = story.open(1000, true);
    assert_eq!(id.link, 1);
    story.answer = (0, true);
    let start = story.now.as_nanos() / 1_000_000;
    assert!(story.runs_to_its_end(start + 10_000));
    // The server's first link.
    let (_, app) = story.sides[SERVER].apps.last_key_value().expect("one");
    assert_eq!(app.read, 1000);
}

/// Whenever one side is killed, the other ends its open connections, with the reason, when its time limit has passed.
#[test]
fn either_side_killed_at_any_point_ends_the_other() {
    for side in [CLIENT, SERVER] {
        for millis in [50, 130, 300, 700, 1500] {
            let (mut story, _) = transfer(millis);
            story.until(millis).kill(side);
            let other = 1 - side;
            let was_up = story.count(other, |event| matches!(event, Event::Up { .. })) == 1;
            story.until(millis + IDLE + RESUME + 1000);
            let down = story.down(other);
            // A server that never received the name of a stream has nothing to end.
            assert!(down.is_some() || !was_up && side == CLIENT, "{side} killed at {millis}");
            let Some((when, why)) = down else { continue };
            if was_up {
                assert_eq!(why, Why::GaveUp);
                assert!(when > at(millis + RESUME) && when <= at(millis + IDLE + RESUME + 1000), "{when:?}");
            } else {
                let endings = [Ending::NoAnswer, Ending::Refused, Ending::Silent].map(Why::Ended);
                assert!(endings.contains(&why), "{why:?}");
            }
            let open = story.sides[other].apps.values().filter(|app| app.closed.is_none());
            assert!(open.into_iter().all(|app| app.reset == Some((when, Reason::Lost(why)))));
            assert_eq!(story.end(other).links().count(), 0);
        }
    }
}

#[test]
fn peer_that_returns_too_late_learns_that_it_is_forgotten() {
    let (mut story, id) = transfer(9);
    story.config.resume = ms(120_000);
    story.restart(CLIENT);
    story.sides[CLIENT].apps.clear();
    let again = story.open(4 << 20, true);
    let _ = id;
    story.until(1000).dark = true;
    // The server gives up at about 76 s, its client at about 136 s.
    story.until(100_000).dark = false;
    story.until(112_000);
    assert_eq!(story.down(SERVER).map(|(_, why)| why), Some(Why::GaveUp));
    let (when, reason) = story.app(CLIENT, again).reset.expect("it is reported");
    assert!(when > at(100_000));
    assert_eq!(reason, Reason::Lost(Why::Forgotten));
}

/// A tunnel without data stays for as long as both endpoints are there.
#[test]
fn an_idle_tunnel_lives_on_and_says_little() {
    let mut story = Story::new(config(20), wire(20), wire(20));
    let id = story.open(10, false);
    story.until(5000);
    let sent = story.sides[CLIENT].sent.0 + story.sides[SERVER].sent.0;
    story.until(3_605_000);
    let more = story.sides[CLIENT].sent.0 + story.sides[SERVER].sent.0 - sent;
    assert_eq!(story.count(CLIENT, interrupted), 0);
    // At most one keep-alive and its answer every five seconds from either side, and new keys every two minutes.
    assert!(more < 3600 / 5 * 4 + 30 * 8, "{more} datagrams in an hour");
    story.say(CLIENT, id, 10);
    story.until(3_606_000);
    assert_eq!(story.app(SERVER, id).read, 20);
    assert_eq!(story.down(CLIENT), None::<(Time, Why)>);
}

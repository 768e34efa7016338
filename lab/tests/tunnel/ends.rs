//! Connections open and end: each direction by itself, both, by a reset, or with their tunnel.

use thalweg_core::session::mux;
use thalweg_core::session::secure::{Ending, Reason as Close};
use thalweg_core::session::tunnel::{Event, Reason, Tunnel, Why};

use crate::tunnel::story::{CLIENT, SERVER, Story, config, ms, rough, wire};

#[test]
fn bytes_go_both_ways_and_each_direction_ends_by_itself() {
    let mut story = Story::new(config(20), wire(20), wire(20));
    story.answer = (300_000, false);
    let id = story.open(5000, true);
    story.until(1000);
    // The client has finished; the server's bytes still arrive.
    let far = story.app(SERVER, id);
    assert!(far.finished.is_some() && far.closed.is_none() && far.read == 5000);
    story.say(SERVER, id, 1000);
    story.until(2000);
    assert_eq!(story.app(CLIENT, id).read, 301_000);
    story.app(SERVER, id).finishes = true;
    story.say(SERVER, id, 0);
    assert!(story.runs_to_its_end(3000));
    assert!(story.app(CLIENT, id).closed.is_some() && story.app(SERVER, id).closed.is_some());
}

#[test]
fn what_is_written_before_the_first_answer_arrives() {
    let mut story = Story::new(config(20), rough(1), rough(2));
    let ids: Vec<_> = (0..20).map(|_| story.open(100, true)).collect();
    assert!(story.runs_to_its_end(20_000));
    assert!(ids.into_iter().all(|id| story.app(SERVER, id).read == 100));
    assert_eq!(story.count(SERVER, |event| matches!(event, Event::Up { .. })), 1);
}

#[test]
fn a_reset_tells_its_reason_and_leaves_the_neighbours_alone() {
    let mut story = Story::new(config(20), rough(3), rough(4));
    let [broken, whole] = [story.open(8 << 20, true), story.open(1 << 18, true)];
    story.until(700);
    story.end(SERVER).reset(broken, mux::Reason::Unreachable);
    story.sides[SERVER].apps.remove(&broken);
    assert!(story.runs_to_its_end(60_000));
    let (_, reason) = story.app(CLIENT, broken).reset.expect("it is reported");
    assert_eq!(reason, Reason::Reset(mux::Reason::Unreachable));
    assert_eq!(story.app(SERVER, whole).read, 1 << 18);
}

#[test]
fn more_connections_than_allowed_are_refused_and_room_comes_back() {
    let mut story = Story::new(config(20), wire(10), wire(10));
    // The side that does not open them accepts twice as many.
    story.config.connections = 2;
    story.restart(SERVER);
    let ids: Vec<_> = (0..6).map(|_| story.open(10, false)).collect();
    story.until(1000);
    let refused = ids.iter().filter(|id| story.sides[CLIENT].apps[id].reset.is_some()).count();
    assert_eq!((refused, story.sides[SERVER].apps.len()), (2, 4));
    story.end(CLIENT).reset(ids[0], mux::Reason::Aborted);
    story.sides[CLIENT].apps.remove(&ids[0]);
    story.until(1100);
    assert_eq!(story.app(SERVER, ids[0]).reset.map(|(_, why)| why), Some(Reason::Reset(mux::Reason::Aborted)));
    let id = story.open(10, true);
    story.until(1200);
    assert_eq!(story.app(SERVER, id).read, 10);
}

/// Everything that was finished arrives before the tunnel ends, whatever the path loses; the rest is reset.
#[test]
fn a_shutdown_waits_for_what_was_written() {
    for side in [CLIENT, SERVER] {
        let mut story = Story::new(config(20), rough(5), rough(6));
        let [done, open] = [story.open(200_000, true), story.open(200_000, false)];
        story.while_(20_000, |story| story.sides[side].apps.get(&done).is_none_or(|app| app.closed.is_none()));
        let now = story.now;
        story.end(side).shutdown(now, Close::Stopped);
        story.sides[side].apps.remove(&open);
        story.while_(40_000, |story| {
            story.sides.iter().any(|side| !side.end.as_ref().is_some_and(Tunnel::is_over)) && story.now < now + ms(5000)
        });
        assert_eq!(story.app(SERVER, done).read, 200_000);
        assert!(story.sides[side].end.as_ref().is_some_and(Tunnel::is_over));
        let other = 1 - side;
        let (_, reason) = story.app(other, open).reset.expect("it is reported");
        assert_eq!(reason, Reason::Reset(mux::Reason::Stopped));
        let (_, why) = story.down(other).expect("it is reported");
        assert_eq!(why, Why::Ended(Ending::ClosedByPeer(Close::Stopped)));
    }
}

#[test]
fn a_client_whom_nobody_answers_is_over_and_says_why() {
    let mut story = Story::new(config(20), wire(10), wire(10));
    story.kill(SERVER);
    let id = story.open(10, true);
    story.until(11_000);
    assert_eq!(story.down(CLIENT).map(|(_, why)| why), Some(Why::Ended(Ending::NoAnswer)));
    assert_eq!(story.app(CLIENT, id).reset.map(|(_, why)| why), Some(Reason::Lost(Why::Ended(Ending::NoAnswer))));
    assert!(story.end(CLIENT).is_over());
}

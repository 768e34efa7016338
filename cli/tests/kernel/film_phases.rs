//! What a film's windows do where the kernel has a hand in them: too little to send, an idle time, a timeout that was none.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cable::Yard;
use crate::control::Control;
use crate::film::{FILM, Film};

fn number(shown: &Value, name: &str) -> f64 {
    shown[name].as_f64().expect("a number")
}

/// Both windows have grown.
fn is_wide(shown: &Value) -> bool {
    number(shown, "dwnd") > 80.0
}

#[test]
fn a_film_whose_sender_has_little_to_send_takes_no_more_than_it_plays() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&FILM.scenario(1));
    cable.before_all_else();
    let film = Film::quiet(&cable, control.lasting_name(), 8080, |_| ());
    // Eight or nine segments every 100 ms: fewer than the initial window of ten lets out at once, in sixty rounds.
    for _ in 0..60 {
        (&film.server).write_all(&[0; 12_000]).expect("connected");
        thread::sleep(Duration::from_millis(100));
    }
    let shown = film.shown(&control, "film", |_| true);
    // One a round would be sixty.
    assert!(number(&shown, "dwnd") <= 10.0, "{shown}");
    film.flood();
    film.shown(&control, "spare capacity", is_wide);
}

#[test]
fn after_an_idle_time_a_film_begins_with_the_initial_window() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&FILM.scenario(1));
    cable.before_all_else();
    let film = Film::quiet(&cable, control.lasting_name(), 8080, |_| ());
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) && !is_wide(&film.shown(&control, "film", |_| true)) {
        (&film.server).write_all(&[0; 1 << 20]).expect("connected");
    }
    let wide = film.shown(&control, "windows", is_wide);
    // Halved every timeout (RFC 2861), down to ten segments (RFC 6928).
    thread::sleep(Duration::from_secs(4));
    (&film.server).write_all(&[0; 1000]).expect("connected");
    let shown = film.shown(&control, "windows again", |shown| number(shown, "swnd") < number(&wide, "swnd"));
    assert!(number(&shown, "swnd") <= 11.0 && number(&shown, "lwnd") >= 5.0, "{shown}");
    film.flood();
    film.shown(&control, "spare capacity", is_wide);
}

#[test]
fn a_timeout_that_was_none_gives_a_film_both_windows_back() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&FILM.scenario(1));
    cable.before_all_else();
    let film = Film::quiet(&cable, control.lasting_name(), 8080, |_| ());
    film.flood();
    film.shown(&control, "windows", is_wide);
    // Longer than the least timeout of 200 ms and the round trip; nothing is lost, and what comes back was sent once (F-RTO,
    // RFC 5682).
    cable.hold(Duration::from_millis(600));
    thread::sleep(Duration::from_millis(500));
    let shown = film.shown(&control, "film", |_| true);
    // Without it dwnd would be what ten rounds make of nothing.
    assert!(number(&shown, "dwnd") > 60.0 && shown["delay_on"] == true, "{shown}");
}

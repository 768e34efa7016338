//! A video's windows where the kernel influences them: too little to send, an idle time, a spurious timeout.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cable::Yard;
use crate::control::Control;
use crate::video::{VIDEO, Video};

fn number(shown: &Value, name: &str) -> f64 {
    shown[name].as_f64().expect("a number")
}

/// True if both windows have grown.
fn is_wide(shown: &Value) -> bool {
    number(shown, "dwnd") > 80.0
}

#[test]
fn a_video_whose_sender_has_little_to_send_takes_no_more_than_it_plays() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&VIDEO.scenario(1));
    cable.before_all_else();
    let video = Video::quiet(&cable, control.lasting_name(), 8080, |_| ());
    // Eight or nine segments every 100 ms: fewer than the initial window of ten, in sixty rounds.
    for _ in 0..60 {
        (&video.server).write_all(&[0; 12_000]).expect("connected");
        thread::sleep(Duration::from_millis(100));
    }
    let shown = video.shown(&control, "video", |_| true);
    // With one a round, dwnd would be sixty.
    assert!(number(&shown, "dwnd") <= 10.0, "{shown}");
    video.flood();
    video.shown(&control, "spare capacity", is_wide);
}

#[test]
fn after_an_idle_time_a_video_begins_with_the_initial_window() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&VIDEO.scenario(1));
    cable.before_all_else();
    let video = Video::quiet(&cable, control.lasting_name(), 8080, |_| ());
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) && !is_wide(&video.shown(&control, "video", |_| true)) {
        (&video.server).write_all(&[0; 1 << 20]).expect("connected");
    }
    let wide = video.shown(&control, "windows", is_wide);
    // The window is halved every timeout (RFC 2861), down to ten segments (RFC 6928).
    thread::sleep(Duration::from_secs(4));
    (&video.server).write_all(&[0; 1000]).expect("connected");
    let shown = video.shown(&control, "windows again", |shown| number(shown, "swnd") < number(&wide, "swnd"));
    assert!(number(&shown, "swnd") <= 11.0 && number(&shown, "lwnd") >= 5.0, "{shown}");
    video.flood();
    video.shown(&control, "spare capacity", is_wide);
}

#[test]
fn a_timeout_that_was_none_gives_a_video_both_windows_back() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&VIDEO.scenario(1));
    cable.before_all_else();
    let video = Video::quiet(&cable, control.lasting_name(), 8080, |_| ());
    video.flood();
    video.shown(&control, "windows", is_wide);
    // Longer than the least timeout of 200 ms and the round trip; nothing is lost, and the packets acknowledged were
    // sent once (F-RTO, RFC 5682).
    cable.hold(Duration::from_millis(600));
    thread::sleep(Duration::from_millis(500));
    let shown = video.shown(&control, "video", |_| true);
    // Without F-RTO dwnd would have had ten rounds to grow from zero.
    assert!(number(&shown, "dwnd") > 60.0 && shown["delay_on"] == true, "{shown}");
}

//! Events of a player, for people and for programs.

use thalweg_core::session::stored::control::Control;
use thalweg_core::session::stored::receiver::Event;
use thalweg_core::time::Span;
use thalweg_core::units::Seconds;
use thalweg_net::report::Report;
use thalweg_rtsp::url::Url;

use crate::tracks::Tracks;

/// A difference of positions below which they are the same for people.
const SAME: Span = Span::from_millis(500);

/// The server plays from `start`.
pub(super) fn playing(start: Span, asked: Option<Span>, tracks: &Tracks, control: Option<Control>) -> Report {
    let of = tracks.duration.map_or(String::new(), |duration| format!(" of {}", clock(duration)));
    let from = match asked {
        Some(asked) if start + SAME < asked => {
            format!("{}{of}, the random access point before {}", clock(start), clock(asked))
        }
        _ => format!("{}{of}", clock(start)),
    };
    let (transport, how) = match control {
        Some(Control::R3cpPlus) => ("r3cp+", "R3CP+"),
        Some(Control::R3cp) => ("r3cp+", "R3CP"),
        Some(Control::Tfcc) => ("r3cp+", "TFCC"),
        Some(Control::None) => ("r3cp+", "RTP without control"),
        None => ("plain", "RTP over TCP"),
    };
    let report = Report::new("playing", format!("playing from {from}; {}, {how}", tracks.names()))
        .with_number("from_seconds", start.as_secs_f64())
        .with("transport", transport);
    control.into_iter().fold(report, |report, control| report.with("control", control))
}

/// The first picture or sound is played `after` the start, or the seek.
pub(super) fn started(after: Span) -> Report {
    let seconds = after.as_secs_f64();
    Report::new("started", format!("playback begins after {seconds:.2} s")).with_number("after_seconds", seconds)
}

/// The server is gone, and the buffer is empty.
pub(super) fn still() -> Report {
    Report::new("still", "the buffer is empty; playback stands still until the server is back")
}

/// Playback stops by a key.
pub(super) fn paused() -> Report {
    Report::new("paused", "paused; space continues")
}

/// Playback continues by a key.
pub(super) fn resumed() -> Report {
    Report::new("resumed", "playback continues")
}

/// The server is gone.
pub(super) fn interrupted(url: &Url, why: &str, after: Span, buffered: Option<Seconds>) -> Report {
    let buffer = buffered
        .filter(|buffered| buffered.0 > 0.0)
        .map(|buffered| format!("; playback continues for {:.1} s from the buffer", buffered.0));
    let text = format!("{url}: {why}{}; trying again in {after}", buffer.unwrap_or_default());
    Report::new("interrupted", text).with("reason", why).with_number("retry_seconds", after.as_secs_f64())
}

/// The server has ended the video at `position`. The error that follows says it to people.
pub(super) fn cut_off(position: Span) -> Report {
    let report = Report::new("ended", "").with("reason", "cut_off");
    report.with_number("position_seconds", position.as_secs_f64())
}

/// An event of the receiver that is worth a line.
pub(super) fn reception(event: Event) -> Option<Report> {
    match event {
        Event::Probed { rtt, loss } => {
            let text = format!("path: round trip {:.1} ms, loss {:.0}%", rtt.as_millis_f64(), 100.0 * loss);
            let report = Report::new("probed", text).with_number("rtt_seconds", rtt.as_secs_f64());
            Some(report.with_number("loss_ratio", loss))
        }
        Event::Started | Event::NoAnswer | Event::Ended | Event::CutOff => None,
        event => Some(Report::unknown(&event)),
    }
}

/// A position in a video as hours, minutes and seconds, below a minute with tenths.
pub fn clock(position: Span) -> String {
    let tenths = position.as_micros() / 100_000;
    let seconds = tenths / 10;
    let fraction = if seconds < 60 { format!(".{}", tenths % 10) } else { String::new() };
    format!("{}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use thalweg_core::wire::sdp::stored::Presentation;

    use super::*;

    #[test]
    fn start_is_said_with_the_position_that_was_asked_for() {
        let text = "v=0\r\ns=-\r\na=range:npt=0-5400\r\nm=video 0 RTP/AVP 32\r\nm=audio 0 RTP/AVP 14\r\n";
        let tracks = Tracks::choose(&Presentation::parse(text).expect("a description")).expect("tracks");
        let text = |start, asked: Option<u64>| {
            let control = Some(Control::Tfcc);
            playing(Span::from_secs(start), asked.map(Span::from_secs), &tracks, control).text
        };
        assert_eq!(
            text(748, Some(750)),
            "playing from 0:12:28 of 1:30:00, the random access point before 0:12:30; MPEG video and MPEG audio, TFCC"
        );
        assert_eq!(text(0, None), "playing from 0:00:00.0 of 1:30:00; MPEG video and MPEG audio, TFCC");
    }

    #[test]
    fn positions_have_tenths_below_a_minute() {
        let texts = [0, 2_480, 59_999, 60_000, 3_661_900].map(|millis| clock(Span::from_millis(millis)));
        assert_eq!(texts, ["0:00:00.0", "0:00:02.4", "0:00:59.9", "0:01:00", "1:01:01"]);
    }
}

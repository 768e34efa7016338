//! Reports of a sending end.

use std::net::SocketAddr;

use thalweg_core::session::live::Ending;
use thalweg_core::session::live::sender::Event;
use thalweg_core::time::Span;

use crate::report::Report;

/// Describes an event of a session, which waits for its receiver for `wait`, if it does. Of a live input media is lost
/// meanwhile.
pub(super) fn describe(event: Event, is_live: bool, wait: Option<Span>) -> Report {
    let wait = wait.unwrap_or_default();
    // A file is read on once somebody is there again.
    let media = if is_live { "media is dropped" } else { "media waits" };
    match event {
        Event::Connected { to, latency } => Report::new("connected", format!("connected to {to}, latency {latency}"))
            .with("to", to)
            .with_number("latency_seconds", latency.as_secs_f64()),
        Event::Moved { to } => Report::new("moved", format!("the receiver is at {to} now")).with("to", to),
        Event::TooShort { round_trip, needed } => Report::new(
            "too_short",
            format!(
                "repair comes too late on a round trip of {:.0} ms: give --latency {}ms or more",
                round_trip.as_secs_f64() * 1e3,
                needed.as_nanos().div_ceil(1_000_000)
            ),
        )
        .with_number("needed_seconds", needed.as_secs_f64()),
        Event::FewPackets { packets, needed } => Report::new(
            "few_packets",
            format!(
                "a block of repair covers {packets:.1} packets within this latency, and recovers little: give --latency {}ms \
                 or more",
                needed.as_nanos().div_ceil(1_000_000)
            ),
        )
        .with_number("packets", packets)
        .with_number("needed_seconds", needed.as_secs_f64()),
        Event::InTime => Report::new("in_time", "the round trip is shorter, and repair comes in time"),
        Event::OverRate { greatest, unsent } => Report::new(
            "over_rate",
            format!("media is faster than --max-rate {greatest}: {unsent} more datagrams did not leave"),
        )
        .with_number("unsent_packets", unsent as f64),
        Event::Busy => {
            Report::new("busy", format!("the receiver is taken by another stream; asking it for {wait} more"))
                .with_number("wait_seconds", wait.as_secs_f64())
        }
        Event::Silent => silent("nothing comes back from the receiver", media, wait),
        Event::Left => silent("the receiver has ended", media, wait),
        Event::LowerRate(rate) => {
            let bps = rate.as_bps() as f64;
            let text = format!("loss stays too high: the source should come down to {:.2} Mb/s", bps * 1e-6);
            Report::new("lower_rate", text).with_number("rate_bps", bps)
        }
        Event::RateRestored => Report::new("rate_restored", "the path carries the stream again"),
        Event::Ended(ending) => ended(ending, ""),
    }
}

fn silent(why: &str, media: &str, wait: Span) -> Report {
    Report::new("silent", format!("{why}; {media}, and hellos go on for {wait}"))
        .with_number("wait_seconds", wait.as_secs_f64())
}

/// The end; `why` says why it says goodbye, if it does.
pub(super) fn ended(ending: Ending, why: &str) -> Report {
    // A failure: people read of it in the line that the program fails with.
    let text = if ending == Ending::Bye { format!("ended: {why}") } else { String::new() };
    Report::new("ended", text).with("reason", name(ending))
}

/// A session has ended with `ending`, and `to` is called again after `wait`.
pub(super) fn retry(to: SocketAddr, ending: Ending, wait: Span) -> Report {
    let why = match ending {
        Ending::Silent => "the receiver has gone".to_owned(),
        other => other.to_string(),
    };
    let when = if wait > Span::ZERO { format!("again in {wait}") } else { "again now".to_owned() };
    Report::new("retry", format!("{why}; calling {to} {when}"))
        .with("to", to)
        .with("reason", name(ending))
        .with_number("wait_seconds", wait.as_secs_f64())
}

/// Nobody has answered yet.
pub(super) fn waiting(to: SocketAddr) -> Report {
    let listen = if to.is_ipv6() { format!("[::]:{}", to.port()) } else { format!(":{}", to.port()) };
    let command = format!("thalweg recv --listen {listen} --output file:out.ts");
    Report::new("waiting", format!("waiting for a receiver at {to}; there, start: {command}"))
        .with("to", to)
        .with("command", command)
}

/// Name of an ending in JSON.
pub(in crate::station) fn name(ending: Ending) -> &'static str {
    match ending {
        Ending::Bye => "bye",
        Ending::NoAnswer => "no_answer",
        Ending::Busy => "busy",
        Ending::Breaker => "breaker",
        Ending::Silent => "silent",
        Ending::Version(_) => "version",
    }
}

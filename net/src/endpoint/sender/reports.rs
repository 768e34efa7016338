//! Reports of a sending endpoint.

use std::net::SocketAddr;

use thalweg_core::session::live::Ending;
use thalweg_core::session::live::sender::Event;
use thalweg_core::time::Span;

use super::super::latency;
use crate::report::Report;

/// The address of the receiver, or, if the sender listens, its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::endpoint) struct Way {
    pub(in crate::endpoint) address: SocketAddr,
    pub(in crate::endpoint) listens: bool,
}

/// Describes an event of a session; `wait` is the time for which it waits for its receiver, if it does. Media of a live
/// input is lost meanwhile.
pub(in crate::endpoint) fn describe(event: Event, way: Way, is_live: bool, wait: Option<Span>) -> Report {
    let wait = wait.unwrap_or_default();
    // Reading of a file continues once a receiver answers again.
    let media = if is_live { "media is dropped" } else { "media waits" };
    match event {
        Event::Connected { to, latency, round_trip } => {
            let connected = Report::new("connected", format!("connected to {to}")).with("to", to);
            latency::with(connected, latency, round_trip)
        }
        Event::LatencyRaised { from, to, round_trip } => latency::raised(from, to, round_trip),
        Event::Moved { to } => Report::new("moved", format!("the receiver is now at {to}")).with("to", to),
        Event::TooShort { round_trip, needed } => Report::new(
            "too_short",
            format!(
                "repair arrives too late on a round trip of {:.0} ms; use --latency {}ms or more",
                round_trip.as_secs_f64() * 1e3,
                needed.as_nanos().div_ceil(1_000_000)
            ),
        )
        .with_number("needed_seconds", needed.as_secs_f64()),
        Event::FewPackets { packets, needed } => Report::new(
            "few_packets",
            format!(
                "a repair block has {packets:.1} packets within this latency, and recovers few losses; use \
                 --latency {}ms or more",
                needed.as_nanos().div_ceil(1_000_000)
            ),
        )
        .with_number("packets", packets)
        .with_number("needed_seconds", needed.as_secs_f64()),
        Event::InTime => Report::new("in_time", "the round trip is shorter; repair arrives in time again"),
        Event::OverRate { greatest, unsent } => Report::new(
            "over_rate",
            format!("media is faster than the rate limit {greatest}: {unsent} datagrams were dropped"),
        )
        .with_number("unsent_packets", unsent as f64),
        Event::Busy => Report::new("busy", format!("the receiver is busy with another stream; retrying for {wait}"))
            .with_number("wait_seconds", wait.as_secs_f64()),
        Event::Silent => silent("no reports from the receiver", way, media, wait),
        Event::Left => silent("the receiver closed the session", way, media, wait),
        Event::LowerRate(rate) => {
            let bps = rate.as_bps() as f64;
            let text = format!("loss stays too high; reduce the source's rate to {:.2} Mb/s", bps * 1e-6);
            Report::new("lower_rate", text).with_number("rate_bps", bps)
        }
        Event::RateRestored => Report::new("rate_restored", "the path carries the stream again"),
        Event::Ended(ending) => ended(ending, ""),
        event => Report::unknown(&event),
    }
}

fn silent(why: &str, way: Way, media: &str, wait: Span) -> Report {
    let next = if way.listens { "until one calls".to_owned() } else { format!("and hellos continue for {wait}") };
    Report::new("silent", format!("{why}; {media}, {next}")).with_number("wait_seconds", wait.as_secs_f64())
}

/// Describes the end; `why` is the reason of a goodbye.
pub(in crate::endpoint) fn ended(ending: Ending, why: &str) -> Report {
    // A failure: people read of it in the error message of the program.
    let text = if ending == Ending::Bye { format!("ended: {why}") } else { String::new() };
    Report::new("ended", text).with("reason", name(ending))
}

/// Reports that a session has ended with `ending`, and that the next one begins after `wait`.
pub(super) fn retry(way: Way, ending: Ending, wait: Span) -> Report {
    let why = match ending {
        Ending::Silent => "the receiver did not come back".to_owned(),
        other => other.to_string(),
    };
    let when = if wait > Span::ZERO { format!("again in {wait}") } else { "again now".to_owned() };
    let Way { address, listens } = way;
    let next = if listens { "waiting for a receiver to call".to_owned() } else { format!("connecting to {address}") };
    Report::new("retry", format!("{why}; {next} {when}"))
        .with(way.fact(), address)
        .with("reason", name(ending))
        .with_number("wait_seconds", wait.as_secs_f64())
}

/// Reports that so many pictures were dropped; `needed` is a latency at which random access points leave as a whole.
pub(super) fn shed(pictures: u64, needed: Option<Span>) -> Report {
    let text = format!("media is faster than the rate limit: {pictures} pictures were dropped");
    let advice = |needed: Span| {
        let millis = needed.as_nanos().div_ceil(1_000_000);
        format!("; for whole random access points use --latency {millis}ms or more")
    };
    let report = Report::new("shed", text + &needed.map_or_else(String::new, advice))
        .with_number("shed_pictures", pictures as f64);
    needed.into_iter().fold(report, |report, needed| report.with_number("needed_seconds", needed.as_secs_f64()))
}

/// Reports that no receiver has answered yet, with or without a key.
pub(super) fn waiting(way: Way, has_key: bool) -> Report {
    let address = way.address;
    let key = if has_key { " --key-file FILE" } else { "" };
    let (end, text) = match way.listens {
        true => (format!("--call {}", reached(address)), "no receiver has called yet; start one".to_owned()),
        false => {
            (format!("--listen {}", any(address)), format!("waiting for a receiver at {address}; start one there"))
        }
    };
    let command = format!("thalweg recv {end}{key} --output file:out.ts");
    Report::new("waiting", format!("{text}: {command}")).with(way.fact(), address).with("command", command)
}

impl Way {
    /// The name of the address in JSON.
    fn fact(self) -> &'static str {
        if self.listens { "address" } else { "to" }
    }
}

/// The option for listening at the port of `address` on all addresses of its family.
pub(in crate::endpoint) fn any(address: SocketAddr) -> String {
    if address.is_ipv6() { format!("[::]:{}", address.port()) } else { format!(":{}", address.port()) }
}

/// The address of a listening end as others reach it.
fn reached(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("HOST:{}", address.port()) } else { address.to_string() }
}

/// The name of an ending in JSON.
pub(in crate::endpoint) fn name(ending: Ending) -> &'static str {
    match ending {
        Ending::Bye => "bye",
        Ending::NoAnswer => "no_answer",
        Ending::Busy => "busy",
        Ending::Breaker => "breaker",
        Ending::Silent => "silent",
        Ending::Version(_) => "version",
    }
}

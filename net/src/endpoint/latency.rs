//! Reports about the latency that both ends of a live stream keep.

use thalweg_core::time::Span;

use crate::report::Report;

/// Adds the latency to the report of a stream that begins, with the round trip that it follows from if both ends leave it to
/// the path.
pub(super) fn with(report: Report, latency: Span, round_trip: Option<Span>) -> Report {
    let text = match round_trip {
        Some(round_trip) => format!(", latency {} (auto: round trip {})", millis(latency), millis(round_trip)),
        None => format!(", latency {latency}"),
    };
    let report = report.with_number("latency_seconds", latency.as_secs_f64()).text_with(&text);
    round_trip
        .into_iter()
        .fold(report, |report, round_trip| report.with_number("round_trip_seconds", round_trip.as_secs_f64()))
}

/// Reports a longer latency, which a longer round trip needs.
pub(super) fn raised(from: Span, to: Span, round_trip: Span) -> Report {
    let text =
        format!("latency raised from {} to {}: the round trip is {} now", millis(from), millis(to), millis(round_trip));
    Report::new("latency_raised", text)
        .with_number("from_seconds", from.as_secs_f64())
        .with_number("to_seconds", to.as_secs_f64())
        .with_number("round_trip_seconds", round_trip.as_secs_f64())
}

/// A measured time in milliseconds.
fn millis(span: Span) -> String {
    let digits = usize::from(span < Span::from_millis(10));
    format!("{:.digits$} ms", span.as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_that_follows_from_the_round_trip_is_said_with_it() {
        let begun = |latency, round_trip| with(Report::new("connected", "connected"), latency, round_trip);
        let micros = Span::from_micros;
        for (latency, round_trip, text) in [
            (90_000, None, "connected, latency 90ms"),
            (175_070, Some(100_040), "connected, latency 175 ms (auto: round trip 100 ms)"),
            (40_104, Some(208), "connected, latency 40 ms (auto: round trip 0.2 ms)"),
        ] {
            assert_eq!(begun(micros(latency), round_trip.map(micros)).text, text);
        }
        let raised = raised(micros(50_000), micros(175_000), micros(100_000));
        assert_eq!(raised.text, "latency raised from 50 ms to 175 ms: the round trip is 100 ms now");
    }
}

//! The status line of `thalweg play`.

use thalweg_core::time::{Span, Time};
use thalweg_net::figures::Figures;
use thalweg_net::report::Report;
use thalweg_net::reporter::{Audience, Line, Readings, Reporter};
use thalweg_play::clock;

/// The outcomes other than playable, and the kinds of pictures, as the metrics name them.
const OUTCOMES: [&str; 4] = ["skipped", "broken", "late", "orphan"];
const KINDS: [&str; 3] = ["i", "p", "b"];
/// The states of the path, in the order of their numbers.
const STATES: [&str; 3] = ["unloaded", "loaded", "congested"];

/// The reporter with the status line of a player.
#[derive(Debug)]
pub(super) struct Viewer(pub(super) Reporter);

impl Audience for Viewer {
    fn on_report(&mut self, now: Time, report: &Report) {
        self.0.report(now, report);
    }

    fn on_figures(&mut self, now: Time, figures: &[Figures]) {
        self.0.tick(now, &statuses(figures));
    }

    fn on_end(&mut self, now: Time, figures: &[Figures]) {
        self.0.end(now, &statuses(figures));
    }
}

fn statuses(figures: &[Figures]) -> Vec<Status<'_>> {
    figures.iter().map(Status).collect()
}

/// The readings of every second.
struct Status<'a>(&'a Figures);

impl Readings for Status<'_> {
    fn json(&self, at: Time) -> String {
        self.0.to_json(at)
    }

    /// Begins with the position in the video in place of the time.
    fn line(&self, _at: Time) -> Line {
        if !self.0.has_begun() {
            return Line::default();
        }
        let mut line = Line::beginning(clock(Span::from_secs_f64(self.0.get("position_seconds"))));
        if self.0.get("connected") == 0.0 {
            let buffer = self.0.get("buffer_seconds");
            let rest = if buffer > 0.0 { format!("{buffer:.1} s in the buffer") } else { "standing still".to_owned() };
            line.push(0, format!("no server, {rest}"));
        }
        let buffer = |buffer: f64, of| format!("buffer {:.1} of {of:.1} s", buffer.max(0.0));
        // Before the first decision there is no target.
        if self.0.get("buffer_target_seconds") > 0.0
            && let Some(buffer) = self.two("buffer_seconds", "buffer_target_seconds", buffer)
        {
            line.push(1, buffer);
        }
        let rate = |name| self.0.get(name) * self.0.get("packet_bytes") * 8e-6;
        let (requested, desired) = (rate("rho_packets_per_second"), rate("lambda_packets_per_second"));
        if requested.is_finite() {
            // Only what is desired beyond that has an effect.
            let desired = if desired > requested { format!(" (desired {desired:.2})") } else { String::new() };
            line.push(2, format!("requested {requested:.2} Mb/s{desired}"));
        }
        let loss = |loss, next| format!("loss {:.1}% (next {:.1}%)", 100.0 * loss, 100.0 * next);
        let rtt = |rtt, next| format!("RTT {:.1} ms (next {:.1} ms)", 1e3 * rtt, 1e3 * next);
        let path = [
            ("loss_ratio", "forecast_loss_ratio", &loss as &dyn Fn(f64, f64) -> String),
            ("rtt_seconds", "forecast_rtt_seconds", &rtt),
        ];
        // Before the first rate is requested nothing is measured.
        for (now, next, text) in path.into_iter().filter(|_| requested.is_finite()) {
            self.two(now, next, text).into_iter().for_each(|text| line.push(4, text));
        }
        if let Some(state) = STATES.get(self.0.get("state") as usize).filter(|_| self.0.get("state").is_finite()) {
            line.push(3, *state);
        }
        self.outcomes().for_each(|text| line.push(2, text));
        line
    }

    fn last(&self, at: Time) -> String {
        if !self.0.has_begun() {
            return String::new();
        }
        let mut line = Line::at(at);
        line.push(0, "in all");
        let counts = [
            ("packets", "received_packets"),
            ("retransmitted", "retransmitted_packets"),
            ("lost", "lost_packets_total"),
        ];
        for (label, name) in counts {
            if self.0.get(name) > 0.0 {
                line.push(0, format!("{label} {}", self.0.get(name)));
            }
        }
        self.outcomes().for_each(|text| line.push(0, text));
        line.to_string()
    }

    fn is_alarming(&self) -> bool {
        self.0.get("buffer_seconds") < 0.0
    }
}

impl Status<'_> {
    /// The text of two values, if both are known.
    fn two(&self, one: &str, other: &str, text: impl Fn(f64, f64) -> String) -> Option<String> {
        let values = (self.0.get(one), self.0.get(other));
        (values.0.is_finite() && values.1.is_finite()).then(|| text(values.0, values.1))
    }

    /// The share of playable pictures, and what became of the others by I, P and B, where there are any.
    fn outcomes(&self) -> impl Iterator<Item = String> {
        let ratio = self.0.get("playable_ratio");
        let playable = ratio.is_finite().then(|| format!("playable {:.1}%", 100.0 * ratio));
        let others = OUTCOMES.into_iter().filter_map(|outcome| {
            let count = |kind: &str| self.0.get(&format!("{kind}_{outcome}_total"));
            let found = KINDS.into_iter().filter(|kind| count(kind) > 0.0);
            let found: Vec<String> = found.map(|kind| format!("{} {}", kind.to_uppercase(), count(kind))).collect();
            (!found.is_empty()).then(|| format!("{outcome} {}", found.join(" ")))
        });
        let dropped = self.0.get("output_dropped_datagrams_total");
        let dropped = (dropped > 0.0).then(|| format!("dropped {dropped}"));
        playable.into_iter().chain(others).chain(dropped)
    }
}

#[cfg(test)]
mod tests {
    use thalweg_net::endpoint::Endpoint;
    use thalweg_play::PlayEndpoint;

    use super::*;

    fn line(values: &[(&str, f64)]) -> String {
        let value = |name| values.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value);
        let rows = PlayEndpoint::metrics().map(|metric| (metric, value(metric.name))).collect();
        Status(&Figures::of("play", rows)).line(Time::ZERO).to_string()
    }

    #[test]
    fn line_has_buffer_rates_path_and_outcomes_of_r3cp() {
        let values = [
            ("position_seconds", 765.2),
            ("buffer_seconds", 2.41),
            ("buffer_target_seconds", 2.6),
            ("rho_packets_per_second", 100.0),
            ("lambda_packets_per_second", 110.0),
            ("packet_bytes", 1250.0),
            ("loss_ratio", 0.004),
            ("forecast_loss_ratio", 0.005),
            ("rtt_seconds", 0.031),
            ("forecast_rtt_seconds", 0.0324),
            ("state", 1.0),
            ("playable_ratio", 0.998),
            ("b_skipped_total", 3.0),
            ("p_skipped_total", 1.0),
            ("i_late_total", 0.0),
        ];
        assert_eq!(
            line(&values),
            "0:12:45  buffer 2.4 of 2.6 s  requested 1.00 Mb/s (desired 1.10)  loss 0.4% (next 0.5%)  \
             RTT 31.0 ms (next 32.4 ms)  loaded  playable 99.8%  skipped P 1 B 3"
        );
    }

    #[test]
    fn line_of_a_plain_session_has_the_position() {
        assert_eq!(line(&[("position_seconds", 5.3), ("lost_packets_total", 0.0)]), "0:00:05.3");
    }

    #[test]
    fn line_has_no_loss_before_a_probe_is_answered() {
        assert_eq!(line(&[("position_seconds", 0.0), ("loss_ratio", 0.0), ("forecast_loss_ratio", 0.0)]), "0:00:00.0");
    }

    #[test]
    fn desired_rate_is_shown_where_it_is_above_the_requested_one() {
        let at = |desired| {
            line(&[("rho_packets_per_second", 100.0), ("lambda_packets_per_second", desired), ("packet_bytes", 1250.0)])
        };
        assert!(at(0.0).ends_with("  requested 1.00 Mb/s"), "{}", at(0.0));
        assert!(at(120.0).ends_with("  requested 1.00 Mb/s (desired 1.20)"), "{}", at(120.0));
    }
}

//! The status line of `thalweg serve`.

use thalweg_core::probe::Probe;
use thalweg_core::time::Time;
use thalweg_net::figures::Figures;
use thalweg_net::reporter::{Line, Readings, amount};
use thalweg_serve::Ledger;

use super::SIDE;

/// The metrics of a server.
pub(super) fn figures(ledger: &Ledger) -> Figures {
    let mut rows = Vec::new();
    ledger.probe(&mut |name, value| {
        rows.extend(Ledger::METRICS.iter().find(|metric| metric.name == name).map(|metric| (metric, value)));
    });
    Figures::of(SIDE, rows)
}

/// The readings of every second.
pub(super) struct Status(pub(super) Figures);

impl Readings for Status {
    fn json(&self, at: Time) -> String {
        self.0.to_json(at)
    }

    fn line(&self, at: Time) -> Line {
        let get = |name| self.0.get(name);
        let (rate, out) = (get("playing_rate_bps") / 1e6, get("sent_rate_bps") / 1e6);
        let over = [("TLS", "tls_connections"), ("HTTP/3", "quic_connections")];
        let over = over.map(|(label, name)| (label, get(name))).into_iter().filter(|(_, value)| *value > 0.0);
        let over = over.map(|(label, value)| format!("{value} {label}")).collect::<Vec<_>>().join(", ");
        let over = if over.is_empty() { over } else { format!(" ({over})") };
        let mut line = Line::at(at);
        line.push(2, format!("connections {}{over}", get("connections")));
        line.push(1, format!("playing {} ({rate:.2} Mb/s)", get("playing")));
        line.push(1, format!("out {out:.2} Mb/s ({})", amount(get("sent_bytes_total"))));
        self.problems().for_each(|problem| line.push(3, problem));
        line
    }

    fn last(&self, at: Time) -> String {
        let get = |name| self.0.get(name);
        let mut line = Line::at(at);
        line.push(0, format!("in all  connections {}", get("connections_total")));
        line.push(0, format!("requests {}", get("requests_total")));
        line.push(0, format!("out {}", amount(get("sent_bytes_total"))));
        self.problems().for_each(|problem| line.push(0, problem));
        line.to_string()
    }
}

impl Status {
    /// Counts of failures, and of connections that are paced here.
    fn problems(&self) -> impl Iterator<Item = String> {
        let counts = [
            ("paced", "paced"),
            ("refused", "refused_requests_total"),
            ("bad requests", "bad_requests_total"),
            ("changed", "changed_files_total"),
            ("dropped frames", "dropped_frames_total"),
            ("bad handshakes", "failed_handshakes_total"),
        ];
        let counts = counts.map(|(label, name)| (label, self.0.get(name)));
        counts.into_iter().filter(|(_, value)| *value > 0.0).map(|(label, value)| format!("{label} {value}"))
    }
}

#[cfg(test)]
mod tests {
    use thalweg_core::time::Span;

    use super::*;

    #[test]
    fn status_line_shows_playback_and_failures() {
        let value = |name| match name {
            "connections" => 3.0,
            "tls_connections" | "failed_handshakes_total" => 1.0,
            "playing" | "refused_requests_total" => 2.0,
            "playing_rate_bps" => 7.2e6,
            "sent_rate_bps" => 9.126e6,
            "sent_bytes_total" => 2.5e9,
            _ => 0.0,
        };
        let rows = Ledger::METRICS.iter().map(|metric| (metric, value(metric.name))).collect();
        let line = Status(Figures::of(SIDE, rows)).line(Time::ZERO + Span::from_secs(3661));
        assert_eq!(
            line.to_string(),
            "01:01:01  connections 3 (1 TLS)  playing 2 (7.20 Mb/s)  out 9.13 Mb/s (2.5 GB)  refused 2  bad handshakes 1"
        );
    }
}

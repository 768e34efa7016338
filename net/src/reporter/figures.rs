//! The status line and the summary of an endpoint's figures.

use thalweg_core::time::Time;

use super::Readings;
use super::line::{Line, clock};
use crate::figures::Figures;

/// A part of the status line: its rank, its label, the metric of the last second, and the total beside it.
type Part = (u8, &'static str, &'static str, Unit, Option<(&'static str, Unit)>);

#[derive(Clone, Copy)]
enum Unit {
    Megabits,
    Percent(usize),
    Millis,
    Count,
    Ratio,
    TcpMultiple,
    Bytes,
}

const PARTS: [Part; 23] = [
    (2, "need", "need_bps", Unit::Megabits, None),
    (5, "wanted", "wanted_rate_bps", Unit::Megabits, None),
    (1, "satisfaction", "satisfaction_ratio", Unit::Percent(0), None),
    (2, "alpha", "alpha", Unit::Ratio, None),
    (1, "connections", "connections", Unit::Count, None),
    (1, "out", "carried_out_rate_bps", Unit::Megabits, Some(("carried_out_bytes_total", Unit::Bytes))),
    (1, "in", "carried_in_rate_bps", Unit::Megabits, Some(("carried_in_bytes_total", Unit::Bytes))),
    (1, "media", "media_rate_bps", Unit::Megabits, Some(("media_bytes_total", Unit::Bytes))),
    (5, "wire", "wire_rate_bps", Unit::Megabits, Some(("wire_bytes_total", Unit::Bytes))),
    (2, "loss", "loss_before_repair_ratio", Unit::Percent(2), Some(("lost_packets_total", Unit::Count))),
    (3, "loss", "loss_ratio", Unit::Percent(2), Some(("lost_packets_total", Unit::Count))),
    (4, "RTT", "rtt_seconds", Unit::Millis, None),
    (3, "cause", "loss_cause", Unit::Count, None),
    (3, "overhead", "overhead_ratio", Unit::Percent(1), None),
    (6, "useless", "useless_ratio", Unit::Percent(1), None),
    (5, "gca", "tcp_multiple", Unit::TcpMultiple, None),
    (6, "window", "repair_window_packets", Unit::Count, None),
    (8, "W", "w_packets", Unit::Count, None),
    (7, "ERTT", "ertt_seconds", Unit::Millis, None),
    (7, "latency p50", "latency_p50_seconds", Unit::Millis, None),
    (5, "p99", "latency_p99_seconds", Unit::Millis, None),
    (7, "delay p50", "delay_p50_seconds", Unit::Millis, None),
    (5, "p99", "delay_p99_seconds", Unit::Millis, None),
];

/// Losses before repair, each with the same after repair, which is shown behind an arrow.
const AFTER_REPAIR: [(&str, &str, Unit); 2] = [
    ("loss_before_repair_ratio", "loss_after_repair_ratio", Unit::Percent(4)),
    ("lost_packets_total", "residual_lost_packets_total", Unit::Count),
];

/// Counts of faults, which are shown above zero.
const FAULTS: [(&str, &str); 11] = [
    ("unsent", "unsent_packets_total"),
    ("shed pictures", "shed_pictures_total"),
    ("refused datagrams", "input_refused_datagrams_total"),
    ("skipped bytes", "input_skipped_bytes_total"),
    ("rejected", "rejected_datagrams_total"),
    ("rejected hellos", "rejected_hellos_total"),
    ("dropped", "output_dropped_datagrams_total"),
    ("skipped bytes", "output_skipped_bytes_total"),
    ("early", "early_packets_total"),
    ("broken", "broken_connections_total"),
    ("refused", "refused_connections_total"),
];
/// The rank of faults in the status line.
const FAULT: u8 = 2;

/// The value above which a metric is shown. Costs are meaningless below zero, where media waits or is not sent at all; a law
/// takes more than a TCP above 1.
fn least(name: &str) -> f64 {
    match name {
        "overhead_ratio" | "useless_ratio" => 0.0,
        "tcp_multiple" => 1.0,
        _ => f64::NEG_INFINITY,
    }
}

/// Times of a whole session.
const TIMES: [(&str, &str); 6] = [
    ("latency p50", "latency_p50_seconds"),
    ("p99", "latency_p99_seconds"),
    ("max", "latency_max_seconds"),
    ("delay p50", "delay_p50_seconds"),
    ("p99", "delay_p99_seconds"),
    ("max", "delay_max_seconds"),
];

impl Readings for Figures {
    fn json(&self, at: Time) -> String {
        self.to_json(at)
    }

    fn line(&self, at: Time) -> Line {
        if !self.has_begun() {
            return Line::default();
        }
        let mut line = Line::at(at);
        if let Some(stream) = self.stream() {
            line.push(0, stream);
        }
        for (rank, label, name, unit, total) in PARTS {
            if let Some(text) = self.text(name, unit) {
                line.push(rank, format!("{label} {text}"));
                if let Some(total) = total.and_then(|(name, unit)| self.text(name, unit)) {
                    line.push_total(total);
                }
            }
            if name == "loss_cause" {
                self.faults().for_each(|fault| line.push(FAULT, fault));
            }
        }
        line
    }

    fn last(&self, at: Time) -> String {
        if !self.has_begun() {
            return String::new();
        }
        let mut line = Line::default();
        let stream = self.stream().map_or_else(String::new, |stream| format!("{stream}: "));
        line.push(0, format!("{stream}{} in all", clock(at)));
        let sum = Summary { figures: self, line };
        sum.all()
    }

    fn is_alarming(&self) -> bool {
        self.get("loss_after_repair_ratio") > 0.0 || self.get("breaker_open") > 0.0
    }
}

impl Figures {
    /// A value of the status line; none if it is not shown.
    fn text(&self, name: &str, unit: Unit) -> Option<String> {
        if let Some(state) = self.state(name) {
            return Some(state.to_owned());
        }
        let value = self.get(name);
        let text = (value.is_finite() && value > least(name)).then(|| unit.of(value))?;
        let after = AFTER_REPAIR.iter().find(|(before, ..)| *before == name);
        match after.and_then(|(_, after, unit)| self.text(after, *unit)) {
            Some(after) => Some(format!("{text} -> {after}")),
            None => Some(text),
        }
    }

    fn faults(&self) -> impl Iterator<Item = String> {
        let counted = FAULTS.into_iter().map(|(label, name)| (label, self.get(name)));
        counted.filter(|(_, count)| *count > 0.0).map(|(label, count)| format!("{label} {count}"))
    }
}

/// The summary of a whole session, under construction.
struct Summary<'a> {
    figures: &'a Figures,
    line: Line,
}

impl Summary<'_> {
    fn all(mut self) -> String {
        let figures = self.figures;
        let get = |name| figures.get(name);
        let (media, wire) = (get("media_bytes_total"), get("wire_bytes_total"));
        self.add(media, |bytes| format!("media {} in {} datagrams", amount(bytes), get("media_packets_total")));
        self.add(wire, |bytes| format!("wire {}", amount(bytes)));
        // Media that was never sent has no overhead.
        let overhead = if get("unsent_packets_total") > 0.0 { f64::NAN } else { wire / media - 1.0 };
        self.add(overhead, |ratio| format!("overhead {}", Unit::Percent(1).of(ratio)));
        self.add(get("carried_out_bytes_total"), |bytes| format!("out {}", amount(bytes)));
        self.add(get("carried_in_bytes_total"), |bytes| format!("in {}", amount(bytes)));
        self.add(get("connections_total"), |count| format!("connections {count}"));
        let (lost, residual) = (get("lost_packets_total"), get("residual_lost_packets_total"));
        // A sender knows what was delivered; a receiver expects the packets that it delivered and those that it missed.
        let sent = lost + get("delivered_packets_total");
        let of = if sent.is_finite() { sent } else { get("media_packets_total") + residual };
        // If the outcome of no packet is known, no loss is known either.
        self.add(if of > 0.0 { lost } else { f64::NAN }, |lost| format!("lost {lost}{}", share(lost, of, 2)));
        // Losses after repair are source packets alone, at either end.
        let of = if sent.is_finite() { get("source_packets_total") } else { of };
        self.add(residual, |lost| format!("after repair {lost}{}", share(lost, of, 4)));
        for fault in figures.faults() {
            self.line.push(0, fault);
        }
        if get("calls_total") > 1.0 {
            self.add(get("calls_total"), |count| format!("calls {count}"));
        }
        for (label, name) in TIMES {
            self.add(get(name), |seconds| format!("{label} {}", Unit::Millis.of(seconds)));
        }
        self.line.to_string()
    }

    fn add(&mut self, value: f64, text: impl FnOnce(f64) -> String) {
        if value.is_finite() {
            self.line.push(0, text(value));
        }
    }
}

impl Unit {
    fn of(self, value: f64) -> String {
        match self {
            Unit::Megabits => format!("{:.2} Mb/s", value * 1e-6),
            Unit::Percent(digits) => format!("{:.digits$}%", value * 100.0),
            Unit::Millis => format!("{:.1} ms", value * 1e3),
            Unit::Count => format!("{value:.0}"),
            Unit::Ratio => format!("{value:.2}"),
            Unit::TcpMultiple => format!("{value:.2} x TCP"),
            Unit::Bytes => amount(value),
        }
    }
}

/// Formats ` of 1000 (0.20%)`; empty if `of` is zero.
fn share(part: f64, of: f64, digits: usize) -> String {
    match of > 0.0 {
        true => format!(" of {of} ({})", Unit::Percent(digits).of(part / of)),
        false => String::new(),
    }
}

/// Formats bytes in decimal units, as rates have them.
pub fn amount(bytes: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(scale, _)| bytes >= *scale) {
        Some((scale, unit)) => format!("{:.1} {unit}", bytes / scale),
        None => format!("{bytes:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_core::metric::Metric;
    use thalweg_core::session::live::receiver::Receiver;
    use thalweg_core::session::live::sender::Sender;
    use thalweg_core::time::Span;

    const AT: Time = Time::from_nanos(3_661_000_000_000);

    fn figures(metrics: &'static [Metric], values: &[(&str, f64)]) -> Figures {
        let value = |name| values.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value);
        Figures::of("side", metrics.iter().map(|metric| (metric, value(metric.name))).collect())
    }

    fn shown(values: &[(&str, f64)]) -> String {
        figures(Sender::METRICS, values).line(AT).to_string()
    }

    #[test]
    fn line_shows_known_values_and_counts_of_faults() {
        let wrong = [("unsent_packets_total", 7.0), ("rejected_datagrams_total", 0.0), ("overhead_ratio", 0.4)];
        assert_eq!(shown(&wrong), "01:01:01  unsent 7  overhead 40.0%");
        // A law that takes no more than a TCP has nothing to warn of.
        assert_eq!(shown(&[("tcp_multiple", 2.0)]), "01:01:01  gca 2.00 x TCP");
        assert_eq!(shown(&[("tcp_multiple", 1.0)]), "01:01:01");
        // No receiver: media arrives and only hellos are sent.
        assert_eq!(shown(&[("media_rate_bps", 25e6), ("overhead_ratio", -0.99)]), "01:01:01  media 25.00 Mb/s");
    }

    #[test]
    fn totals_follow_the_values_of_the_last_second() {
        let values = [
            ("media_rate_bps", 25e6),
            ("media_bytes_total", 1.25e9),
            ("loss_before_repair_ratio", 0.02),
            ("lost_packets_total", 4321.0),
        ];
        assert_eq!(shown(&values), "01:01:01  media 25.00 Mb/s (1.2 GB)  loss 2.00% (4321)");
        let after = [("loss_after_repair_ratio", 1e-4), ("residual_lost_packets_total", 3.0), ("loss_cause", 0.0)];
        assert_eq!(
            shown(&[&values[..], &after].concat()),
            "01:01:01  media 25.00 Mb/s (1.2 GB)  loss 2.00% -> 0.0100% (4321 -> 3)  cause path"
        );
    }

    /// A receiver of 1000 source packets, of which 20 were lost and repair recovered 18.
    #[test]
    fn summary_covers_the_whole_session() {
        let values = [
            ("media_packets_total", 998.0),
            ("media_bytes_total", 1_000_000.0),
            ("wire_bytes_total", 1_300_000.0),
            ("lost_packets_total", 20.0),
            ("residual_lost_packets_total", 2.0),
            ("latency_p50_seconds", 0.031),
            ("latency_max_seconds", 0.0901),
            ("loss_after_repair_ratio", 0.5),
        ];
        assert_eq!(
            figures(Receiver::METRICS, &values).last(AT),
            "01:01:01 in all  media 1.0 MB in 998 datagrams  wire 1.3 MB  overhead 30.0%  lost 20 of 1000 (2.00%)  \
             after repair 2 of 1000 (0.2000%)  latency p50 31.0 ms  max 90.1 ms"
        );
        let values = [("lost_packets_total", 1.0), ("delivered_packets_total", 99.0), ("unsent_packets_total", 3.0)];
        assert_eq!(figures(Sender::METRICS, &values).last(AT), "01:01:01 in all  lost 1 of 100 (1.00%)  unsent 3");
    }

    #[test]
    fn sender_line_in_eighty_columns_keeps_rate_and_loss() {
        let value = |name: &str| match name {
            "unsent_packets_total" | "rejected_datagrams_total" => 0.0,
            "loss_cause" => 1.0,
            _ if name.ends_with("_bps") => 30e6,
            _ if name.ends_with("_bytes_total") => 1.5e9,
            _ if name.ends_with("_ratio") || name.ends_with("_seconds") => 0.1,
            _ => 1000.0,
        };
        let values: Vec<(&str, f64)> = Sender::METRICS.iter().map(|metric| (metric.name, value(metric.name))).collect();
        let line = figures(Sender::METRICS, &values).line(Time::ZERO + Span::from_secs(1));
        assert!(line.to_string().chars().count() > 80);
        let fitting = line.fit(80);
        assert_eq!(fitting, "00:00:01  media 30.00 Mb/s  loss 10.00% -> 10.0000%  cause queue  overhead 10.0%");
        assert_eq!(line.fit(60), "00:00:01  media 30.00 Mb/s  loss 10.00% -> 10.0000%");
        assert_eq!(line.fit(40), "00:00:01  media 30.00 Mb/s");
    }

    #[test]
    fn amounts_have_decimal_units() {
        assert_eq!(
            [0.0, 999.0, 1e3, 12_345.0, 3.3e9, 2e13].map(amount),
            ["0 B", "999 B", "1.0 kB", "12.3 kB", "3.3 GB", "20.0 TB"]
        );
    }
}

//! Histograms of durations, for Prometheus.

use std::fmt::Write;

use thalweg_core::time::Span;

/// A histogram of durations.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// The name without the prefix `thalweg_`; the unit is seconds.
    pub name: &'static str,
    /// The help text, in one line.
    pub help: &'static str,
    /// The upper bounds of all buckets but the last, ascending.
    pub bounds: &'static [Span],
    /// The count of each bucket; one more than there are bounds.
    pub counts: Vec<u64>,
    /// The sum of all counted durations.
    pub sum: Span,
}

impl Histogram {
    /// Writes the text format, whose bucket counts are cumulative.
    pub(crate) fn write(&self, page: &mut String, side: &str) {
        let Histogram { name, help, bounds, counts, sum } = self;
        let _ = writeln!(page, "# HELP thalweg_{name} {help}\n# TYPE thalweg_{name} histogram");
        let bounds = bounds.iter().map(|bound| bound.as_secs_f64().to_string()).chain(["+Inf".to_owned()]);
        let mut count = 0;
        for (bound, step) in bounds.zip(counts) {
            count += step;
            let _ = writeln!(page, "thalweg_{name}_bucket{{side=\"{side}\",le=\"{bound}\"}} {count}");
        }
        let sum = sum.as_secs_f64();
        let _ = writeln!(page, "thalweg_{name}_sum{{side=\"{side}\"}} {sum}");
        let _ = writeln!(page, "thalweg_{name}_count{{side=\"{side}\"}} {count}");
    }
}

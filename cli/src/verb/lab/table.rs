//! Tables on a terminal.

use core::ops::Range;

use thalweg_lab::statistics::Estimate;
use thalweg_net::terminal::escaped;

/// Columns of text, the first of them words, the others numbers.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row; names in it may be a scenario's.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|cell| escaped(cell).into_owned()).collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (nth, part) in parts(&widths).into_iter().enumerate() {
            if nth > 0 {
                writeln!(f)?;
            }
            for row in &self.rows {
                let cell = |column: usize| row.get(column).map_or("", String::as_str);
                let aligned = part.clone().map(|column| format!("{:>width$}", cell(column), width = widths[column]));
                let first = format!("{:width$}", cell(0), width = widths[0]);
                let cells: Vec<String> = [first].into_iter().chain(aligned).collect();
                writeln!(f, "{}", cells.join("  ").trim_end())?;
            }
        }
        Ok(())
    }
}

/// Columns of numbers that stand beside each other; each part begins with the column of words.
fn parts(widths: &[usize]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (column, width) in widths.iter().enumerate().skip(1) {
        match parts.last_mut().filter(|_| used + 2 + width <= WIDEST) {
            Some(part) => part.end = column + 1,
            None => {
                parts.push(column..column + 1);
                used = widths[0];
            }
        }
        used += 2 + width;
    }
    parts
}

/// Characters of a line, at most, where a single column is not wider.
const WIDEST: usize = 130;

/// A mean and half its interval, to the same decimal: `0.0264 ± 0.0011`.
pub(super) fn interval(estimate: &Estimate) -> String {
    match estimate {
        estimate if estimate.mean.is_nan() => "-".to_owned(),
        estimate if estimate.half_width.is_finite() => {
            let decimals = decimals(estimate.mean.abs().max(estimate.half_width));
            format!("{:.decimals$} ± {:.decimals$}", estimate.mean, estimate.half_width)
        }
        estimate => number(estimate.mean),
    }
}

/// Four digits that count, and no exponent: loss rates and counts of packets stand in one table.
pub(super) fn number(value: f64) -> String {
    format!("{value:.*}", decimals(value.abs()))
}

fn decimals(size: f64) -> usize {
    match size {
        _ if size == 0.0 || size >= 1e4 => 0,
        _ if size >= 100.0 => 1,
        _ if size >= 10.0 => 2,
        _ if size >= 1.0 => 3,
        _ if size >= 0.1 => 4,
        _ if size >= 0.01 => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_what_counts() {
        let seen = [0.0, 0.000_21, 0.026_4, 593.0, 8.5, 39_600.4, -0.5].map(number);
        assert_eq!(seen, ["0", "0.000210", "0.02640", "593.0", "8.500", "39600", "-0.5000"]);
    }

    #[test]
    fn a_mean_and_its_interval_end_at_the_same_decimal() {
        let seen = |mean, half_width| interval(&Estimate { mean, half_width, count: 5 });
        assert_eq!(seen(58.81, 0.017_36), "58.81 ± 0.02");
        assert_eq!(seen(0.0, 0.25), "0.0000 ± 0.2500");
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(vec!["loss".into(), "1".into(), "20".into()]);
        table.row(vec!["a".into(), "± 300".into()]);
        assert_eq!(table.to_string(), "loss      1  20\na     ± 300\n");
    }

    #[test]
    fn columns_that_do_not_fit_stand_below() {
        let mut table = Table::default();
        table.row(["", "a", "b", "c"].map(str::to_owned).to_vec());
        table.row(["loss", &"1".repeat(60), &"2".repeat(60), "3"].map(str::to_owned).to_vec());
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        let ends: Vec<char> = lines.iter().filter_map(|line| line.chars().last()).collect();
        assert_eq!((lines.len(), ends), (5, vec!['b', '2', 'c', '3']));
        assert!(lines.iter().all(|line| line.len() <= WIDEST) && lines[4] == "loss  3", "{text}");
    }

    #[test]
    fn one_seed_has_no_interval_and_none_no_mean() {
        assert_eq!(interval(&Estimate::of([2.0])), "2.000");
        assert_eq!(interval(&Estimate::of([])), "-");
        // t for one degree of freedom is 12.706, the standard error 1.
        assert_eq!(interval(&Estimate::of([1.0, 3.0])), "2.00 ± 12.71");
    }
}

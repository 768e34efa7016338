//! Tables on a terminal.

use core::ops::Range;

use thalweg_net::terminal::escaped;

/// Columns of text, the first of them words, the others numbers.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row. Its cells are escaped, since names in them may be a scenario's.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
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

/// Columns of numbers that fit beside each other; each part begins with the column of words.
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

/// The greatest width of a line, in characters, unless a single column is wider.
const WIDEST: usize = 130;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::default();
        table.row(vec!["loss".into(), "1".into(), "20".into()]);
        table.row(vec!["a".into(), "± 300".into()]);
        assert_eq!(table.to_string(), "loss      1  20\na     ± 300\n");
    }

    #[test]
    fn columns_that_do_not_fit_continue_below() {
        let mut table = Table::default();
        table.row(["", "a", "b", "c"].map(str::to_owned).to_vec());
        table.row(["loss", &"1".repeat(60), &"2".repeat(60), "3"].map(str::to_owned).to_vec());
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        let ends: Vec<char> = lines.iter().filter_map(|line| line.chars().last()).collect();
        assert_eq!((lines.len(), ends), (5, vec!['b', '2', 'c', '3']));
        assert!(lines.iter().all(|line| line.len() <= WIDEST) && lines[4] == "loss  3", "{text}");
    }
}

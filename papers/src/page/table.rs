//! A table: one subject a row, one quantity a column.

use std::fmt::Write as _;

use super::{Tone, escape};

/// Blanks between two columns on a terminal.
const GAP: usize = 2;

/// Rows under a common head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Names of the columns; the first stands above the subjects.
    pub head: Vec<String>,
    /// The rows below the head.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The subject, which is the first cell.
    pub subject: String,
    /// Ties the subject to its lines in the plots.
    pub tone: Option<Tone>,
    /// The other cells.
    pub cells: Vec<String>,
}

impl Table {
    /// Renders the table; `class` is the kind of its cells, empty for numbers.
    pub(super) fn to_html(&self, class: &str) -> String {
        let mut html = format!("<div class=\"{}\">\n<table>\n<thead><tr>", format!("table {class}").trim_end());
        for name in &self.head {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escape(name));
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            let swatch = row.tone.map_or(String::new(), |tone| format!("<i class=\"dot tone-{}\"></i>", tone.0));
            let _ = write!(html, "<tr><th scope=\"row\">{swatch}{}</th>", escape(&row.subject));
            for cell in &row.cells {
                let text = escape(cell);
                // A cell of one word is a verdict or a kind, which the style may color.
                let _ = match class.is_empty() || cell.contains(' ') {
                    true => write!(html, "<td>{text}</td>"),
                    false => write!(html, "<td data-word=\"{text}\">{text}</td>"),
                };
            }
            html += "</tr>\n";
        }
        html + "</tbody>\n</table>\n</div>\n"
    }

    /// The table without those of its last columns that do not fit into lines of `columns` characters.
    pub fn narrowed(mut self, columns: usize) -> Table {
        let widths = self.widths();
        let ends = widths.iter().scan(0, |end, width| {
            *end += width + GAP;
            Some(*end - GAP)
        });
        // The subjects stay.
        let kept = ends.take_while(|end| *end <= columns).count().max(1);
        self.head.truncate(kept);
        self.rows.iter_mut().for_each(|row| row.cells.truncate(kept - 1));
        self
    }

    /// The table as a terminal shows it: subjects to the left, numbers to the right.
    pub fn to_text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for line in self.lines() {
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let _ = if column == 0 {
                    write!(text, "{cell:<width$}")
                } else {
                    write!(text, "{:GAP$}{cell:>width$}", "")
                };
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// The cells, line by line, the head first.
    fn lines(&self) -> Vec<Vec<&str>> {
        let rows =
            self.rows.iter().map(|row| std::iter::once(&row.subject).chain(&row.cells).map(String::as_str).collect());
        std::iter::once(self.head.iter().map(String::as_str).collect()).chain(rows).collect()
    }

    /// The width of each column.
    fn widths(&self) -> Vec<usize> {
        let lines = self.lines();
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell: &&str| cell.chars().count()).max()
        };
        (0..self.head.len()).map(|column| width(column).unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_with_their_headings() {
        let row = |subject: &str, cell: &str| Row { subject: subject.into(), tone: None, cells: vec![cell.into()] };
        let table =
            Table { head: vec!["repair".into(), "lost".into()], rows: vec![row("none", "1.52 %"), row("GENEVA", "0")] };
        assert_eq!(table.to_text(), "repair    lost\nnone    1.52 %\nGENEVA       0\n");
        assert_eq!(table.narrowed(14).to_text(), "repair    lost\nnone    1.52 %\nGENEVA       0\n");
    }

    #[test]
    fn narrow_terminal_omits_the_last_columns() {
        let table = |columns| {
            let row = Row { subject: "none".into(), tone: None, cells: vec!["1.52 %".into(), "7".into()] };
            Table { head: ["repair", "lost", "bursts"].map(String::from).into(), rows: vec![row] }.narrowed(columns)
        };
        assert_eq!(table(22).to_text(), "repair    lost  bursts\nnone    1.52 %       7\n");
        assert_eq!(table(21).to_text(), "repair    lost\nnone    1.52 %\n");
        assert_eq!(table(3).to_text(), "repair\nnone\n");
    }
}

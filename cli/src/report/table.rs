//! A table: one subject a row, one quantity a column.

use std::fmt::Write as _;

use super::{Tone, escape};

pub(crate) struct Table {
    /// Names of the columns; the first stands above the subjects.
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) subject: String,
    /// Ties the subject to its lines in the plots.
    pub(crate) tone: Option<Tone>,
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// `class` says what its cells are; nothing for numbers.
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
                // A cell of one word is a verdict or a kind, which the style may colour.
                let _ = match class.is_empty() || cell.contains(' ') {
                    true => write!(html, "<td>{text}</td>"),
                    false => write!(html, "<td data-word=\"{text}\">{text}</td>"),
                };
            }
            html += "</tr>\n";
        }
        html + "</tbody>\n</table>\n</div>\n"
    }

    /// The table as a terminal shows it: subjects to the left, numbers to the right.
    pub(crate) fn to_text(&self) -> String {
        let lines: Vec<Vec<&str>> = std::iter::once(self.head.iter().map(String::as_str).collect())
            .chain(self.rows.iter().map(|row| {
                std::iter::once(row.subject.as_str()).chain(row.cells.iter().map(String::as_str)).collect::<Vec<_>>()
            }))
            .collect();
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let mut text = String::new();
        for line in &lines {
            for (column, cell) in line.iter().enumerate() {
                let width = width(column);
                let _ = if column == 0 { write!(text, "{cell:<width$}") } else { write!(text, "  {cell:>width$}") };
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_names() {
        let row = |subject: &str, cell: &str| Row { subject: subject.into(), tone: None, cells: vec![cell.into()] };
        let table =
            Table { head: vec!["repair".into(), "lost".into()], rows: vec![row("none", "1.52 %"), row("GENEVA", "0")] };
        assert_eq!(table.to_text(), "repair    lost\nnone    1.52 %\nGENEVA       0\n");
    }
}

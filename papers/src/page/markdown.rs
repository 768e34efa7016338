//! A report as Markdown: words and numbers alone. Measured points stand in tables; curves are left to the HTML page.

use std::fmt::Write as _;

use super::{Element, Line, Page, Plot, Section, Table};

impl Page {
    /// The page as a Markdown file.
    pub fn to_markdown(&self) -> String {
        let sections: String = self.sections.iter().map(Section::to_markdown).collect();
        let head: String = self.head.iter().map(Element::to_markdown).collect();
        format!("# {}\n{head}\n{}\n{sections}", self.title, self.summary)
    }
}

impl Section {
    fn to_markdown(&self) -> String {
        let mut text = format!("\n## {}\n", self.title);
        for paragraph in &self.text {
            let _ = write!(text, "\n{paragraph}\n");
        }
        let elements: String = self.elements.iter().map(Element::to_markdown).collect();
        if elements.is_empty() && !self.elements.is_empty() {
            text += "\nCurves, which the HTML page of the same command has.\n";
        }
        text + &elements
    }
}

impl Element {
    fn to_markdown(&self) -> String {
        match self {
            Element::Plot(plot) => plot.to_markdown(),
            Element::Table(table) => table.to_markdown("--:"),
            Element::Words(table) => table.to_markdown("---"),
            Element::Code(code) => format!("\n{}\n", code.trim_end().lines().map(indented).collect::<String>()),
            Element::Alert(text) => format!("\n**{text}**\n"),
            Element::Numbers(numbers) => items(numbers.iter().map(|n| (&n.subject, [&*n.value, &n.caption].join(" ")))),
            Element::Images(images) => items(images.iter().map(|image| (&image.subject, image.caption.clone()))),
        }
    }
}

impl Table {
    fn to_markdown(&self, alignment: &str) -> String {
        let line = |cells: &[&str]| {
            format!("| {} |\n", cells.iter().map(|cell| in_a_cell(cell)).collect::<Vec<_>>().join(" | "))
        };
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let rule = format!("|---|{}\n", format!("{alignment}|").repeat(head.len().saturating_sub(1)));
        let rows = self.rows.iter().map(|row| {
            let cells: Vec<&str> = std::iter::once(&row.subject).chain(&row.cells).map(String::as_str).collect();
            line(&cells)
        });
        format!("\n{}{rule}{}", line(&head), rows.collect::<String>())
    }
}

impl Plot {
    /// A table of means and intervals over the values of the x axis; empty for curves.
    fn to_markdown(&self) -> String {
        let measured: Vec<(&Line, &Vec<f64>)> =
            self.lines.iter().filter_map(|line| Some((line, line.spreads.as_ref()?))).collect();
        let Some((first, _)) = measured.first() else { return String::new() };
        let mut text = format!("\n{}; {}:\n\n| {} |", self.title, self.y.name(), self.x.name());
        for (x, _) in &first.points {
            let _ = write!(text, " {x} |");
        }
        let _ = write!(text, "\n|---|{}\n", "--:|".repeat(first.points.len()));
        for (line, spreads) in measured {
            let cells = line.points.iter().zip(spreads).map(|((_, y), spread)| format!(" {} |", interval(*y, *spread)));
            let _ = writeln!(text, "| {} |{}", in_a_cell(&line.name), cells.collect::<String>());
        }
        text
    }
}

/// A list of subjects and the text of each.
fn items<'a>(items: impl Iterator<Item = (&'a String, String)>) -> String {
    items.fold("\n".into(), |text, (subject, what)| format!("{text}- {subject}: {what}\n"))
}

fn interval(y: f64, spread: f64) -> String {
    let digits = if y.abs() >= 100.0 {
        1
    } else if y.abs() >= 10.0 {
        2
    } else {
        3
    };
    match (y.is_finite(), spread.is_finite()) {
        (false, _) => "-".into(),
        (true, false) => format!("{y:.digits$}"),
        (true, true) => format!("{y:.digits$} ± {spread:.digits$}"),
    }
}

fn in_a_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn indented(line: &str) -> String {
    format!("    {line}\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Row, Tone};
    use super::*;

    #[test]
    fn tables_and_measured_plots_become_markdown_tables() {
        let table = Table {
            head: vec!["scheme".into(), "paper | lab".into()],
            rows: vec![Row { subject: "GENEVA".into(), tone: None, cells: vec!["1 | 2".into()] }],
        };
        let plot = Plot {
            title: "(a) Loss".into(),
            x: Axis::new("flows", ""),
            y: Axis::new("loss", "%"),
            lines: vec![Line::measured("static", Tone(0), &[(100.0, 0.5, 0.1), (200.0, 2.0, f64::INFINITY)])],
        };
        let elements = vec![Element::Table(table), Element::Plot(plot), Element::Code("thalweg lab list".into())];
        let section = Section { title: "Losses".into(), text: vec!["Words.".into()], elements };
        let page = Page { title: "T".into(), summary: "S".into(), sections: vec![section], ..Page::default() };
        assert_eq!(
            page.to_markdown(),
            "# T\n\nS\n\n## Losses\n\nWords.\n\
             \n| scheme | paper \\| lab |\n|---|--:|\n| GENEVA | 1 \\| 2 |\n\
             \n(a) Loss; loss, %:\n\n| flows | 100 | 200 |\n|---|--:|--:|\n| static | 0.500 ± 0.100 | 2.000 |\n\
             \n    thalweg lab list\n\n"
        );
    }
}

//! A report: one HTML file that needs nothing else, neither network nor script, to be read.
//!
//! A [`Page`] is made of sections, a [`Section`] of text and other elements. Plots are drawn here as SVG; the few lines of
//! script only add values under the pointer.

mod format;
mod image;
mod markdown;
mod number;
mod plot;
mod table;
mod ticks;

use std::fmt::Write as _;

pub use self::format::{interval, number};
pub use self::image::Image;
pub use self::number::Number;
pub use self::plot::{Axis, Line, Plot};
pub use self::table::{Row, Table};

const STYLE: &str = include_str!("page/report.css");
const SCRIPT: &str = include_str!("page/report.js");

/// The color and dash that one subject keeps all over a page. The numbers name the `tone-N` classes of the style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tone(pub usize);

impl Tone {
    /// The background of a plot: a reference, the "before" of a "before and after".
    pub const QUIET: Tone = Tone(4);
}

/// A whole report.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page {
    /// The title.
    pub title: String,
    /// Elements that stand before the summary.
    pub head: Vec<Element>,
    /// The result, for a reader who reads one sentence only.
    pub summary: String,
    /// The sections, from top to bottom.
    pub sections: Vec<Section>,
}

/// Text, and plots, tables and other elements below it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// Consecutive plots share a row where the screen is wide enough.
    pub elements: Vec<Element>,
}

/// An element of a section other than text.
#[derive(Clone, PartialEq, Debug)]
pub enum Element {
    /// A plot.
    Plot(Plot),
    /// A table of numbers.
    Table(Table),
    /// A table whose cells are words rather than numbers.
    Words(Table),
    /// Text to be copied into a terminal.
    Code(String),
    /// A reason not to trust the page.
    Alert(String),
    /// Large numbers, side by side.
    Numbers(Vec<Number>),
    /// Pictures, side by side.
    Images(Vec<Image>),
}

impl Page {
    /// The page as an HTML file.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let summary = escape(&self.summary);
        let head: String = self.head.iter().map(Element::to_html).collect();
        let body: String = self.sections.iter().map(Section::to_html).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header>\n<h1>{title}</h1>\n{head}<p class=\"summary\">{summary}</p>\n</header>\n{body}</main>\n\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

impl Section {
    fn to_html(&self) -> String {
        let mut html = format!("<section>\n<h2>{}</h2>\n", escape(&self.title));
        for paragraph in &self.text {
            let _ = writeln!(html, "<p>{}</p>", escape(paragraph));
        }
        html += "<div class=\"figures\">\n";
        for element in &self.elements {
            html += &element.to_html();
        }
        html + "</div>\n</section>\n"
    }
}

impl Element {
    fn to_html(&self) -> String {
        let row = |class, items: String| format!("<div class=\"{class}\">\n{items}</div>\n");
        match self {
            Element::Plot(plot) => plot.to_html(),
            Element::Table(table) => table.to_html(""),
            Element::Words(table) => table.to_html("words"),
            Element::Code(code) => format!("<pre><code>{}</code></pre>\n", escape(code)),
            Element::Alert(text) => format!("<p class=\"alert\" role=\"alert\">{}</p>\n", escape(text)),
            Element::Numbers(numbers) => row("numbers", numbers.iter().map(Number::to_html).collect()),
            Element::Images(images) => row("images", images.iter().map(Image::to_html).collect()),
        }
    }
}

/// `text`, escaped for use between tags and inside quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_text_cannot_close_a_tag_or_a_script() {
        let hostile = "</script><img>\"&";
        let plot = Plot {
            title: hostile.into(),
            x: Axis::new(hostile, "s"),
            y: Axis::new("loss", "%"),
            lines: vec![Line::new(hostile, Tone(0), vec![(0.0, 1.0)])],
        };
        let section =
            Section { title: hostile.into(), text: vec![hostile.into()], elements: vec![Element::Plot(plot)] };
        let number = Number { subject: hostile.into(), tone: Tone(0), value: hostile.into(), caption: hostile.into() };
        let image = Image {
            jpeg: hostile.into(),
            width: 1,
            height: 1,
            subject: hostile.into(),
            tone: Tone(0),
            caption: hostile.into(),
        };
        let head = vec![Element::Alert(hostile.into()), Element::Numbers(vec![number]), Element::Images(vec![image])];
        let page = Page { title: hostile.into(), head, summary: hostile.into(), sections: vec![section] };
        let html = page.to_html();
        assert!(!html.contains("<img>"));
        assert_eq!(html.matches("</script>").count(), 2, "the data of the plot and the script of the page");
    }

    #[test]
    fn report_makes_no_network_requests() {
        let html = Page { title: "t".into(), summary: "s".into(), ..Page::default() }.to_html();
        for request in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!html.contains(request), "{request}");
        }
    }
}

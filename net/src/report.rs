//! Events, for people and for programs.

/// An event that is worth a line.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The event's name, for programs.
    pub event: &'static str,
    /// The values of the event, for programs.
    pub facts: Vec<(&'static str, Fact)>,
    /// The same for people, in one line; empty if another line says it.
    pub text: String,
}

/// One value of a [`Report`].
#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    /// A text.
    Text(String),
    /// A number in the unit that ends the value's name.
    Number(f64),
}

impl Report {
    /// A report without facts.
    pub fn new(event: &'static str, text: impl Into<String>) -> Report {
        Report { event, facts: Vec::new(), text: text.into() }
    }

    /// A warning: a fault that does not end the stream.
    pub fn warning(text: impl Into<String>) -> Report {
        let text = text.into();
        Report { event: "warning", facts: vec![("text", Fact::Text(text.clone()))], text }
    }

    /// An event that a newer library reports and this program does not know.
    pub fn unknown(event: &impl core::fmt::Debug) -> Report {
        let text = format!("{event:?}");
        Report { event: "event", facts: vec![("text", Fact::Text(text.clone()))], text }
    }

    /// Adds a text.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Report {
        self.facts.push((name, Fact::Text(value.to_string())));
        self
    }

    /// Adds a number.
    pub fn with_number(mut self, name: &'static str, value: f64) -> Report {
        self.facts.push((name, Fact::Number(value)));
        self
    }

    /// Appends to the line for people.
    pub fn text_with(mut self, more: &str) -> Report {
        self.text.push_str(more);
        self
    }
}

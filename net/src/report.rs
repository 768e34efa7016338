//! What happens, for people and for programs.

/// Something that happened and is worth a line.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Its name for programs.
    pub event: &'static str,
    /// What a program wants to know of it.
    pub facts: Vec<(&'static str, Fact)>,
    /// The same for people, in one line; empty if another line tells them.
    pub text: String,
}

/// One value of a [`Report`].
#[derive(Clone, PartialEq, Debug)]
pub enum Fact {
    /// Words.
    Text(String),
    /// A number in the unit that its name ends in.
    Number(f64),
}

impl Report {
    /// A report without facts.
    pub fn new(event: &'static str, text: impl Into<String>) -> Report {
        Report { event, facts: Vec::new(), text: text.into() }
    }

    /// Something that is not as it should be but does not end the stream.
    pub fn warning(text: impl Into<String>) -> Report {
        let text = text.into();
        Report { event: "warning", facts: vec![("text", Fact::Text(text.clone()))], text }
    }

    /// Adds words.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Report {
        self.facts.push((name, Fact::Text(value.to_string())));
        self
    }

    /// Adds a number.
    pub fn with_number(mut self, name: &'static str, value: f64) -> Report {
        self.facts.push((name, Fact::Number(value)));
        self
    }

    /// Adds to the line for people.
    pub fn text_with(mut self, more: &str) -> Report {
        self.text.push_str(more);
        self
    }
}

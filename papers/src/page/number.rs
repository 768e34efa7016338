//! Large numbers that a page begins with.

use super::{Tone, escape};

/// One number that characterizes its subject.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// The subject.
    pub subject: String,
    /// The color of the subject.
    pub tone: Tone,
    /// The number with its unit.
    pub value: String,
    /// The quantity of which this is the value.
    pub caption: String,
}

impl Number {
    pub(super) fn to_html(&self) -> String {
        let (subject, value, caption) = (escape(&self.subject), escape(&self.value), escape(&self.caption));
        let tone = self.tone.0;
        format!(
            "<div class=\"number\">\n<p class=\"subject\"><i class=\"dot tone-{tone}\"></i>{subject}</p>\n<p class=\"value\">{value}</p>\n\
             <p>{caption}</p>\n</div>\n"
        )
    }
}

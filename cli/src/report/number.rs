//! Large numbers that a page begins with.

use super::{Tone, escape};

/// One number that tells most about its subject.
pub(crate) struct Number {
    pub(crate) subject: String,
    pub(crate) tone: Tone,
    pub(crate) value: String,
    /// Quantity that the value is of.
    pub(crate) caption: String,
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

//! Laws of one's own, by the names that scenarios use.

use thalweg_core::law::{ParameterError, window};

use super::blueprint::is_scheme;
use crate::own::{Repair, Window};

/// The laws of one's own that a scenario may name: windows in `tcp = ...`, repair in `scheme = ...`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Laws {
    windows: Vec<Window>,
    repairs: Vec<Repair>,
}

impl Laws {
    /// These laws. A window and a law of repair may have one name.
    ///
    /// # Errors
    /// Two laws of a kind have one name, a built-in law has it, or it is no name: 1 to 64 letters, digits, hyphens,
    /// underscores and dots, except `auto`, which stands for the default of a parameter.
    pub fn new(windows: Vec<Window>, repairs: Vec<Repair>) -> Result<Laws, ParameterError> {
        check(windows.iter().map(Window::name), |name| window::Choice::named(name).is_some())?;
        check(repairs.iter().map(Repair::name), is_scheme)?;
        Ok(Laws { windows, repairs })
    }

    /// The window of this name.
    pub(super) fn window(&self, name: &str) -> Option<&Window> {
        self.windows.iter().find(|law| law.name() == name)
    }

    /// The law of repair of this name.
    pub(super) fn repair(&self, name: &str) -> Option<&Repair> {
        self.repairs.iter().find(|law| law.name() == name)
    }

    /// The names of all windows, as the end of a message.
    pub(super) fn windows_too(&self) -> String {
        too(self.windows.iter().map(Window::name))
    }

    /// The names of all laws of repair, as the end of a message.
    pub(super) fn repairs_too(&self) -> String {
        too(self.repairs.iter().map(Repair::name))
    }
}

/// The maximum length of a name, in bytes.
const LONGEST_NAME: usize = 64;

fn check<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    is_built_in: impl Fn(&str) -> bool,
) -> Result<(), ParameterError> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    for (nth, name) in names.clone().enumerate() {
        let why = if is_built_in(name) {
            "a built-in law has this name; choose another one".to_owned()
        } else if names.clone().take(nth).any(|other| other == name) {
            "two laws have this name; choose another one for one of them".to_owned()
        } else if name.is_empty() || name.len() > LONGEST_NAME || name == "auto" || !name.bytes().all(is_part) {
            format!(
                "not the name of a law, expected 1 to {LONGEST_NAME} letters, digits, '-', '_' and '.', except auto"
            )
        } else {
            continue;
        };
        return Err(ParameterError::Refused(format!("'{name}': {why}")));
    }
    Ok(())
}

fn too<'a>(names: impl Iterator<Item = &'a str>) -> String {
    match names.collect::<Vec<_>>() {
        none if none.is_empty() => String::new(),
        names => format!("; laws of your own: {}", names.join(", ")),
    }
}

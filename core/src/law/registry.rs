//! Registries: one list for each family of laws.
//!
//! A law implements [`Entry`] in its own file: its name, its line of help, its parameters and its constructor. The list
//! of its family, a call of `registry!` in the family's file, has an entry for it. The family's `Choice` (the law that a
//! user names, with its parameters) and `Law` (the running value) follow from that list; command line, lab, replay,
//! documentation and tests read them. A new law is a file of its own, and three lines in the family's file: `mod`, and the
//! entry with its doc comment.
//!
//! One line may also add all laws of another family, through an adapter that implements [`Line`]. In this way every
//! congestion window that needs no playback rate is a rate law.

use core::fmt;

use super::ParameterError;
use super::parameter::known;

/// The places in which a law runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Sessions on sockets, and the lab.
    Anywhere,
    /// Sessions alone, on sockets and in the lab.
    Sessions,
    /// The lab alone: a paper's baselines and stand-ins.
    Lab,
}

/// The parameters of a law, by name.
pub trait Parameters: Clone + PartialEq + fmt::Debug + Default {
    /// The names that [`Parameters::set`] accepts.
    const NAMES: &'static [&'static str];

    /// The parameter that follows a colon in `NAME:ARGUMENT`; none for a law without one.
    const ARGUMENT: Option<Argument> = None;

    /// Sets one parameter from text.
    ///
    /// # Errors
    /// There is no such parameter, or the text is not a value of it.
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError>;

    /// Sets the parameter that follows the colon.
    ///
    /// # Errors
    /// The text is not a value of it.
    fn set_argument(&mut self, value: &str) -> Result<(), ParameterError> {
        known(value, &[]).map(|_| ())
    }

    /// The parameter that follows the colon, as text; none if it is optional and has its default value.
    fn argument(&self) -> Option<String> {
        None
    }
}

/// The parameter that follows the colon of a law's name, as help shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The law's name alone is no law: `fixed:RATE`.
    Required(&'static str),
    /// The name alone stands for the law with its defaults: `gca[:ALPHA[:BETA]]`.
    Optional(&'static str),
}

/// A law without parameters.
impl Parameters for () {
    const NAMES: &'static [&'static str] = &[];

    fn set(&mut self, name: &str, _value: &str) -> Result<(), ParameterError> {
        known(name, <()>::NAMES).map(|_| ())
    }
}

/// A law as its registry lists it. `Config` has the initial values that a session passes to every law of the family.
pub trait Entry<Config>: Sized {
    /// The law's name, as users write it.
    const NAME: &'static str;
    /// The law's line of help.
    const ABOUT: &'static str;
    /// The places in which the law runs.
    const SCOPE: Scope = Scope::Anywhere;
    /// True if the law depends on the playback rate of a video.
    const NEEDS_PLAYBACK: bool = false;
    /// The law's parameters.
    type Parameters: Parameters;

    /// The law before its first event.
    ///
    /// # Errors
    /// The parameters are inconsistent, or `config` is out of the law's range.
    fn start(parameters: &Self::Parameters, config: &Config) -> Result<Self, ParameterError>;
}

/// A law in a box, so that users of the family's other laws do not carry its memory.
impl<Config, L: Entry<Config>> Entry<Config> for Box<L> {
    const NAME: &'static str = L::NAME;
    const ABOUT: &'static str = L::ABOUT;
    const SCOPE: Scope = L::SCOPE;
    const NEEDS_PLAYBACK: bool = L::NEEDS_PLAYBACK;
    type Parameters = L::Parameters;

    fn start(parameters: &L::Parameters, config: &Config) -> Result<Box<L>, ParameterError> {
        L::start(parameters, config).map(Box::new)
    }
}

/// A line of a registry: one law, or all laws of another family.
pub trait Line<Config>: Sized {
    /// The law of the line that a user names, with its parameters.
    type Choice: Clone + PartialEq + fmt::Debug;

    /// The entries of the line.
    fn laws() -> Vec<Description>;

    /// The law of this name, with its default parameters.
    fn named(name: &str) -> Option<Self::Choice>;

    /// The law's entry.
    fn description(choice: &Self::Choice) -> Description;

    /// Sets one of the law's parameters from text.
    ///
    /// # Errors
    /// The law has no such parameter, or the text is not a value of it.
    fn set(choice: &mut Self::Choice, name: &str, value: &str) -> Result<(), ParameterError>;

    /// Sets the parameter that follows the colon.
    ///
    /// # Errors
    /// The text is not a value of it.
    fn set_argument(choice: &mut Self::Choice, value: &str) -> Result<(), ParameterError>;

    /// The parameter that follows the colon, as text.
    fn argument(choice: &Self::Choice) -> Option<String>;

    /// The law before its first event.
    ///
    /// # Errors
    /// The parameters are inconsistent, or `config` is out of the law's range.
    fn start(choice: &Self::Choice, config: &Config) -> Result<Self, ParameterError>;
}

impl<Config, L: Entry<Config>> Line<Config> for L {
    type Choice = L::Parameters;

    fn laws() -> Vec<Description> {
        vec![Description::of::<Config, L>()]
    }

    fn named(name: &str) -> Option<L::Parameters> {
        (name == L::NAME).then(Default::default)
    }

    fn description(_parameters: &L::Parameters) -> Description {
        Description::of::<Config, L>()
    }

    fn set(parameters: &mut L::Parameters, name: &str, value: &str) -> Result<(), ParameterError> {
        parameters.set(name, value)
    }

    fn set_argument(parameters: &mut L::Parameters, value: &str) -> Result<(), ParameterError> {
        parameters.set_argument(value)
    }

    fn argument(parameters: &L::Parameters) -> Option<String> {
        parameters.argument()
    }

    fn start(parameters: &L::Parameters, config: &Config) -> Result<L, ParameterError> {
        <L as Entry<Config>>::start(parameters, config)
    }
}

/// An entry of a registry, as data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// The law's name, as users write it.
    pub name: &'static str,
    /// The parameter after the colon; none for a law without one.
    pub argument: Option<Argument>,
    /// The law's line of help.
    pub about: &'static str,
    /// The places in which the law runs.
    pub scope: Scope,
    /// True if the law depends on the playback rate of a video.
    pub needs_playback: bool,
    /// The names of the law's parameters.
    pub parameters: &'static [&'static str],
}

impl Description {
    /// The description of a law.
    const fn of<Config, L: Entry<Config>>() -> Description {
        Description {
            name: L::NAME,
            argument: L::Parameters::ARGUMENT,
            about: L::ABOUT,
            scope: L::SCOPE,
            needs_playback: L::NEEDS_PLAYBACK,
            parameters: L::Parameters::NAMES,
        }
    }

    /// True if users may write the law's name with a parameter after a colon, or, if not `is_given`, without.
    pub(super) fn takes_argument(&self, is_given: bool) -> bool {
        match self.argument {
            None => !is_given,
            Some(Argument::Required(_)) => is_given,
            Some(Argument::Optional(_)) => true,
        }
    }
}

impl fmt::Display for Description {
    /// The form that users write: `NAME`, `NAME:ARGUMENT` or `NAME[:ARGUMENT]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.argument {
            None => f.write_str(name),
            Some(Argument::Required(argument)) => write!(f, "{name}:{argument}"),
            Some(Argument::Optional(argument)) => write!(f, "{name}[:{argument}]"),
        }
    }
}

/// The forms of several laws in a sentence: `none, static:N or geneva`.
pub fn forms(laws: impl IntoIterator<Item = Description>) -> String {
    listed(laws.into_iter().map(|law| law.to_string()).collect())
}

/// The forms of several laws, each with its line of help in brackets.
pub fn help(laws: impl IntoIterator<Item = Description>) -> String {
    listed(laws.into_iter().map(|law| format!("{law} ({})", law.about)).collect())
}

/// `a, b or c`.
fn listed(mut texts: Vec<String>) -> String {
    let last = texts.pop().unwrap_or_default();
    if texts.is_empty() { last } else { format!("{} or {last}", texts.join(", ")) }
}

/// Generates a family's `Choice` and `Law` from its list of lines. Calls `delegate!` with the variants of `Law`, so
/// that this macro implements the family's trait for `Law`.
macro_rules! registry {
    (
        config: $config:ty, delegate: $delegate:ident;
        $( $(#[doc = $doc:expr])* $(#[cfg($($cfg:tt)*)])? $variant:ident($law:ty), )+
    ) => {
        /// A law as a user names it, `NAME` or `NAME:ARGUMENT`, with its parameters.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Choice {
            $( $(#[doc = $doc])* $(#[cfg($($cfg)*)])? $variant(<$law as Line<$config>>::Choice), )+
        }

        impl Choice {
            /// Every law of the family.
            pub fn all() -> Vec<Description> {
                let mut all = Vec::new();
                $( $(#[cfg($($cfg)*)])? all.extend(<$law as Line<$config>>::laws()); )+
                all
            }

            /// The laws that run in sessions.
            pub fn anywhere() -> impl Iterator<Item = Description> {
                Choice::all().into_iter().filter(|law| law.scope != Scope::Lab)
            }

            /// The law of this name, with its default parameters.
            pub fn named(name: &str) -> Option<Choice> {
                $( $(#[cfg($($cfg)*)])? if let Some(choice) = <$law as Line<$config>>::named(name) {
                    return Some(Choice::$variant(choice));
                } )+
                None
            }

            /// The law's entry.
            pub fn description(&self) -> Description {
                match self {
                    $( $(#[cfg($($cfg)*)])? Choice::$variant(choice) => <$law as Line<$config>>::description(choice), )+
                }
            }

            /// Sets one of the law's parameters from text.
            ///
            /// # Errors
            /// The law has no such parameter, or the text is not a value of it.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
                match self {
                    $( $(#[cfg($($cfg)*)])? Choice::$variant(choice) => <$law as Line<$config>>::set(choice, name, value), )+
                }
            }

            /// Sets the parameter that follows the colon in `NAME:ARGUMENT`.
            ///
            /// # Errors
            /// The text is not a value of it.
            pub fn set_argument(&mut self, value: &str) -> Result<(), ParameterError> {
                match self {
                    $( $(#[cfg($($cfg)*)])? Choice::$variant(choice) => {
                        <$law as Line<$config>>::set_argument(choice, value)
                    } )+
                }
            }

            /// The parameter that follows the colon, as text.
            pub fn argument(&self) -> Option<String> {
                match self {
                    $( $(#[cfg($($cfg)*)])? Choice::$variant(choice) => <$law as Line<$config>>::argument(choice), )+
                }
            }
        }

        impl core::fmt::Display for Choice {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let name = self.description().name;
                match self.argument() {
                    Some(argument) => f.pad(&format!("{name}:{argument}")),
                    None => f.pad(name),
                }
            }
        }

        impl core::str::FromStr for Choice {
            type Err = ParameterError;

            /// Parses `NAME`, or `NAME:ARGUMENT` for a law that has one. The error lists the laws that run anywhere.
            fn from_str(text: &str) -> Result<Choice, ParameterError> {
                let (name, argument) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
                let mut choice = Choice::named(name)
                    .filter(|choice| choice.description().takes_argument(argument.is_some()));
                if let (Some(choice), Some(argument)) = (&mut choice, argument) {
                    choice.set_argument(argument)?;
                }
                choice.ok_or_else(|| ParameterError::Law { value: text.to_owned(), expected: forms(Choice::anywhere()) })
            }
        }

        /// A running law: an enum, so that a session with a law stays a plain value.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Law {
            $( $(#[doc = $doc])* $(#[cfg($($cfg)*)])? $variant($law), )+
        }

        impl Law {
            /// The law that `choice` names.
            ///
            /// # Errors
            /// The law's parameters are inconsistent, or `config` is out of the law's range.
            pub fn new(choice: &Choice, config: &$config) -> Result<Law, ParameterError> {
                Ok(match choice {
                    $( $(#[cfg($($cfg)*)])? Choice::$variant(choice) => {
                        Law::$variant(<$law as Line<$config>>::start(choice, config)?)
                    } )+
                })
            }
        }

        $( $(#[cfg($($cfg)*)])? impl From<$law> for Law {
            fn from(law: $law) -> Law {
                Law::$variant(law)
            }
        } )+

        $delegate! { $( $(#[cfg($($cfg)*)])? $variant )+ }
    };
}

pub(crate) use registry;

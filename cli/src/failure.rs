//! Failures of verbs, each with its exit code.

/// The reason of a verb's failure.
pub(crate) enum Failure {
    /// The attempt failed: exit 1.
    Failed(String),
    /// The command line is wrong: exit 2.
    Usage(String),
    /// A program that was started for the verb has ended with this code: the same exit code, silently.
    Child(u8),
    /// The reader of standard output has closed the pipe, as `head` does, and nothing is left to do: exit 0 silently.
    Unread,
}

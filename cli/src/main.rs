//! `thalweg`: media over networks that lose packets and are shared with others. One file a verb, no arithmetic here.

mod built_in;
mod encryption;
mod failure;
mod outputs;
mod progress;
mod standard_output;
mod stream;
mod table;
mod tunnel;
mod verb;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use thalweg_net::terminal::escaped;

use crate::failure::Failure;

#[derive(Parser)]
#[command(name = "thalweg", version, about, max_term_width = 110, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Send(Box<verb::send::Args>),
    Share(verb::share::Args),
    Recv(verb::recv::Args),
    Advise(verb::advise::Args),
    Encode(verb::encode::Args),
    Tunnel(verb::tunnel::Args),
    Pipe(verb::pipe::Args),
    Serve(verb::serve::Args),
    Play(Box<verb::play::Args>),
    Emulate(verb::emulate::Args),
    Replay(verb::replay::Args),
    Lab(verb::lab::Args),
    Kernel(verb::kernel::Args),
    Keygen(verb::keygen::Args),
    Doctor(verb::doctor::Args),
    Demo(verb::demo::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let words: Vec<String> = std::env::args().collect();
            let below_zero = if error.kind() == ErrorKind::UnknownArgument { below_zero(&words) } else { None };
            let why = below_zero.unwrap_or_else(|| in_one_line(&error.render().to_string()));
            eprintln!("thalweg: {}; see {}", escaped(&why), manual());
            return ExitCode::from(2);
        }
        // --help and --version, or nothing at all.
        Err(error) => error.exit(),
    };
    let outcome = match cli.verb {
        Verb::Send(args) => verb::send::run(*args),
        Verb::Share(args) => verb::share::run(args),
        Verb::Recv(args) => verb::recv::run(args),
        Verb::Advise(args) => verb::advise::run(args),
        Verb::Encode(args) => verb::encode::run(args),
        Verb::Tunnel(args) => verb::tunnel::run(args),
        Verb::Pipe(args) => verb::pipe::run(args),
        Verb::Serve(args) => verb::serve::run(args),
        Verb::Play(args) => verb::play::run(*args),
        Verb::Emulate(args) => verb::emulate::run(args),
        Verb::Replay(args) => verb::replay::run(args),
        Verb::Lab(args) => verb::lab::run(args),
        Verb::Kernel(args) => verb::kernel::run(args),
        Verb::Keygen(args) => verb::keygen::run(args),
        Verb::Doctor(args) => verb::doctor::run(args),
        Verb::Demo(args) => verb::demo::run(args),
    };
    let (message, code) = match outcome {
        Ok(()) | Err(Failure::Unread) => return ExitCode::SUCCESS,
        Err(Failure::Failed(message)) => (message, 1),
        Err(Failure::Child(code)) => return ExitCode::from(code),
        Err(Failure::Usage(message)) => (format!("{message}; see {}", manual()), 2),
    };
    eprintln!("thalweg: {}", escaped(&message));
    ExitCode::from(code)
}

/// The `--help` command of the verb on this command line, with the verb's own verb where there is one.
fn manual() -> String {
    let mut line = "thalweg".to_owned();
    let mut command = Cli::command();
    for word in std::env::args().skip(1) {
        let Some(verb) = command.find_subcommand(&word).cloned() else { break };
        line = format!("{line} {word}");
        command = verb;
    }
    line + " --help"
}

/// The error of the first option that is given a negative number, which clap takes for an option.
fn below_zero(words: &[String]) -> Option<String> {
    let is_negative = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    };
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let (option, value) = pairs.find(|(option, value)| option.starts_with("--") && is_negative(value))?;
    Some(format!("invalid value '{value}' for '{option}': must not be negative"))
}

/// Phrases of clap and of number parsers, with replacements that need no knowledge of Rust.
const PLAINER: [(&str, &str); 7] = [
    ("..=", " to "),
    ("invalid digit found in string", "not a whole number"),
    ("cannot parse integer from empty string", "not a whole number"),
    ("number too large to fit in target type", "too large"),
    ("unrecognized subcommand", "unknown verb"),
    ("<--to <HOST:PORT>|--listen <HOST:PORT>>", "--to <HOST:PORT> or --listen <HOST:PORT>"),
    ("<--listen <HOST:PORT>|--call <HOST:PORT>>", "--listen <HOST:PORT> or --call <HOST:PORT>"),
];

/// The paragraphs of a usage error that say what is wrong, without those that every error has.
fn in_one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let paragraphs = text.split("\n\n").take_while(|text| !text.starts_with("Usage:") && !text.starts_with("For more"));
    let lines = paragraphs.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut line = lines.collect::<Vec<_>>().join("; ");
    if line.strip_prefix("unexpected argument '").is_some_and(|rest| !rest.starts_with('-') && rest.contains('=')) {
        line += "; repeat the option, such as --set, before each NAME=VALUE";
    }
    PLAINER.iter().fold(line, |line, (theirs, ours)| line.replace(theirs, ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verbs_are_well_formed() {
        Cli::command().debug_assert();
    }

    /// clap breaks longer lines, and a broken example cannot be pasted.
    #[test]
    fn no_example_is_wider_than_a_terminal_of_80_columns() {
        fn examples(command: &clap::Command) -> Vec<String> {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let own = text.lines().filter(|line| line.starts_with("  ")).map(str::to_owned);
            own.chain(command.get_subcommands().flat_map(examples)).collect()
        }
        let lines = examples(&Cli::command());
        assert!(lines.iter().any(|line| line.contains("thalweg replay")));
        assert_eq!(lines.into_iter().filter(|line| line.chars().count() > 80).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn a_usage_error_is_one_line_that_says_what_is_wrong() {
        let error = |args: &[&str]| match Cli::try_parse_from(args) {
            Ok(_) => panic!("{args:?} is no good"),
            Err(error) => in_one_line(&error.render().to_string()),
        };
        assert_eq!(
            error(&["thalweg", "send", "--input", "-"]),
            "the following required arguments were not provided: --to <HOST:PORT> or --listen <HOST:PORT>"
        );
        assert_eq!(
            error(&["thalweg", "recv", "--listn", ":1"]),
            "unexpected argument '--listn' found; tip: a similar argument exists: '--listen'"
        );
        assert_eq!(
            error(&["thalweg", "lab", "run", "dumbbell", "--set", "n_tcp=20", "rtt_ms=10"]),
            "unexpected argument 'rtt_ms=10' found; repeat the option, such as --set, before each NAME=VALUE"
        );
    }
}

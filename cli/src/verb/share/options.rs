//! Options of `thalweg send` in a configuration file: each is a key, without its dashes.

use clap::{ArgAction, Args as _, Command, FromArgMatches};
use toml::{Table, Value};

use crate::failure::Failure;
use crate::verb::send;

/// Options of `send` that a stream of several does not have: those of the process, and those for other receivers.
const EXCLUDED: [&str; 9] = ["json", "quiet", "metrics", "bind", "listen", "public", "sdp", "plain-rtp", "fec-port"];

fn command() -> Command {
    send::Args::augment_args(Command::new("share").no_binary_name(true).disable_help_flag(true))
}

/// Checks that each key of a table is one of `own`, or an option.
///
/// # Errors
/// The key that is neither.
pub(super) fn check(table: &Table, own: &[&str]) -> Result<(), String> {
    let command = command();
    let known = |name: &&str| !EXCLUDED.contains(name) && *name != "rate";
    let names: Vec<&str> = command.get_arguments().filter_map(|argument| argument.get_long()).filter(known).collect();
    for key in table.keys() {
        let option = key.replace('_', "-");
        if option == "rate" {
            return Err("rate: is gca for all streams; coupling determines its parameters".to_owned());
        }
        if !own.contains(&key.as_str()) && !names.contains(&option.as_str()) {
            let all = [own, &names].concat().join(", ");
            return Err(format!("{key}: unknown key; expected one of {all}"));
        }
    }
    Ok(())
}

/// The options that a table gives.
///
/// # Errors
/// The key that is wrong, and the reason.
pub(super) fn parse(table: &Table) -> Result<send::Args, Failure> {
    check(table, &[]).map_err(Failure::Usage)?;
    let command = command();
    let mut words = Vec::new();
    for (key, value) in table {
        let option = key.replace('_', "-");
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(&option));
        let is_flag = argument.is_some_and(|argument| matches!(argument.get_action(), ArgAction::SetTrue));
        words.extend(as_words(&option, is_flag, value).map_err(|reason| Failure::Usage(format!("{key}: {reason}")))?);
    }
    let matches = command.try_get_matches_from(words);
    let args = matches.and_then(|matches| send::Args::from_arg_matches(&matches));
    args.map_err(|error| Failure::Usage(crate::in_one_line(&error.render().to_string())))
}

/// A key as words of a command line.
fn as_words(option: &str, is_flag: bool, value: &Value) -> Result<Vec<String>, &'static str> {
    let text = match value {
        Value::Boolean(is_on) if is_flag => return Ok(is_on.then(|| format!("--{option}")).into_iter().collect()),
        _ if is_flag => return Err("must be true or false"),
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Array(values) => {
            let words = values.iter().map(|value| as_words(option, false, value)).collect::<Result<Vec<_>, _>>()?;
            return Ok(words.concat());
        }
        _ => return Err("must be text or a number"),
    };
    Ok(vec![format!("--{option}={text}")])
}

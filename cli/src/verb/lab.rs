//! `thalweg lab`: described experiments over virtual time.

mod campaign;
mod compare;
mod grid;
mod groups;
mod list;
mod output;
mod plot;
mod reproduce;
mod run;
mod stations;
mod sweep;

use clap::Subcommand;
use thalweg_net::signal::Stop;
use thalweg_workbench::Error;

use crate::failure::Failure;
use crate::standard_output;

/// Run experiments in the lab, a deterministic packet simulator.
///
/// A scenario is a TOML file, or the name of a built-in one; docs/lab.md documents the format.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab list
  thalweg lab run dumbbell --set n_tcp=4 --seeds 10
  thalweg lab compare dumbbell --schemes geneva,static8,udp
  thalweg lab sweep dumbbell --over rtt_ms=10,50,100 --seeds 20 --out grid")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(run::Args),
    Compare(compare::Args),
    Sweep(sweep::Args),
    List(list::Args),
    Reproduce(reproduce::Args),
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Run(args) => run::run(args),
        Verb::Compare(args) => compare::run(args),
        Verb::Sweep(args) => sweep::run(args),
        Verb::List(args) => list::run(args),
        Verb::Reproduce(args) => reproduce::run(args),
    }
}

fn failed(why: impl Into<String>) -> Failure {
    Failure::Failed(format!("lab: {}", why.into()))
}

/// The failure for an error of the workbench.
fn refused(error: Error) -> Failure {
    match error {
        Error::Parameter(why) => Failure::Usage(format!("lab: --set: {why}")),
        Error::Unread => Failure::Unread,
        error => failed(error.to_string()),
    }
}

/// The reason of an interruption: the signal, if there was one.
fn interrupted(stop: &Stop) -> String {
    stop.signal().map_or("interrupted".to_owned(), |signal| format!("interrupted by {signal}"))
}

/// Writes to standard output. A closed pipe is no error: `thalweg lab run ... | head`.
fn print(text: &str) -> Result<(), Failure> {
    print_to_reader(text).map(|_| ()).map_err(refused)
}

/// Writes to standard output; true if the pipe is still open.
fn print_to_reader(text: &str) -> Result<bool, Error> {
    Ok(standard_output::write(text)?)
}

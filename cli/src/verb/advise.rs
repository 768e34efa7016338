//! `thalweg advise`: settings of `send` and `recv` for a path, from a measurement of it.

mod connect;
mod lab;
mod page;
mod serve;
mod session;
mod wanted;

use clap::Subcommand;

use crate::failure::Failure;

/// Measure a path, and find the settings of `send` and `recv` that it needs.
///
/// `connect` sends packets at the rate of the media to `serve`, and notes the delay and the loss of each. It then tries the
/// settings of `send` and `recv` over that path in the lab, and names the one of least overhead that stays below the allowed
/// loss. `lab` does the same for a path file.
#[derive(clap::Args)]
#[command(after_help = "Examples: both machines have the same key, from `thalweg keygen k` on one
  thalweg advise serve --listen :6000 --key-file k
  thalweg advise connect example.org:6000 --key-file k --media 8mbit
  thalweg advise connect example.org:6000 --key-file k --media 8mbit \\
    --latency 200ms --loss 1e-4 --time 60s --path line.toml --verify")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Serve(serve::Args),
    Connect(connect::Args),
    Lab(lab::Args),
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Serve(args) => serve::run(args),
        Verb::Connect(args) => connect::run(args),
        Verb::Lab(args) => lab::run(args),
    }
}

/// A failure of this verb.
fn failed(why: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("advise: {why}"))
}

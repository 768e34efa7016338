//! `thalweg pipe`: standard input to standard output, across a path.

use clap::Subcommand;
use thalweg_core::session::tunnel::Config;
use thalweg_net::endpoint::StandardIo;
use thalweg_net::error::Error;
use thalweg_net::report::Report;

use crate::failure::Failure;
use crate::stream::Reporting;
use crate::tunnel::{Listen, PathOptions, Server};

/// Carry standard input to the peer's standard output, both ways, encrypted and without losing a byte.
///
/// Ends with exit code 0 once both inputs have ended and all data has arrived. A terminal is read only if standard
/// output is a terminal, too. Use `< /dev/null` if there is nothing to send.
#[derive(clap::Args)]
#[command(after_help = "Examples: copy a folder; both machines have the key from `thalweg keygen k`
  thalweg pipe serve --listen 0.0.0.0:7000 --key-file k > folder.tar
  tar c folder | thalweg pipe connect example.org:7000 --key-file k")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Serve(Serve),
    Connect(Connect),
}

/// Wait for a client.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg pipe serve --listen 0.0.0.0:7000 --key-file k > file")]
struct Serve {
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    reporting: Reporting,
}

/// Connect to a server.
#[derive(clap::Args)]
#[command(after_help = "Example:
  tar c folder | thalweg pipe connect example.org:7000 --key-file k")]
struct Connect {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    reporting: Reporting,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Serve(Serve { listen, path, reporting }) => {
            let ready = path.listen(&listen, Config::default().memory)?;
            let local = ready.local();
            let opening = Report::new("listening", format!("listening on {local}")).with("address", local);
            ready.run(standard(false)?, &reporting, opening)
        }
        Verb::Connect(Connect { server, path, reporting }) => {
            let ready = path.connect(&server)?;
            let to = &server.server;
            let opening = Report::new("connecting", format!("connecting to {to}")).with("to", to);
            ready.run(standard(true)?, &reporting, opening)
        }
    }
}

fn standard(opens: bool) -> Result<StandardIo, Failure> {
    Ok(StandardIo::open(opens).map_err(Error::io("standard input and output"))?)
}

//! `thalweg pipe`: standard input to standard output, across a path.

use clap::Subcommand;
use thalweg_core::session::tunnel::Config;
use thalweg_net::error::Error;
use thalweg_net::report::Report;
use thalweg_net::station::Standard;

use crate::Failure;
use crate::stream::Reporting;
use crate::tunnel::{Listen, Server, Way};

/// Carry standard input to the other side's standard output, both ways, encrypted and without losing a byte.
///
/// It ends when both inputs have ended and all has arrived: exit code 0. A terminal is read only where standard output is
/// one, too; elsewhere `< /dev/null` says that there is nothing to send.
#[derive(clap::Args)]
#[command(after_help = "Examples: a folder to the other side, with the key from `thalweg keygen k` on both sides
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

/// Wait for the other side.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg pipe serve --listen 0.0.0.0:7000 --key-file k > file")]
struct Serve {
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    reporting: Reporting,
}

/// Call the other side.
#[derive(clap::Args)]
#[command(after_help = "Example:
  tar c folder | thalweg pipe connect example.org:7000 --key-file k")]
struct Connect {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    reporting: Reporting,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Serve(Serve { listen, way, reporting }) => {
            let ready = way.listen(&listen, Config::default().memory)?;
            let local = ready.local();
            let opening = Report::new("listening", format!("listening on {local}")).with("address", local);
            ready.run(standard(false)?, &reporting, opening)
        }
        Verb::Connect(Connect { server, way, reporting }) => {
            let ready = way.connect(&server)?;
            let to = &server.server;
            let opening = Report::new("connecting", format!("connecting to {to}")).with("to", to);
            ready.run(standard(true)?, &reporting, opening)
        }
    }
}

fn standard(opens: bool) -> Result<Standard, Failure> {
    Ok(Standard::open(opens).map_err(Error::io("standard input and output"))?)
}

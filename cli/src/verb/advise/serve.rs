//! `thalweg advise serve`.

use std::path::PathBuf;

use thalweg_core::session::live::Latency;
use thalweg_core::session::live::carried::{Carried, association};
use thalweg_core::session::live::receiver::{Config, Receiver};
use thalweg_net::endpoint::ReceiverEndpoint;
use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;
use thalweg_net::udp::Socket;

use crate::encryption::{keys, read, wrong};
use crate::failure::Failure;
use crate::stream::{Reporting, Start};

/// Answer the measurements of `thalweg advise connect`, one at a time, until Ctrl-C.
///
/// Run it where `recv` will run. Its UDP port must be open.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg advise serve --listen :6000 --key-file k")]
pub(super) struct Args {
    /// UDP address at which to accept measurements; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4
    /// and IPv6
    #[arg(long, value_name = "HOST:PORT")]
    listen: Host,
    /// Key file, as `thalweg keygen FILE` writes it: the same for both ends, or with --static one for each
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[command(flatten)]
    reporting: Reporting,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let key = read(&args.key_file)?;
    let start = Start::now()?;
    let tried = format!("listening on {}", args.listen);
    let address = args.listen.resolve().map_err(Error::io(&tried))?;
    let socket = Socket::bind(address).map_err(Error::io(tried))?;
    let session = Receiver::new(Config { latency: Latency::Auto, ..Config::default() }, &start.rng);
    let session = Carried::called(session, (association(), &key), keys()?);
    let session = session.map_err(|error| wrong(&args.key_file, &error))?;
    let local = socket.local();
    let opening = Report::new("listening", format!("waiting for measurements on {local}")).with("address", local);
    // The media of a measurement has no output.
    let endpoint = ReceiverEndpoint::new(session, Vec::new(), false);
    start.run(endpoint, socket, &args.reporting, opening).map(|_| ())
}

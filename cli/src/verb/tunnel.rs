//! `thalweg tunnel`: TCP ports through an encrypted association.

use std::net::{SocketAddr, ToSocketAddrs};

use clap::Subcommand;
use thalweg_core::session::tunnel::Config;
use thalweg_core::units::Bytes;
use thalweg_net::endpoint::{TcpAccept, TcpConnect};
use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;

use crate::failure::Failure;
use crate::stream::Reporting;
use crate::tunnel::{Listen, PathOptions, Server};

/// Carry TCP connections over a lossy path, encrypted, without waiting for lost packets.
///
/// Programs connect to --local of the client (`connect`). For each of these connections the server (`serve`) connects
/// to --to. Repair packets (FEC) recover most losses without a retransmission. All connections share one association
/// over UDP. A change of address, or a silence of up to --patience, loses no byte.
#[derive(clap::Args)]
#[command(after_help = "Examples: ssh through a tunnel; both machines have the key from `thalweg keygen k`
  thalweg tunnel serve --listen 0.0.0.0:7000 --to 127.0.0.1:22 --key-file k
  thalweg tunnel connect example.org:7000 --local 127.0.0.1:2222 --key-file k
  ssh -p 2222 127.0.0.1")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Serve(Serve),
    Connect(Connect),
}

/// Accept clients, and connect to --to for each of their connections.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg tunnel serve --listen 0.0.0.0:7000 --to 127.0.0.1:22 --key-file k")]
struct Serve {
    #[command(flatten)]
    listen: Listen,
    /// TCP address to connect to; a name is resolved once, and its addresses are tried in turn
    #[arg(long, value_name = "HOST:PORT")]
    to: Host,
    /// Memory limit for all connections together, as in 1gib; at least 1mib. A client without others beside it may use
    /// half of the limit. From a quarter on, new connections of that client are refused; at half, its connection with
    /// the most unread data is reset
    #[arg(long, value_name = "SIZE", default_value_t = Config::default().memory, value_parser = memory)]
    memory: Bytes,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    reporting: Reporting,
}

fn memory(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    Some(size).filter(|size| *size >= Config::LEAST_MEMORY).ok_or_else(|| "must be at least 1mib".to_owned())
}

/// Accept connections of local programs, and carry them to the server.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg tunnel connect example.org:7000 --local 127.0.0.1:2222 --key-file k")]
struct Connect {
    #[command(flatten)]
    server: Server,
    /// TCP address at which to accept programs; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4 and
    /// IPv6
    #[arg(long, value_name = "HOST:PORT")]
    local: Host,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    reporting: Reporting,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Serve(args) => args.run(),
        Verb::Connect(args) => args.run(),
    }
}

impl Serve {
    fn run(self) -> Result<(), Failure> {
        let targets = addresses(&self.to)?;
        let ready = self.path.listen(&self.listen, self.memory)?;
        let local = ready.local();
        let opening = Report::new("listening", format!("listening on {local}, forwarding connections to {}", self.to))
            .with("address", local)
            .with("to", &self.to);
        ready.run(TcpConnect::new(targets), &self.reporting, opening)
    }
}

impl Connect {
    fn run(self) -> Result<(), Failure> {
        let tried = format!("listening on {}", self.local);
        let local = self.local.resolve().map_err(Error::io(&tried))?;
        let listening = TcpAccept::bind(local).map_err(Error::io(&tried))?;
        let ready = self.path.connect(&self.server)?;
        let (local, server) = (listening.local(), &self.server.server);
        let opening = Report::new("connecting", format!("connecting to {server}, accepting programs at {local}"))
            .with("to", server)
            .with("address", local);
        ready.run(listening, &self.reporting, opening)
    }
}

/// All addresses of a host, to be tried in turn.
fn addresses(to: &Host) -> Result<Vec<SocketAddr>, Failure> {
    if to.name.is_empty() || to.port == 0 {
        return Err(Failure::Usage(format!("--to {to}: needs a host and a port, as in 127.0.0.1:22")));
    }
    let tried = format!("looking up {to}");
    Ok((to.name.as_str(), to.port).to_socket_addrs().map_err(Error::io(tried))?.collect())
}

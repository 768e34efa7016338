//! `thalweg tunnel`: TCP ports through an encrypted association.

use std::net::{SocketAddr, ToSocketAddrs};

use clap::Subcommand;
use thalweg_core::session::tunnel::Config;
use thalweg_core::units::Bytes;
use thalweg_net::endpoint::Host;
use thalweg_net::error::Error;
use thalweg_net::report::Report;
use thalweg_net::station::{Listening, Reaching};

use crate::Failure;
use crate::stream::Reporting;
use crate::tunnel::{Listen, Server, Way};

/// Carry TCP connections over a lossy path, encrypted, without waiting for lost packets.
///
/// Programs connect to --local on one side; the other side connects to --to for each of them. All connections share one
/// association over UDP. It outlives changed addresses, and silence for as long as --patience says, without losing a byte.
#[derive(clap::Args)]
#[command(after_help = "Examples: ssh through a tunnel, with the key from `thalweg keygen k` on both sides
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

/// Wait for the other side, and connect to a program for each of its connections.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg tunnel serve --listen 0.0.0.0:7000 --to 127.0.0.1:22 --key-file k")]
struct Serve {
    #[command(flatten)]
    listen: Listen,
    /// Where connections go (TCP); a name is looked up once, and its addresses are tried in turn
    #[arg(long, value_name = "HOST:PORT")]
    to: Host,
    /// Memory for all connections together, as in 1gib, at least 1mib. One peer, by its own key or else by its link,
    /// has at most half of it: there its new connections are refused, and the one with most unread data is reset
    #[arg(long, value_name = "SIZE", default_value_t = Config::default().memory, value_parser = memory)]
    memory: Bytes,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    reporting: Reporting,
}

fn memory(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    Some(size).filter(|size| *size >= Config::LEAST_MEMORY).ok_or_else(|| "it must be at least 1mib".to_owned())
}

/// Take connections of programs, and carry them to the other side.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg tunnel connect example.org:7000 --local 127.0.0.1:2222 --key-file k")]
struct Connect {
    #[command(flatten)]
    server: Server,
    /// Where programs connect to (TCP); `:PORT` is any IPv4 address, `[::]:PORT` any at all
    #[arg(long, value_name = "HOST:PORT")]
    local: Host,
    #[command(flatten)]
    way: Way,
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
        let ready = self.way.listen(&self.listen, self.memory)?;
        let local = ready.local();
        let opening = Report::new("listening", format!("listening on {local}, connections go to {}", self.to))
            .with("address", local)
            .with("to", &self.to);
        ready.run(Reaching::new(targets), &self.reporting, opening)
    }
}

impl Connect {
    fn run(self) -> Result<(), Failure> {
        let tried = format!("listening on {}", self.local);
        let local = self.local.resolve().map_err(Error::io(&tried))?;
        let listening = Listening::bind(local).map_err(Error::io(&tried))?;
        let ready = self.way.connect(&self.server)?;
        let (local, server) = (listening.local(), &self.server.server);
        let opening = Report::new("connecting", format!("connecting to {server}, programs connect to {local}"))
            .with("to", server)
            .with("address", local);
        ready.run(listening, &self.reporting, opening)
    }
}

/// All addresses of a host, to be tried in turn.
fn addresses(to: &Host) -> Result<Vec<SocketAddr>, Failure> {
    if to.name.is_empty() || to.port == 0 {
        return Err(Failure::Usage(format!("--to {to}: it needs a host and a port")));
    }
    let tried = format!("looking up {to}");
    Ok((to.name.as_str(), to.port).to_socket_addrs().map_err(Error::io(tried))?.collect())
}

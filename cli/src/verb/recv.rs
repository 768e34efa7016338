//! `thalweg recv`.

use std::net::SocketAddr;

use clap::ValueEnum;
use thalweg_core::session::live::carried::{Carried, association};
use thalweg_core::session::live::receiver::{Config, DEFAULT_HOLD, Receiver};
use thalweg_core::session::live::{DEFAULT_LATENCY, Ending, Network, Playout};
use thalweg_core::time::Span;
use thalweg_net::endpoint::ReceiverEndpoint;
use thalweg_net::error::Error;
use thalweg_net::media_url::{Host, MediaUrl};
use thalweg_net::report::Report;
use thalweg_net::udp::{Socket, comes_in};

use crate::encryption::{Encryption, keys};
use crate::failure::Failure;
use crate::outputs::OutputArgs;
use crate::stream::{Reporting, Start, latency};

/// Receive a live stream and forward it to one or more outputs.
#[derive(clap::Args)]
#[command(mut_arg("outputs", |arg| arg.required(true)))]
#[command(after_help = "\
Examples:
  thalweg recv --listen 127.0.0.1:6000 --output udp://127.0.0.1:7000 \\
    --latency 90ms
  thalweg recv --listen :6000 --output - --playout constant | ffplay -
  thalweg recv --listen :6000 --key-file k --output file:a.ts
  thalweg recv --listen [::]:6000 --once --output file:a.ts \\
    --output 'rtp://239.1.1.1:5004?iface=eth0'")]
pub(crate) struct Args {
    /// UDP address at which to accept senders; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4 and
    /// IPv6
    #[arg(long, value_name = "HOST:PORT")]
    listen: Host,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    encryption: Encryption,
    /// Time from input to output, 5ms to 10s; the longer value of sender and receiver applies
    #[arg(long, value_name = "TIME", default_value_t = DEFAULT_LATENCY, value_parser = latency)]
    latency: Span,
    /// Time at which a packet is delivered: asap (as soon as all before it are delivered or given up) or constant
    /// (exactly the latency after its input, for decoders that need an even flow)
    #[arg(long, value_enum, default_value = "asap")]
    playout: PlayoutArg,
    /// Accept streams only from these addresses, as in 192.0.2.0/24 or 2001:db8::/32; may be repeated
    #[arg(long, value_name = "CIDR")]
    allow: Vec<Network>,
    /// Time for which a sender that sends no media keeps the receiver; later, another sender with media gets the
    /// receiver
    #[arg(long, value_name = "TIME", default_value_t = DEFAULT_HOLD)]
    hold: Span,
    /// End after the first stream instead of waiting for the next one; the exit code is 1 if the sender vanished
    /// without a goodbye
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    reporting: Reporting,
}

#[derive(Clone, Copy, ValueEnum)]
enum PlayoutArg {
    Asap,
    Constant,
}

impl From<PlayoutArg> for Playout {
    fn from(arg: PlayoutArg) -> Playout {
        match arg {
            PlayoutArg::Asap => Playout::Asap,
            PlayoutArg::Constant => Playout::Constant,
        }
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let key = args.encryption.key()?;
    let start = Start::now()?;
    let tried = format!("listening on {}", args.listen);
    let address = args.listen.resolve().map_err(Error::io(&tried))?;
    check(&args, address)?;
    let peer = Socket::bind(address).map_err(Error::io(&tried))?;
    let outputs = args.output.open(&start.rng)?;

    let config =
        Config { latency: args.latency, playout: args.playout.into(), hold: args.hold, allow: args.allow, call: None };
    let session = Receiver::new(config, &start.rng);
    let session = match &key {
        None => Carried::clear(session),
        Some(key) => Carried::called(session, (association(), key), keys()?).map_err(|e| args.encryption.wrong(e))?,
    };
    let endpoint = ReceiverEndpoint::new(session, outputs, args.once);
    let names = args.output.outputs.iter().map(MediaUrl::to_string).collect::<Vec<_>>().join(", ");
    let local = peer.local();
    let opening = Report::new("listening", format!("listening on {local}, output {names}, latency {}", args.latency))
        .with("address", local)
        .with("output", names);
    let endpoint = start.run(endpoint, peer, &args.reporting, args.encryption.described(opening))?;
    match endpoint.ending() {
        Some(ending) if args.once && ending != Ending::Bye => {
            Err(Failure::Failed(format!("receiving on {local}: {ending}")))
        }
        _ => Ok(()),
    }
}

/// Refuses outputs as [`OutputArgs::check`] does, and one that leads to the listening address.
fn check(args: &Args, listen: SocketAddr) -> Result<(), Failure> {
    args.output.check("recv")?;
    let leads_back = |output: &&MediaUrl| output.address().is_some_and(|to| comes_in(listen, to));
    match args.output.outputs.iter().find(leads_back) {
        Some(output) => {
            Err(Failure::Usage(format!("recv: --output {output}: leads back to --listen {listen}; use another port")))
        }
        None => Ok(()),
    }
}

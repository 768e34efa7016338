//! `thalweg recv`.

use std::net::SocketAddr;

use clap::ValueEnum;
use thalweg_core::session::live::receiver::{Config, DEFAULT_HOLD, Receiver};
use thalweg_core::session::live::{DEFAULT_LATENCY, Ending, Network, Playout};
use thalweg_core::time::Span;
use thalweg_net::endpoint::{Endpoint, Host};
use thalweg_net::error::Error;
use thalweg_net::output::{Existing, Output};
use thalweg_net::report::Report;
use thalweg_net::station::Receiving;
use thalweg_net::udp::{Socket, comes_in};

use crate::Failure;
use crate::stream::{Reporting, Start, latency};

/// More than anybody needs, and few enough to wait for all at once.
const MAX_OUTPUTS: usize = 32;

/// Receive a live stream and hand it on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  thalweg recv --listen 127.0.0.1:6000 --output udp://127.0.0.1:7000 \\
    --latency 90ms
  thalweg recv --listen :6000 --output - --playout constant | ffplay -
  thalweg recv --listen [::]:6000 --once --output file:a.ts \\
    --output 'rtp://239.1.1.1:5004?iface=eth0'")]
pub(crate) struct Args {
    /// Where to listen; `thalweg send` sends here. `:PORT` is any IPv4 address, `[::]:PORT` any at all
    #[arg(long, value_name = "HOST:PORT")]
    listen: Host,
    /// Where media goes to: udp://HOST:PORT, ts+udp://, rtp://, file:PATH or -; may be repeated. A multicast group may
    /// have ?iface=NAME&ttl=N, or one of the two, behind its port. A file is made when media comes; each further stream
    /// has one of its own, as in out.ts, out-2.ts
    #[arg(long = "output", value_name = "URL", required = true, value_parser = Endpoint::output)]
    outputs: Vec<Endpoint>,
    /// Time from input to output, 5ms to 10s; the longer of both sides' wins
    #[arg(long, value_name = "TIME", default_value_t = DEFAULT_LATENCY, value_parser = latency)]
    latency: Span,
    /// Hand packets out as soon as they are in order, or each after exactly the latency, as decoders like it
    #[arg(long, value_enum, default_value = "asap")]
    playout: PlayoutArg,
    /// Take streams from these addresses alone, as in 192.0.2.0/24 or 2001:db8::/32; may be repeated
    #[arg(long, value_name = "CIDR")]
    allow: Vec<Network>,
    /// Keep the receiver for a sender without media so long; then another that sends media gets it
    #[arg(long, value_name = "TIME", default_value_t = DEFAULT_HOLD)]
    hold: Span,
    /// End with the first stream instead of waiting for the next; with exit code 1 if its sender goes without a goodbye
    #[arg(long)]
    once: bool,
    /// Replace a file: output that exists, once media comes; without this or --append it is refused
    #[arg(long, conflicts_with = "append")]
    overwrite: bool,
    /// Write behind what a file: output has, and all streams into the one file instead of FILE, FILE-2, FILE-3
    #[arg(long)]
    append: bool,
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
    if args.outputs.len() > MAX_OUTPUTS {
        return Err(Failure::Usage(format!("recv: {} outputs; {MAX_OUTPUTS} are the most", args.outputs.len())));
    }
    let start = Start::now()?;
    let tried = format!("listening on {}", args.listen);
    let address = args.listen.resolve().map_err(Error::io(&tried))?;
    check(&args, address)?;
    let peer = Socket::bind(address).map_err(Error::io(&tried))?;
    let open = |endpoint| Output::open(endpoint, args.existing(), &start.rng);
    let outputs = args.outputs.iter().map(open).collect::<Result<Vec<_>, _>>()?;

    let config = Config { latency: args.latency, playout: args.playout.into(), hold: args.hold, allow: args.allow };
    let station = Receiving::new(Receiver::new(config, &start.rng), outputs, args.once);
    let names = args.outputs.iter().map(Endpoint::to_string).collect::<Vec<_>>().join(", ");
    let local = peer.local();
    let opening = Report::new("listening", format!("listening on {local}, output {names}, latency {}", args.latency))
        .with("address", local)
        .with("output", names);
    let station = start.run(station, peer, &args.reporting, opening)?;
    match station.ending() {
        Some(ending) if args.once && ending != Ending::Bye => {
            Err(Failure::Failed(format!("receiving on {local}: {ending}")))
        }
        _ => Ok(()),
    }
}

impl Args {
    fn existing(&self) -> Existing {
        match (self.overwrite, self.append) {
            (true, _) => Existing::Overwrite,
            (_, true) => Existing::Append,
            _ => Existing::Keep,
        }
    }
}

/// No output twice, none to where we listen, and none over a file that nobody has given up.
fn check(args: &Args, listen: SocketAddr) -> Result<(), Failure> {
    let existing = args.existing();
    let has_file = args.outputs.iter().any(|output| matches!(output, Endpoint::File { .. }));
    if existing != Existing::Keep && !has_file {
        return Err(Failure::Usage("recv: --overwrite and --append are for file: outputs".to_owned()));
    }
    for (nth, output) in args.outputs.iter().enumerate() {
        if let Endpoint::File { path, .. } = output
            && existing == Existing::Keep
            && path.is_file()
        {
            return Err(Failure::Usage(format!(
                "recv: --output {output}: the file exists: --overwrite replaces it, --append continues it"
            )));
        }
        if args.outputs[..nth].contains(output) {
            return Err(Failure::Usage(format!("recv: --output {output} is given twice")));
        }
        if output.address().is_some_and(|to| comes_in(listen, to)) {
            return Err(Failure::Usage(format!(
                "recv: what leaves at --output {output} would come in at --listen {listen}"
            )));
        }
    }
    Ok(())
}

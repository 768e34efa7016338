//! `thalweg recv`.

use std::net::SocketAddr;

use clap::ValueEnum;
use thalweg_core::session::live::receiver::{Config, DEFAULT_HOLD, Receiver};
use thalweg_core::session::live::{DEFAULT_LATENCY, Ending, Network, Playout};
use thalweg_core::time::Span;
use thalweg_net::endpoint::ReceiverEndpoint;
use thalweg_net::error::Error;
use thalweg_net::media_url::{Host, MediaUrl};
use thalweg_net::output::{Existing, Output};
use thalweg_net::report::Report;
use thalweg_net::udp::{Socket, comes_in};

use crate::failure::Failure;
use crate::stream::{Reporting, Start, latency};

/// The greatest number of outputs: more than users need, and few enough to wait for all at once.
const MAX_OUTPUTS: usize = 32;

/// Receive a live stream and forward it to one or more outputs.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  thalweg recv --listen 127.0.0.1:6000 --output udp://127.0.0.1:7000 \\
    --latency 90ms
  thalweg recv --listen :6000 --output - --playout constant | ffplay -
  thalweg recv --listen [::]:6000 --once --output file:a.ts \\
    --output 'rtp://239.1.1.1:5004?iface=eth0'")]
pub(crate) struct Args {
    /// UDP address at which to accept senders; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4 and
    /// IPv6
    #[arg(long, value_name = "HOST:PORT")]
    listen: Host,
    /// Output of the media: udp://HOST:PORT, ts+udp://, rtp://, file:PATH or -; may be repeated. After the port of a
    /// multicast group, ?iface=NAME&ttl=N, or one of the two, is allowed. A file is created when media arrives; each
    /// further stream gets its own file, as in out.ts, out-2.ts
    #[arg(long = "output", value_name = "URL", required = true, value_parser = MediaUrl::output)]
    outputs: Vec<MediaUrl>,
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
    /// Replace the file of a file: output once media arrives; without this or --append, an existing file is an error
    #[arg(long, conflicts_with = "append")]
    overwrite: bool,
    /// Append all streams to the file of a file: output, instead of writing them to FILE, FILE-2, FILE-3
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
        return Err(Failure::Usage(format!("recv: {} outputs; at most {MAX_OUTPUTS} are allowed", args.outputs.len())));
    }
    let start = Start::now()?;
    let tried = format!("listening on {}", args.listen);
    let address = args.listen.resolve().map_err(Error::io(&tried))?;
    check(&args, address)?;
    let peer = Socket::bind(address).map_err(Error::io(&tried))?;
    let open = |media_url| Output::open(media_url, args.existing(), &start.rng);
    let outputs = args.outputs.iter().map(open).collect::<Result<Vec<_>, _>>()?;

    let config = Config { latency: args.latency, playout: args.playout.into(), hold: args.hold, allow: args.allow };
    let endpoint = ReceiverEndpoint::new(Receiver::new(config, &start.rng), outputs, args.once);
    let names = args.outputs.iter().map(MediaUrl::to_string).collect::<Vec<_>>().join(", ");
    let local = peer.local();
    let opening = Report::new("listening", format!("listening on {local}, output {names}, latency {}", args.latency))
        .with("address", local)
        .with("output", names);
    let endpoint = start.run(endpoint, peer, &args.reporting, opening)?;
    match endpoint.ending() {
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

/// Refuses an output that is given twice, that leads to the listening address, or whose file exists and is to be kept.
fn check(args: &Args, listen: SocketAddr) -> Result<(), Failure> {
    let existing = args.existing();
    let has_file = args.outputs.iter().any(|output| matches!(output, MediaUrl::File { .. }));
    if existing != Existing::Keep && !has_file {
        return Err(Failure::Usage("recv: --overwrite and --append need a file: output".to_owned()));
    }
    for (nth, output) in args.outputs.iter().enumerate() {
        if let MediaUrl::File { path, .. } = output
            && existing == Existing::Keep
            && path.is_file()
        {
            return Err(Failure::Usage(format!(
                "recv: --output {output}: file exists; replace it with --overwrite, or continue it with --append"
            )));
        }
        if args.outputs[..nth].contains(output) {
            return Err(Failure::Usage(format!("recv: --output {output} is given twice")));
        }
        if output.address().is_some_and(|to| comes_in(listen, to)) {
            return Err(Failure::Usage(format!(
                "recv: --output {output}: leads back to --listen {listen}; use another port"
            )));
        }
    }
    Ok(())
}

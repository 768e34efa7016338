//! `thalweg recv`.

use std::net::SocketAddr;

use clap::ValueEnum;
use thalweg_core::session::live::carried::{Carried, association};
use thalweg_core::session::live::receiver::{Config, DEFAULT_HOLD, Receiver};
use thalweg_core::session::live::{Ending, Latency, Network, Playout, inside};
use thalweg_core::time::Span;
use thalweg_net::endpoint::ReceiverEndpoint;
use thalweg_net::error::Error;
use thalweg_net::media_url::{Host, MediaUrl};
use thalweg_net::report::Report;
use thalweg_net::udp::{Multicast, Socket, comes_in, unspecified};

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
  thalweg recv --call example.org:6000 --key-file k --output file:a.ts
  thalweg recv --listen [::]:6000 --once --output file:a.ts \\
    --output 'rtp://239.1.1.1:5004?iface=eth0'")]
pub(crate) struct Args {
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    encryption: Encryption,
    /// Time from input to output, 5ms to 10s, or auto: that of the sender, which finds the one that the path needs if it has
    /// none either. Of two times the longer applies
    #[arg(long, value_name = "TIME", default_value_t = Latency::Auto, value_parser = latency)]
    latency: Latency,
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

/// The end that calls.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Way {
    /// UDP address at which to accept senders; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4 and
    /// IPv6
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<Host>,
    /// Address of `thalweg send --listen`, which is called until it sends: no port of this machine need be open
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["allow", "hold"])]
    call: Option<Host>,
}

/// The socket, and the sender that is called through it; none if senders call.
struct Peer {
    call: Option<SocketAddr>,
    socket: Socket,
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

impl Way {
    /// The socket, for media that goes to `outputs`.
    fn peer(&self, outputs: &[MediaUrl]) -> Result<Peer, Failure> {
        match (&self.listen, &self.call) {
            (Some(listen), _) => listening(listen, outputs),
            (None, Some(call)) => calling(call),
            (None, None) => Err(Failure::Usage("recv: needs --listen or --call".to_owned())),
        }
    }
}

/// A socket at which senders call.
fn listening(listen: &Host, outputs: &[MediaUrl]) -> Result<Peer, Failure> {
    let tried = format!("listening on {listen}");
    let address = listen.resolve().map_err(Error::io(&tried))?;
    if let Some(output) = outputs.iter().find(|output| output.address().is_some_and(|to| comes_in(address, to))) {
        let why = format!("leads back to --listen {address}; use another port");
        return Err(Failure::Usage(format!("recv: --output {output}: {why}")));
    }
    Ok(Peer { call: None, socket: Socket::bind(address).map_err(Error::io(tried))? })
}

/// A socket that can reach the sender at `call`.
fn calling(call: &Host) -> Result<Peer, Failure> {
    if call.name.is_empty() || call.port == 0 {
        return Err(Failure::Usage(format!("recv: --call {call}: needs a host and a port, as in HOST:6000")));
    }
    let tried = format!("calling {call}");
    let to = call.resolve().map_err(Error::io(&tried))?;
    let socket = Socket::sending(unspecified(to), to, Multicast::default()).map_err(Error::io(tried))?;
    Ok(Peer { call: Some(to), socket })
}

impl Peer {
    /// The session of a receiver, encrypted if there is a key.
    fn session(&self, args: &Args, start: &Start) -> Result<Carried<Receiver>, Failure> {
        let key = args.encryption.key()?;
        let call = self.call.map(|to| if key.is_some() { inside(to, 0) } else { to });
        let (latency, playout, allow) = (args.latency, args.playout.into(), args.allow.clone());
        let session = Receiver::new(Config { latency, playout, hold: args.hold, allow, call }, &start.rng);
        let Some(key) = &key else { return Ok(Carried::clear(session)) };
        let keyed = (association(), key);
        let carried = match self.call {
            None => Carried::called(session, keyed, keys()?),
            Some(to) => Carried::calling(session, keyed, to, start.clock.now(), keys()?),
        };
        carried.map_err(|error| args.encryption.wrong(error))
    }

    /// The opening report; `terms` are those of the stream.
    fn opening(&self, terms: &str) -> Report {
        let local = self.socket.local();
        match self.call {
            None => Report::new("listening", format!("listening on {local}, {terms}")).with("address", local),
            Some(to) => Report::new("calling", format!("calling {to}, {terms}")).with("to", to).with("address", local),
        }
    }

    /// The action of the program, for its errors.
    fn action(&self) -> String {
        match self.call {
            None => format!("receiving on {}", self.socket.local()),
            Some(to) => format!("receiving from {to}"),
        }
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.output.check("recv")?;
    let start = Start::now()?;
    let peer = args.way.peer(&args.output.outputs)?;
    let session = peer.session(&args, &start)?;
    let outputs = args.output.open(&start.rng)?;

    let mut endpoint = ReceiverEndpoint::new(session, outputs, args.once);
    if let Some(to) = peer.call {
        endpoint = endpoint.calling(to, start.clock.now());
    }
    let names = args.output.outputs.iter().map(MediaUrl::to_string).collect::<Vec<_>>().join(", ");
    let opening = peer.opening(&format!("output {names}, latency {}", args.latency)).with("output", names);
    let action = peer.action();
    let endpoint = start.run(endpoint, peer.socket, &args.reporting, args.encryption.described(opening))?;
    if let Some(refusal) = endpoint.refusal() {
        return Err(Failure::Failed(format!("{action}: {refusal}")));
    }
    match endpoint.ending() {
        Some(ending) if args.once && ending != Ending::Bye => Err(Failure::Failed(format!("{action}: {ending}"))),
        _ => Ok(()),
    }
}

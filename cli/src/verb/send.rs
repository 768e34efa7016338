//! `thalweg send`.

use std::fmt;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use thalweg_core::law::ParameterError;
use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::session::live::sender::{Breaker, Config, Repair, Sender, SourceId};
use thalweg_core::session::live::{DEFAULT_LATENCY, Ending};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_net::endpoint::{Endpoint, Host, Udp};
use thalweg_net::error::Error;
use thalweg_net::input::Input;
use thalweg_net::report::Report;
use thalweg_net::station::{Retry, Sending, Station};
use thalweg_net::udp::{Multicast, Socket, comes_in, route_to, unspecified};

use crate::Failure;
use crate::stream::{Reporting, Start, latency};
use crate::verb::replay::setting;

/// Send a live stream, with as much repair as it needs and its path bears.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  thalweg send --input udp://127.0.0.1:5000 --to 127.0.0.1:6000 \\
    --repair geneva --latency 90ms
  ffmpeg -re -i film.mp4 -c copy -f mpegts - \\
    | thalweg send --input - --to example.org:6000
  thalweg send --input file:film.ts --loop --to [2001:db8::2]:6000 \\
    --repair static:4 --block 20ms
  thalweg send --input 'rtp://[ff12::8]:5004?iface=eth0' \\
    --to 239.1.1.1:5004 --plain-rtp --sdp film.sdp")]
pub(crate) struct Args {
    /// Where media comes from: udp://HOST:PORT (datagrams of up to 1400 bytes), ts+udp://, rtp://, file:PATH or - (MPEG-TS); a
    /// multicast group may have ?iface=NAME behind its port
    #[arg(long, value_name = "URL", value_parser = Endpoint::input)]
    input: Endpoint,
    /// Where `thalweg recv` listens; or, with --plain-rtp, a multicast group, which may have ?iface=NAME&ttl=N, or one of
    /// the two, behind its port
    #[arg(long, value_name = "HOST:PORT")]
    to: Udp,
    /// Start the file again at its end, as one endless stream (file: inputs only)
    #[arg(long = "loop")]
    repeat: bool,
    /// Send from this address
    #[arg(long, value_name = "HOST:PORT")]
    bind: Option<Host>,
    /// Time from input to output, 5ms to 10s; the longer of both sides' wins
    #[arg(long, value_name = "TIME", default_value_t = DEFAULT_LATENCY, value_parser = latency)]
    latency: Span,
    /// End with exit code 1 if no receiver takes the stream for so long, because none answers or another sender has it;
    /// without it, wait for one
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<Span>,
    /// Call again after a session (always): 30 s after the receiver was taken or the circuit breaker has opened, then after
    /// 1 min, up to 5 min; a receiver that is gone is called for 30 s and then anew. Or end with exit code 1 (never)
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, num_args = 0..=1, default_missing_value = "always")]
    retry: RetryArg,
    #[command(flatten)]
    protection: Protection,
    #[command(flatten)]
    interop: Interop,
    #[command(flatten)]
    reporting: Reporting,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Repair")]
struct Protection {
    /// none, static:N (N packets, 1 to 200, for each 10 ms, or for the time of 21 packets if that is longer), or geneva
    /// (as the path needs and bears)
    #[arg(long, value_name = "HOW", default_value = "geneva")]
    repair: RepairArg,
    /// Set a constant of GENEVA (but k, which follows the source), as in p_max=0.05; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    constants: Vec<(String, String)>,
    /// Media and repair together stay below this, as in 40mbit
    #[arg(long, value_name = "RATE")]
    max_rate: Option<Rate>,
    /// Length of a block, from 5ms to the latency; longer ones repair longer bursts and take longer. Default and maximum:
    /// (latency - round trip / 2) / 2, and by default at most 170 packets
    #[arg(long, value_name = "TIME", value_parser = latency)]
    block: Option<Span>,
    /// Rule that ends a stream that floods its path: repair first and then the stream, unless the loss is shown not to
    /// depend on the rate, as over radio; RFC 8083 to the letter; or nothing
    #[arg(long, value_enum, default_value = "repair-first")]
    breaker: BreakerArg,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Other receivers")]
struct Interop {
    /// Leave source packets untouched RTP, for receivers that know no repair
    #[arg(long)]
    plain_rtp: bool,
    /// Send repair bare (RFC 6865) to this port instead of beside the media, for another implementation of it: thalweg recv
    /// does not take it. It names packets by the IDs behind them, which --plain-rtp leaves out
    #[arg(long, value_name = "PORT", conflicts_with = "plain_rtp", value_parser = clap::value_parser!(u16).range(1..))]
    fec_port: Option<u16>,
    /// Write the session's description (SDP) to this file; - is standard output
    #[arg(long, value_name = "FILE")]
    sdp: Option<std::path::PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum BreakerArg {
    RepairFirst,
    Rfc8083,
    Off,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum RetryArg {
    #[default]
    Always,
    Never,
}

#[derive(Clone, Copy)]
enum RepairArg {
    None,
    Static(u32),
    Geneva,
}

impl FromStr for RepairArg {
    type Err = String;

    fn from_str(text: &str) -> Result<RepairArg, String> {
        match (text, text.strip_prefix("static:").map(str::parse)) {
            ("none", _) => Ok(RepairArg::None),
            ("geneva", _) => Ok(RepairArg::Geneva),
            (_, Some(Ok(packets @ 1..=200))) => Ok(RepairArg::Static(packets)),
            (_, Some(_)) => Err("static:N wants 1 to 200 packets".to_owned()),
            _ => Err("it is none, static:N or geneva".to_owned()),
        }
    }
}

/// Reads how long a receiver is waited for.
fn timeout(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(Span::ZERO) => Err("it must be above zero".to_owned()),
        other => other.map_err(|error| format!("{error}")),
    }
}

/// Reads a repair for somebody who hands it on.
pub(crate) fn repair(text: &str) -> Result<String, String> {
    text.parse().map(|repair: RepairArg| repair.to_string())
}

impl fmt::Display for RepairArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairArg::None => f.write_str("none"),
            RepairArg::Static(packets) => write!(f, "static:{packets}"),
            RepairArg::Geneva => f.write_str("geneva"),
        }
    }
}

impl From<RetryArg> for Retry {
    fn from(arg: RetryArg) -> Retry {
        match arg {
            RetryArg::Always => Retry::Always,
            RetryArg::Never => Retry::Never,
        }
    }
}

impl From<BreakerArg> for Breaker {
    fn from(arg: BreakerArg) -> Breaker {
        match arg {
            BreakerArg::RepairFirst => Breaker::RepairFirst,
            BreakerArg::Rfc8083 => Breaker::Rfc8083,
            BreakerArg::Off => Breaker::Off,
        }
    }
}

impl Protection {
    fn repair(&self) -> Result<Repair, Failure> {
        let usage = |reason: String| Failure::Usage(format!("send: {reason}"));
        if !matches!(self.repair, RepairArg::Geneva) && !self.constants.is_empty() {
            return Err(usage(format!("--set is for --repair geneva, not {}", self.repair)));
        }
        let mut parameters = Parameters::default();
        for (name, value) in &self.constants {
            if name == "k" {
                return Err(usage(format!("--set k={value}: k follows the source")));
            }
            parameters.set(name, value).map_err(|error| usage(format!("--set {name}={value}: {}", settable(error))))?;
        }
        let law = Geneva::new(parameters).map_err(|error| usage(format!("--set: {error}")))?;
        Ok(match self.repair {
            RepairArg::None => Repair::None,
            RepairArg::Static(packets) => Repair::Static(packets),
            RepairArg::Geneva => Repair::Geneva(law),
        })
    }
}

/// What is wrong with a constant, without the one that cannot be set here.
fn settable(error: ParameterError) -> String {
    match error {
        ParameterError::Unknown { name, known } => {
            let others: Vec<&str> = known.iter().copied().filter(|known| *known != "k").collect();
            format!("there is no parameter '{name}'; known are {}", others.join(", "))
        }
        other => other.to_string(),
    }
}

impl Args {
    /// The input, to be looped if so wished.
    fn input(&self) -> Result<Endpoint, Failure> {
        match (&self.input, self.repeat) {
            (Endpoint::File { path, .. }, true) => Ok(Endpoint::File { path: path.clone(), repeat: true }),
            (other, true) => Err(Failure::Usage(format!("send: --loop is for file: inputs, not {other}"))),
            (other, false) => Ok(other.clone()),
        }
    }

    /// The receiver's address, and a socket that can reach it.
    fn peer(&self) -> Result<Peer, Failure> {
        if self.to.host.name.is_empty() || self.to.host.port == 0 {
            return Err(Failure::Usage(format!("send: --to {}: it needs a host and a port", self.to)));
        }
        let tried = format!("sending to {}", self.to);
        let to = self.to.resolve().map_err(Error::io(&tried))?;
        let multicast = self.to.multicast(to).map_err(Error::io(&tried))?;
        let Some(bind) = &self.bind else {
            let socket = Socket::sending(unspecified(to), to, multicast).map_err(Error::io(tried))?;
            return Ok(Peer { to, multicast, socket });
        };
        let tried = format!("sending from {bind}");
        let from = bind.resolve().map_err(Error::io(&tried))?;
        if from.is_ipv4() != to.is_ipv4() {
            return Err(Failure::Usage(format!("send: --bind {from} cannot reach {to}: one is IPv4, one IPv6")));
        }
        let socket = Socket::sending(from, to, multicast).map_err(Error::io(tried))?;
        Ok(Peer { to, multicast, socket })
    }

    fn config(&self, to: SocketAddr, input: &Input, repair: Repair) -> Config {
        Config {
            to,
            fec_to: self.interop.fec_port.map(|port| {
                let mut fec_to = to;
                fec_to.set_port(port);
                fec_to
            }),
            media: input.media(),
            repair,
            latency: self.latency,
            max_rate: self.protection.max_rate,
            block: self.protection.block,
            source_id: if self.interop.plain_rtp { SourceId::Plain } else { SourceId::Explicit },
            breaker: self.protection.breaker.into(),
            answer_timeout: self.timeout,
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if self.protection.block.is_some_and(|block| block > self.latency) {
            return Err(Failure::Usage(format!("send: a block may not be longer than the latency, {}", self.latency)));
        }
        if self.protection.max_rate == Some(Rate::from_bps(0)) {
            return Err(Failure::Usage("send: --max-rate must not be zero".to_owned()));
        }
        let is_none = matches!(self.protection.repair, RepairArg::None);
        let repairs = [("--block", self.protection.block.is_some()), ("--fec-port", self.interop.fec_port.is_some())];
        if let Some((option, _)) = repairs.into_iter().find(|(_, is_given)| is_none && *is_given) {
            return Err(Failure::Usage(format!("send: {option} is for repair, not --repair none")));
        }
        if self.interop.fec_port == Some(self.to.host.port) {
            return Err(Failure::Usage("send: --fec-port must be another port than that of --to".to_owned()));
        }
        Ok(())
    }
}

/// The receiver, and the socket that reaches it.
struct Peer {
    to: SocketAddr,
    multicast: Multicast,
    socket: Socket,
}

impl Peer {
    /// Writes what others have to know of the session, as it leaves this socket.
    fn describe(&self, session: &Sender, file: &Path) -> Result<(), Error> {
        let tried = format!("sending to {}", self.to);
        let mut description = session.description(self.origin().map_err(Error::io(&tried))?);
        description.ttl = self.socket.multicast_ttl().map_err(Error::io(&tried))?;
        let text = description.to_string();
        let written = match file.to_str() {
            Some("-") => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
            _ => std::fs::write(file, text),
        };
        written.map_err(Error::io(format!("writing the description {}", file.display())))
    }

    /// The address that the receiver sees, as far as this machine knows it.
    fn origin(&self) -> io::Result<IpAddr> {
        match self.socket.local().ip() {
            ip if ip.is_unspecified() => Ok(route_to(self.to, self.multicast)?.ip()),
            ip => Ok(ip),
        }
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.check()?;
    let repair = args.protection.repair()?;
    let endpoint = args.input()?;
    let start = Start::now()?;
    let mut peer = args.peer()?;
    let to = peer.to;
    peer.socket.hear_errors().map_err(Error::io(format!("sending to {to}")))?;
    if endpoint.address().is_some_and(|at| comes_in(at, to)) {
        return Err(Failure::Usage(format!("send: what leaves for --to {to} would come in at --input {endpoint}")));
    }
    let input = Input::open(&endpoint)?;

    let config = args.config(to, &input, repair);
    let mut station = Sending::new(config, start.clock.now(), &start.rng, args.retry.into(), input);
    if let Some(file) = &args.interop.sdp {
        peer.describe(station.session(), file)?;
    }
    // Port 0 has become a real one.
    let local = station.input().local();
    let port = match (&endpoint, local) {
        (Endpoint::Udp(_, udp), Some(local)) if udp.host.port == 0 => format!(" (port {})", local.port()),
        _ => String::new(),
    };
    let text = format!("sending {endpoint}{port} to {to}, repair {}, latency {}", args.protection.repair, args.latency);
    let opening =
        Report::new("sending", text).with("to", to).with("from", peer.socket.local()).with("input", &endpoint);
    let opening = local.into_iter().fold(opening, |opening, local| opening.with("input_address", local));
    let station = start.run(station, peer.socket, &args.reporting, opening)?;
    let failed = |why: &dyn fmt::Display| Err(Failure::Failed(format!("sending to {to}: {why}")));
    match station.ending() {
        Some(Ending::Silent) => failed(&"the receiver has gone"),
        Some(ending @ (Ending::NoAnswer | Ending::Busy | Ending::Version(_) | Ending::Breaker)) => failed(&ending),
        Some(Ending::Bye) | None => Ok(()),
    }
}

//! `thalweg send`.

mod one_of;
mod peer;

use std::fmt;
use std::net::SocketAddr;

use clap::ValueEnum;
use thalweg_core::law::ParameterError;
use thalweg_core::law::rate;
use thalweg_core::law::redundancy::{Choice, Law};
use thalweg_core::law::registry;
use thalweg_core::session::live::sender::{Breaker, Config, SourceId, redundancy};
use thalweg_core::session::live::{DEFAULT_LATENCY, Ending, Latency, Media};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_net::endpoint::{Endpoint, Retry, SenderEndpoint, Shed};
use thalweg_net::input::Input;
use thalweg_net::media_url::{Host, MediaUrl};
use thalweg_net::report::Report;
use thalweg_net::udp::comes_in;

use crate::encryption::{Encryption, keys};
use crate::failure::Failure;
use crate::stream::{Reporting, Start, latency, time};
use crate::verb::replay::setting;
use peer::Way;

/// Send a live stream, with as much repair (FEC) as it needs and its path can carry.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  thalweg send --input udp://127.0.0.1:5000 --to 127.0.0.1:6000
  ffmpeg -re -i video.mp4 -c copy -f mpegts - \\
    | thalweg send --input - --to example.org:6000
  thalweg send --input file:video.ts --loop --to [2001:db8::2]:6000 \\
    --repair static:4 --block 20ms
  thalweg send --key-file k --input - --to example.org:6000
  thalweg send --key-file k --input - --listen :6000
  thalweg send --rate tfrc --to example.org:6000 --input 'exec:./encoder.sh'
  thalweg send --input 'rtp://[ff12::8]:5004?iface=eth0' \\
    --to 239.1.1.1:5004 --plain-rtp --sdp video.sdp")]
pub(crate) struct Args {
    /// Source of the media: udp://HOST:PORT (datagrams of up to 1400 bytes), ts+udp://, rtp://, file:PATH, - or
    /// exec:COMMAND (MPEG-TS); after the port of a multicast group, ?iface=NAME is allowed. COMMAND is an encoder for
    /// /bin/sh, whose standard input gets a line 'rate BITS_PER_SECOND' at the start and at each change of 5 %
    #[arg(long, value_name = "URL", value_parser = MediaUrl::input)]
    input: MediaUrl,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    encryption: Encryption,
    /// Let anyone who reaches the address of --listen have the media, in the clear
    #[arg(long, conflicts_with = "key_file")]
    public: bool,
    /// Loop the file, as one endless stream (file: inputs only)
    #[arg(long = "loop")]
    repeat: bool,
    /// Media rate at which the encoder of exec: begins, by default 1mbit, or --max-rate if that is less
    #[arg(long, value_name = "RATE")]
    start_rate: Option<Rate>,
    /// Media rate below which the encoder of exec: is never asked to go, by default 300kbit; media beyond the law's rate
    /// is then dropped
    #[arg(long, value_name = "RATE")]
    least: Option<Rate>,
    /// Local address to send from
    #[arg(long, value_name = "HOST:PORT")]
    bind: Option<Host>,
    /// Time from input to output, 5ms to 10s, or auto: half a round trip plus 1.25 round trips or 40 ms, whichever is more,
    /// found as the stream begins and raised if the path becomes longer. A time at either end comes before auto, and of two
    /// the longer applies. Default: auto with --repair auto, otherwise 90ms
    #[arg(long, value_name = "TIME", value_parser = latency)]
    latency: Option<Latency>,
    /// End with exit code 1 if no receiver accepts the stream for this time, because none answers or another sender has
    /// it; without this option, wait for a receiver
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    timeout: Option<Span>,
    /// Reaction to a failed session: connect again (always) or end with exit code 1 (never). If the receiver was busy
    /// or the circuit breaker opened, the next session begins after 30 s, then after 1 min, up to 5 min. If the
    /// receiver stopped answering, a new session begins after 30 s of calls without an answer
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
    #[arg(long, value_name = "HOW", value_parser = repair, help = repair_help())]
    repair: Option<Choice>,
    /// Set a constant of the law of repair, except k, which follows the source, as in p_max=0.05; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    constants: Vec<(String, String)>,
    /// Limit of the rate of media, repair and control together, as in 40mbit
    #[arg(long, value_name = "RATE")]
    max_rate: Option<Rate>,
    #[arg(long, value_name = "LAW", help = rate_help())]
    rate: Option<rate::Choice>,
    /// Media that is dropped where the input is faster than --max-rate or --rate allow: pictures (of MPEG-TS: first those
    /// that no other refers to, then up to the next random access point; never audio, tables and clock; udp:// counts as
    /// MPEG-TS only once its datagrams are too long) or packets (datagrams, evenly)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    shed: ShedArg,
    /// Length of a block (packets that are repaired together), 5ms or more; longer blocks recover longer bursts and add
    /// more delay. A block takes at most (latency - round trip / 2) / 2, which is also the default, there with at most
    /// 170 packets
    #[arg(long, value_name = "TIME", value_parser = time)]
    block: Option<Span>,
    /// Circuit breaker, which ends a stream that its path cannot carry: repair-first (reduces repair before it ends the
    /// stream, and ends no stream whose loss is independent of its rate, as over radio), rfc8083 (as printed in RFC
    /// 8083) or off. Default: repair-first, and with --rate rfc8083
    #[arg(long, value_enum)]
    breaker: Option<BreakerArg>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Other receivers")]
struct Interop {
    /// Send source packets as unmodified RTP, for receivers without repair
    #[arg(long)]
    plain_rtp: bool,
    /// Send repair as plain RFC 6865, without RTP, to this port: for receivers other than thalweg recv, which does not
    /// accept such repair. Excludes --plain-rtp, because the repair refers to packet IDs that --plain-rtp omits
    #[arg(long, value_name = "PORT", conflicts_with = "plain_rtp", value_parser = clap::value_parser!(u16).range(1..))]
    fec_port: Option<u16>,
    /// Write the session description (SDP) to this file; - is standard output
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

#[derive(Clone, Copy, Default, ValueEnum)]
enum ShedArg {
    #[default]
    Pictures,
    Packets,
}

/// Parses the time to wait for a receiver.
fn timeout(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(Span::ZERO) => Err("must be above zero".to_owned()),
        other => other.map_err(|error| format!("{error}")),
    }
}

/// The help of `--repair`.
fn repair_help() -> String {
    let laws = registry::help(Choice::anywhere());
    format!("Repair: {laws}. Default: auto; with --rate, --block, --plain-rtp and --fec-port geneva")
}

/// The help of `--rate`.
fn rate_help() -> String {
    let laws = registry::help(rate::Choice::anywhere());
    format!(
        "Rate law that limits media, repair and control together; media beyond the limit is dropped. Default: the rate of \
         the source. Laws: {laws}"
    )
}

/// Parses a law of redundancy for a session.
fn repair(text: &str) -> Result<Choice, ParameterError> {
    let choice = text.parse()?;
    redundancy(&choice).map(|_| choice)
}

/// Checks the text of a repair that is passed on.
pub(crate) fn repair_form(text: &str) -> Result<String, ParameterError> {
    repair(text).map(|choice| choice.to_string())
}

impl From<RetryArg> for Retry {
    fn from(arg: RetryArg) -> Retry {
        match arg {
            RetryArg::Always => Retry::Always,
            RetryArg::Never => Retry::Never,
        }
    }
}

impl From<ShedArg> for Shed {
    fn from(arg: ShedArg) -> Shed {
        match arg {
            ShedArg::Pictures => Shed::Pictures,
            ShedArg::Packets => Shed::Packets,
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
    /// The breaker: with a rate law, that law reduces the rate before RFC 8083 ends the stream.
    fn breaker(&self) -> Breaker {
        let default = if self.rate.is_some() { Breaker::Rfc8083 } else { Breaker::RepairFirst };
        self.breaker.map_or(default, Breaker::from)
    }

    /// The law of repair with its constants; `default` if none is given.
    fn repair(&self, default: &str) -> Result<(Choice, Law), Failure> {
        let usage = |reason: String| Failure::Usage(format!("send: {reason}"));
        let mut choice = self.repair.clone().or_else(|| Choice::named(default)).expect("a law of the registry");
        for (name, value) in &self.constants {
            if name == "k" {
                return Err(usage(format!("--set k={value}: k follows the source and cannot be set")));
            }
            choice.set(name, value).map_err(|error| usage(format!("--set {name}={value}: {}", settable(error))))?;
        }
        let law = redundancy(&choice).map_err(|error| usage(format!("--set: {error}")))?;
        Ok((choice, law))
    }
}

/// The error of a constant; the known ones that it lists exclude `k`, which cannot be set here.
fn settable(error: ParameterError) -> String {
    match error {
        ParameterError::Unknown { name, known } if !known.is_empty() => {
            let others: Vec<&str> = known.iter().copied().filter(|known| *known != "k").collect();
            format!("unknown parameter '{name}'; expected one of {}", others.join(", "))
        }
        other => other.to_string(),
    }
}

impl Args {
    /// The input, looped if `--loop` is given; an encoder with its rates.
    fn input(&self) -> Result<MediaUrl, Failure> {
        let mut input = self.input.clone();
        match &mut input {
            MediaUrl::File { repeat, .. } => *repeat |= self.repeat,
            other if self.repeat => {
                return Err(Failure::Usage(format!("send: --loop needs a file: input, not {other}")));
            }
            _ => {}
        }
        let rates = [("--start-rate", self.start_rate), ("--least", self.least)];
        let MediaUrl::Exec { start, least, .. } = &mut input else {
            return match rates.into_iter().find(|(_, rate)| rate.is_some()) {
                Some((option, _)) => Err(Failure::Usage(format!("send: {option} needs an exec: input, not {input}"))),
                None => Ok(input),
            };
        };
        if let Some((option, _)) = rates.into_iter().find(|(_, rate)| *rate == Some(Rate::from_bps(0))) {
            return Err(Failure::Usage(format!("send: {option}: must be above zero")));
        }
        *least = self.least.unwrap_or(*least);
        *start =
            self.start_rate.unwrap_or(self.protection.max_rate.map_or(*start, |most| most.min(*start))).max(*least);
        Ok(input)
    }

    fn config(&self, to: SocketAddr, media: Media, repair: Law) -> Config {
        Config {
            to,
            listens: self.way.to.is_none(),
            fec_to: self.interop.fec_port.map(|port| {
                let mut fec_to = to;
                fec_to.set_port(port);
                fec_to
            }),
            media,
            repair,
            latency: self.latency(),
            max_rate: self.protection.max_rate,
            rate: self.protection.rate.clone(),
            block: self.protection.block,
            source_id: if self.interop.plain_rtp { SourceId::Plain } else { SourceId::Explicit },
            breaker: self.protection.breaker(),
            answer_timeout: self.timeout,
        }
    }

    /// The first option that is given of those that need blocks of packets.
    fn blocks(&self) -> Option<(&'static str, bool)> {
        let options = [
            ("--block", self.protection.block.is_some()),
            ("--plain-rtp", self.interop.plain_rtp),
            ("--fec-port", self.interop.fec_port.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given)
    }

    /// The law of repair that is used if none is given.
    fn default_repair(&self) -> &'static str {
        if self.blocks().is_some() || self.protection.rate.is_some() { "geneva" } else { "auto" }
    }

    /// The latency; if none is given, that of the law of repair.
    fn latency(&self) -> Latency {
        let is_auto = match &self.protection.repair {
            Some(repair) => matches!(repair, Choice::Auto(_)),
            None => self.default_repair() == "auto",
        };
        self.latency.unwrap_or(if is_auto { Latency::Auto } else { Latency::Fixed(DEFAULT_LATENCY) })
    }

    fn check_latency(&self) -> Result<(), Failure> {
        let unreported =
            |option| format!("--latency auto needs the reports of thalweg recv; with {option} use a time such as 90ms");
        let why = match self.latency() {
            Latency::Fixed(latency) if self.protection.block.is_some_and(|block| block > latency) => {
                format!("--block: longer than the latency, {latency}")
            }
            Latency::Auto if self.interop.plain_rtp => unreported("--plain-rtp"),
            Latency::Auto if self.interop.fec_port.is_some() => unreported("--fec-port"),
            _ => return Ok(()),
        };
        Err(Failure::Usage(format!("send: {why}")))
    }

    fn check(&self) -> Result<(), Failure> {
        if self.protection.max_rate == Some(Rate::from_bps(0)) {
            return Err(Failure::Usage("send: --max-rate: must be above zero".to_owned()));
        }
        if self.protection.rate.as_ref().and_then(rate::Choice::fixed) == Some(Rate::from_bps(0)) {
            return Err(Failure::Usage("send: --rate fixed: must be above zero".to_owned()));
        }
        let repairs = [("--block", self.protection.block.is_some()), ("--fec-port", self.interop.fec_port.is_some())];
        let (given, needs) = match self.protection.repair {
            Some(Choice::None(())) => (repairs.into_iter().find(|(_, is_given)| *is_given), "repair"),
            Some(Choice::Auto(_)) => (self.blocks(), "blocks"),
            _ => (None, ""),
        };
        if let (Some((option, _)), Some(law)) = (given, &self.protection.repair) {
            return Err(Failure::Usage(format!("send: {option} needs {needs}, not --repair {law}")));
        }
        self.check_latency()?;
        let clear = [
            ("--plain-rtp", self.interop.plain_rtp),
            ("--fec-port", self.interop.fec_port.is_some()),
            ("--sdp", self.interop.sdp.is_some()),
        ];
        if let Some((option, _)) = clear.into_iter().find(|(_, is_given)| self.encryption.is_given() && *is_given) {
            return Err(Failure::Usage(format!("send: {option} is for RTP in the clear; omit it, or --key-file")));
        }
        if self.public && self.way.to.is_some() {
            return Err(Failure::Usage("send: --public is for --listen; omit it".to_owned()));
        }
        if self.interop.fec_port.is_some() && self.interop.fec_port == self.way.to.as_ref().map(|to| to.host.port) {
            return Err(Failure::Usage("send: --fec-port: must differ from the port of --to".to_owned()));
        }
        Ok(())
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.check()?;
    let (choice, repair) = args.protection.repair(args.default_repair())?;
    let media_url = args.input()?;
    let key = args.encryption.key()?;
    let start = Start::now()?;
    let peer = args.peer()?;
    let to = peer.address();
    if media_url.address().is_some_and(|at| comes_in(at, to)) {
        let option = if peer.is_called() { "--listen" } else { "--to" };
        return Err(Failure::Usage(format!(
            "send: {option} {to}: leads back to --input {media_url}; use another port"
        )));
    }
    let input = Input::open(&media_url)?;

    if let Some(law) = args.protection.rate.as_ref().filter(|law| args.interop.plain_rtp && law.fixed().is_none()) {
        let text =
            format!("without the reports (RFC 8888) of thalweg recv, the no-feedback timer of {law} lowers the rate");
        args.reporting.reporter("send").report(start.clock.now(), &Report::warning(text));
    }
    let config = args.config(to, input.media(), repair);
    let endpoint = SenderEndpoint::new(config, start.clock.now(), &start.rng, args.retry.into(), input);
    let mut endpoint = endpoint.with_shed(args.protection.shed.into());
    if let Some(key) = &key {
        endpoint = endpoint.with_key(key, keys()?).map_err(|error| args.encryption.wrong(error))?;
    }
    if let Some(file) = &args.interop.sdp {
        peer.describe(endpoint.session(), file)?;
    }
    // Port 0 has been replaced by the port that the system chose.
    let local = endpoint.input().local();
    let port = match (&media_url, local) {
        (MediaUrl::Udp(_, udp), Some(local)) if udp.host.port == 0 => format!(" (port {})", local.port()),
        _ => String::new(),
    };
    let terms = format!("repair {choice}, latency {}", args.latency());
    let opening = peer.opening(&format!("{media_url}{port}"), &terms).with("input", &media_url);
    let opening = local.into_iter().fold(opening, |opening, local| opening.with("input_address", local));
    let opening = args.encryption.described(opening);
    let (action, is_called) = (peer.action(), peer.is_called());
    let endpoint = start.run(endpoint, peer.socket, &args.reporting, opening)?;
    let failed = |why: &dyn fmt::Display| Err(Failure::Failed(format!("{action}: {why}")));
    if let Some(refusal) = endpoint.refusal() {
        return failed(&refusal);
    }
    match endpoint.ending() {
        Some(Ending::NoAnswer) if is_called => failed(
            &"no receiver called: does recv --call have this address, and the same key, and is this UDP port open?",
        ),
        Some(ending @ Ending::NoAnswer) => {
            let other = if key.is_some() { "does it have another key, or none" } else { "does it have a key" };
            failed(&format!("{ending} Or {other}?"))
        }
        Some(Ending::Silent) => failed(&"the receiver stopped answering"),
        Some(ending @ (Ending::Busy | Ending::Version(_) | Ending::Breaker)) => failed(&ending),
        Some(Ending::Bye) | None => Ok(()),
    }
}

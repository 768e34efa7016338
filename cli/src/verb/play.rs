//! `thalweg play`.

mod status;

use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use clap::ValueEnum;
use thalweg_core::law::rate::r3cp::PAPERS_MU;
use thalweg_core::session::stored::control::Control;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_net::error::Error;
use thalweg_net::media_url::MediaUrl;
use thalweg_net::output::{Existing, Output, Outputs};
use thalweg_net::report::Report;
use thalweg_net::udp::Socket;
use thalweg_play::{Keys, Link, PlayEndpoint, Settings, Sink};
use thalweg_rtsp::url::Url;

use self::status::Viewer;
use crate::failure::Failure;
use crate::outputs::OutputArgs;
use crate::stream::{Reporting, Start};
use crate::verb::replay::setting;

/// The default of `--store`.
const STORE: Span = Span::from_secs(2);
/// The longest store of media.
const MAX_STORE: Span = Span::from_secs(600);
/// The least `--max-rate`: four packets per second of 1500 bytes and their headers. With less a second may exceed it.
const LEAST_RATE: Rate = Rate::from_bps(50_000);
/// The latest position at which playback can begin.
const MAX_POSITION: f64 = 1e6;

/// Play a stored video of an RTSP server, as MPEG-TS.
///
/// With `thalweg serve` R3CP+ controls the rate, and pictures are skipped before they are late. Other servers send plain RTP
/// within the RTSP connection. Without --output or --exec the video goes to standard output. Keys of the terminal: space
/// pauses, left and right seek by 10 s, q ends.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  thalweg play rtsp://this.machine:8554/some.mp4 --exec 'ffplay -'
  thalweg play rtsp://this.machine:8554/some.mp4 --from 12:30 \\
    --exec 'mpv -'
  thalweg play rtsp://192.0.2.7:554/live.sdp --output file:a.ts --quiet")]
pub(crate) struct Args {
    /// The video, as rtsp://HOST:PORT/NAME; port 554 if none is given
    url: Url,
    #[command(flatten)]
    output: OutputArgs,
    /// Command of the shell that plays what it reads, as 'ffplay -'; playback ends with it, and with its exit code
    #[arg(long, value_name = "COMMAND", conflicts_with = "outputs")]
    exec: Option<String>,
    /// Position at which playback begins, in seconds, as M:SS or as H:MM:SS; it begins with the random access point
    /// before
    #[arg(long, value_name = "TIME", value_parser = position)]
    from: Option<Span>,
    #[arg(long, value_name = "CONTROL", help = control_help())]
    control: Option<Control>,
    /// Transport of the video; tcp has no control
    #[arg(long, value_name = "NAME", value_enum, default_value = "udp")]
    transport: TransportArg,
    /// Playing time that is buffered against interruptions, beyond what the control needs [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = store)]
    store: Option<Span>,
    /// Limit of the rate with all headers, as in 5mbit, with servers that know R3CP+
    #[arg(long, value_name = "RATE", value_parser = max_rate)]
    max_rate: Option<Rate>,
    /// Bound of the rate to the share of a TCP: tfrc, the equation of RFC 5348, over the losses that are measured
    #[arg(long, value_name = "LAW", value_enum)]
    fair: Option<FairArg>,
    /// Set a constant of the control, as in p_high=0.1; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    constants: Vec<(String, String)>,
    #[command(flatten)]
    reporting: Reporting,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransportArg {
    /// UDP under R3CP+; RTP over TCP with other servers, and where no datagram is answered
    Udp,
    /// RTP over TCP, within the RTSP connection, at the video's own pace
    Tcp,
}

#[derive(Clone, Copy, ValueEnum)]
enum FairArg {
    Tfrc,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let settings = Settings {
        from: args.from,
        control: args.control.unwrap_or_default(),
        store: args.store.unwrap_or(STORE),
        max_rate: args.max_rate,
        is_fair: matches!(args.fair, Some(FairArg::Tfrc)),
        is_interleaved: matches!(args.transport, TransportArg::Tcp),
        constants: args.constants.clone(),
    };
    // The rates of the video are not known yet; names and most values can be checked without them.
    settings.parameters(PAPERS_MU).map_err(|error| Failure::Usage(format!("play: --set: {error}")))?;
    if settings.control == Control::None && (args.max_rate.is_some() || args.fair.is_some()) {
        let why = "play: --control none sends at the video's own pace, which --max-rate and --fair do not bound";
        return Err(Failure::Usage(why.to_owned()));
    }
    let of_control = [
        ("--control", args.control.is_some()),
        ("--store", args.store.is_some()),
        ("--max-rate", args.max_rate.is_some()),
        ("--fair", args.fair.is_some()),
        ("--set", !args.constants.is_empty()),
    ];
    if settings.is_interleaved
        && let Some((option, _)) = of_control.iter().find(|(_, is_given)| *is_given)
    {
        let why = format!("play: --transport tcp has no control, which {option} is for; leave out one of the two");
        return Err(Failure::Usage(why));
    }
    args.output.check("play")?;
    check_terminal(&args)?;
    let start = Start::now()?;
    let server = resolve(&args.url)?;
    let outputs = outputs(&args, &start)?;
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let peer = Socket::bind(any).map_err(Error::io("opening a UDP socket"))?;
    let (now, port) = (start.clock.now(), peer.local().port());
    let sink = Sink::new(outputs, args.exec.is_some());
    let opening = Report::new("opening", format!("opening {}", args.url)).with("url", &args.url);
    let link = Link::new(now, args.url.clone(), server);
    let endpoint = PlayEndpoint::new(now, settings, link, port, sink, Keys::open(), start.rng.fork("play"));
    let endpoint = start.run_for(endpoint, peer, &args.reporting, opening, |reporter| Box::new(Viewer(reporter)))?;
    match (endpoint.exit_code(), endpoint.failure()) {
        (None | Some(0), None) => Ok(()),
        (None | Some(0), Some(failure)) => Err(failure.clone().into()),
        (Some(code), _) => Err(Failure::Child(u8::try_from(code).unwrap_or(1))),
    }
}

/// The open outputs, or the command. Standard output is the default.
fn outputs(args: &Args, start: &Start) -> Result<Outputs, Error> {
    if let Some(command) = &args.exec {
        return Ok(Outputs::new(vec![Output::exec(command)?]));
    }
    let mut outputs = args.output.open(&start.rng)?;
    if outputs.is_empty() {
        outputs.push(Output::open(&MediaUrl::Stdio, Existing::Keep, &start.rng)?);
    }
    Ok(Outputs::new(outputs))
}

/// Refuses standard output that is a terminal.
fn check_terminal(args: &Args) -> Result<(), Failure> {
    let OutputArgs { outputs, .. } = &args.output;
    let is_written = args.exec.is_none() && outputs.is_empty() || outputs.contains(&MediaUrl::Stdio);
    if is_written && io::stdout().is_terminal() {
        let url = &args.url;
        return Err(Failure::Usage(format!(
            "play: standard output is a terminal, which does not show MPEG-TS; use --exec 'ffplay -' or --output URL \
             for {url}"
        )));
    }
    Ok(())
}

/// The address of the server.
fn resolve(url: &Url) -> Result<SocketAddr, Error> {
    let mut found = (url.host(), url.port()).to_socket_addrs().map_err(Error::io(url.as_str()))?;
    found.next().ok_or_else(|| Error::new(url.as_str(), "the host has no address"))
}

/// Parses a position: seconds, `M:SS` or `H:MM:SS`, with decimals, or a duration such as `5min`.
fn position(text: &str) -> Result<Span, String> {
    if let Ok(span) = text.parse() {
        return Ok(span);
    }
    let expected = || "expected seconds, M:SS or H:MM:SS".to_owned();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 3 || !parts.iter().all(|part| is_number(part)) {
        return Err(expected());
    }
    let mut seconds = 0.0;
    for (nth, part) in parts.iter().enumerate() {
        let value: f64 = part.parse().map_err(|_| expected())?;
        if nth > 0 && value >= 60.0 {
            return Err(expected());
        }
        seconds = 60.0 * seconds + value;
    }
    if seconds > MAX_POSITION { Err("longer than any video".to_owned()) } else { Ok(Span::from_secs_f64(seconds)) }
}

fn store(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    if span <= MAX_STORE { Ok(span) } else { Err("must be at most 10min".to_owned()) }
}

fn max_rate(text: &str) -> Result<Rate, String> {
    match text.parse::<Rate>() {
        Ok(rate) if rate >= LEAST_RATE => Ok(rate),
        // Zero may lack its unit.
        Err(error) if text.trim() != "0" => Err(error.to_string()),
        _ => Err(format!("must be at least {LEAST_RATE}")),
    }
}

fn control_help() -> String {
    let all = Control::ALL.map(|control| format!("{control} ({})", control.help())).join("; ");
    format!("Control of the rate, with servers that know R3CP+: {all} [default: {}]", Control::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_colons_or_units() {
        let seconds = |text| position(text).map(Span::as_secs_f64);
        assert_eq!(seconds("12:30"), Ok(750.0));
        assert_eq!(seconds("1:02:03.5"), Ok(3723.5));
        assert_eq!([seconds("90"), seconds("90s"), seconds("1.5min")], [Ok(90.0), Ok(90.0), Ok(90.0)]);
        for wrong in ["", "1:60", "1:2:3:4", "-5", "1:", "x", "1.2.3", "9999999"] {
            assert!(position(wrong).is_err(), "{wrong}");
        }
    }
}

//! `thalweg kernel`: TCP Stream in the kernel's own TCP.

use std::io::{self, Write};

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use thalweg_core::law::window::tcp_stream;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_kernel::{Connection, Error, FASTEST, Loaded, Name, Settings, Status, Unloaded};

use crate::failure::Failure;

/// Add TCP Stream, a congestion control for video, to the kernel's TCP.
///
/// TCP Stream takes the rate that playback needs as any TCP does, and more only while capacity is spare. Any program
/// can choose TCP Stream by name, for a socket, a route or the whole machine. The kernel must be Linux 6.4 or later,
/// with BPF and its type information (BTF). This verb needs root; programs that choose TCP Stream do not.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg kernel load --rate 4.5mbit --port 8080=10mbit
  sysctl -w net.ipv4.tcp_congestion_control=tcp_stream     # for all traffic
  ip route change default via 192.0.2.1 congctl tcp_stream # or for a route
  thalweg kernel status
  thalweg kernel unload")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Load(Load),
    Status(Show),
    Unload(Unload),
}

/// Load the congestion control; programs can choose it until `unload` or the next restart of the machine.
#[derive(clap::Args)]
#[command(after_help = "Example: videos of 8 Mb/s at port 8080 and of 3.6 Mb/s elsewhere, plus a quarter
  thalweg kernel load --rate 4.5mbit --port 8080=10mbit")]
struct Load {
    /// Playback rate of videos for which no other is set; up to 1000gbit
    #[arg(long, value_name = "RATE", default_value_t = Settings::default().rate, value_parser = rate)]
    rate: Rate,
    /// Playback rate of the videos served at a local port; may be repeated
    #[arg(long, value_name = "PORT=RATE", value_parser = port)]
    port: Vec<(u16, Rate)>,
    /// Thresholds of the number of packets in the queue: as printed in the paper (paper), or those of TCP Vegas
    /// (vegas), which leave more capacity to other flows
    #[arg(long, value_name = "NAME", default_value = "paper")]
    thresholds: Thresholds,
    #[command(flatten)]
    called: Called,
}

/// Show the settings of the congestion control, and the state of each connection that uses it, by the paper's names.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg kernel status
  thalweg kernel status --json \\
    | jq '.connections[] | select(.delay_on) | .peer'")]
struct Show {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    called: Called,
}

/// Unload the congestion control: new connections cannot choose it, open ones keep it until they end.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg kernel unload")]
struct Unload {
    #[command(flatten)]
    called: Called,
}

#[derive(clap::Args)]
struct Called {
    /// Name of the congestion control, 1 to 15 letters, digits and underscores
    #[arg(long, value_name = "NAME", default_value_t = Name::default())]
    name: Name,
}

#[derive(Clone, Copy, ValueEnum)]
enum Thresholds {
    Paper,
    Vegas,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.verb {
        Verb::Load(args) => load(args),
        Verb::Status(args) => {
            let Show { json, called: Called { name } } = args;
            let status = thalweg_kernel::status(&name).map_err(|error| failed(&error))?;
            print_line(&if json { status_json(&name, &status).to_string() } else { text(&name, &status) })
        }
        Verb::Unload(args) => {
            let name = args.called.name;
            print_line(&unload_message(&name, &thalweg_kernel::unload(&name).map_err(|error| failed(&error))?))
        }
    }
}

fn load(args: Load) -> Result<(), Failure> {
    let Load { rate, port: ports, thresholds, called: Called { name } } = args;
    if let Some(port) = repeated_port(&ports) {
        return Err(Failure::Usage(format!("kernel: --port {port} is given twice")));
    }
    let thresholds = match thresholds {
        Thresholds::Paper => tcp_stream::Thresholds::Paper,
        Thresholds::Vegas => tcp_stream::Thresholds::Vegas,
    };
    let loaded = thalweg_kernel::load(&name, &Settings { rate, thresholds, ports });
    print_line(&load_message(&name, &loaded.map_err(|error| failed(&error))?))
}

/// The lowest port that is given twice.
fn repeated_port(ports: &[(u16, Rate)]) -> Option<u16> {
    let mut numbers: Vec<u16> = ports.iter().map(|(port, _)| *port).collect();
    numbers.sort_unstable();
    numbers.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn choosing(name: &str) -> String {
    format!("sysctl -w net.ipv4.tcp_congestion_control={name}")
}

/// The message after a load.
fn load_message(name: &Name, loaded: &Loaded) -> String {
    match &loaded.renewed {
        None => format!("{name} is loaded; choose it for all traffic with: {}", choosing(name.as_str())),
        Some(Ok(())) => {
            format!("{name} is loaded, and replaces the unloaded one as the default (sysctl)")
        }
        Some(Err(why)) => {
            let choosing = choosing(name.as_str());
            format!("{name} is loaded, but the default (sysctl) is still the unloaded one ({why}); run: {choosing}")
        }
    }
}

/// The message after an unload.
fn unload_message(name: &Name, unloaded: &Unloaded) -> String {
    let kept = match unloaded.open {
        0 => "no open connection uses it".to_owned(),
        1 => "1 open connection uses it until it ends".to_owned(),
        open => format!("{open} open connections use it until they end"),
    };
    let default = unloaded.instead.as_ref().map(|other| {
        format!("\nnew connections still get it, since it is the default (sysctl); choose another: {}", choosing(other))
    });
    format!("{name} is unloaded; {kept}{}", default.unwrap_or_default())
}

fn failed(error: &Error) -> Failure {
    Failure::Failed(format!("kernel: {error}"))
}

fn print_line(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("kernel: cannot write standard output: {error}")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error| format!("{error}"))?;
    match (1..=FASTEST.as_bps()).contains(&rate.as_bps()) {
        true => Ok(rate),
        false => Err(format!("must be between 1bit and {FASTEST}")),
    }
}

fn port(text: &str) -> Result<(u16, Rate), String> {
    let (port, fast) = text.split_once('=').ok_or("expected PORT=RATE, as in 8080=8mbit")?;
    match port.parse() {
        Ok(port @ 1..) => Ok((port, rate(fast)?)),
        _ => Err("the port must be between 1 and 65535".to_owned()),
    }
}

fn word(thresholds: tcp_stream::Thresholds) -> &'static str {
    match thresholds {
        tcp_stream::Thresholds::Paper => "paper",
        tcp_stream::Thresholds::Vegas => "vegas",
    }
}

/// A line for the control, a line for each connection.
fn text(name: &Name, status: &Status) -> String {
    let Status { settings, connections } = status;
    let ports: String = settings.ports.iter().map(|(port, rate)| format!(", port {port} {rate}")).collect();
    let thresholds = word(settings.thresholds);
    let mut lines =
        vec![format!("{name}: rate {}{ports}, thresholds {thresholds}, {} open", settings.rate, connections.len())];
    lines.extend(connections.iter().map(|connection| {
        let Connection { local, peer, rate, lwnd, dwnd, ssthresh, diff, delay_on, .. } = connection;
        let known = |found: Option<String>| found.unwrap_or_else(|| "-".to_owned());
        let cap = known(connection.cap.map(|cap| cap.to_string()));
        let tau = known(connection.tau.map(|tau| tau.to_string()));
        let rtt = known(connection.rtt.map(|rtt| rtt.to_string()));
        format!(
            "{local} {peer} rate:{rate} lwnd:{lwnd:.2} dwnd:{dwnd} cap:{cap} ssthresh:{ssthresh:.2} Diff:{diff:.2} tau:{tau} \
             rtt:{rtt} delay_on:{}",
            u8::from(*delay_on)
        )
    }));
    lines.join("\n")
}

fn status_json(name: &Name, status: &Status) -> Value {
    let Status { settings, connections } = status;
    let seconds = |span: Option<Span>| span.map(Span::as_secs_f64);
    let connections = connections.iter().map(|connection| {
        json!({
            "local": connection.local.to_string(), "peer": connection.peer.to_string(),
            "rate_bps": connection.rate.as_bps(), "mss_bytes": connection.mss.0,
            "lwnd": connection.lwnd, "dwnd": connection.dwnd, "swnd": connection.swnd(), "cap": connection.cap,
            // JSON knows no infinity: null.
            "ssthresh": connection.ssthresh, "diff": connection.diff,
            "tau_seconds": seconds(connection.tau), "rtt_seconds": seconds(connection.rtt),
            "delay_on": connection.delay_on,
        })
    });
    json!({
        "name": name.as_str(), "rate_bps": settings.rate.as_bps(), "thresholds": word(settings.thresholds),
        "ports": settings.ports.iter().map(|(port, rate)| (port.to_string(), rate.as_bps().into()))
            .collect::<serde_json::Map<String, Value>>(),
        "connections": connections.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let connection = Connection {
            local: "10.0.0.1:80".parse().expect("an address"),
            peer: "[2001:db8::1]:5000".parse().expect("an address"),
            rate: Rate::from_mbps(8),
            mss: thalweg_core::units::Bytes(1448),
            lwnd: 9.5,
            dwnd: 7,
            ssthresh: f64::INFINITY,
            cap: None,
            diff: 1.25,
            tau: Some(Span::from_millis(30)),
            rtt: None,
            delay_on: true,
        };
        let settings = Settings { ports: vec![(80, Rate::from_mbps(8))], ..Settings::default() };
        Status { settings, connections: vec![connection] }
    }

    #[test]
    fn connection_status_uses_the_papers_names() {
        let lines = text(&Name::default(), &status());
        let expected = "tcp_stream: rate 3.6mbit, port 80 8mbit, thresholds paper, 1 open\n\
             10.0.0.1:80 [2001:db8::1]:5000 rate:8mbit lwnd:9.50 dwnd:7 cap:- ssthresh:inf Diff:1.25 tau:30ms rtt:- delay_on:1";
        assert_eq!(lines, expected);
        let object = status_json(&Name::default(), &status());
        assert_eq!((&object["ports"]["80"], &object["connections"][0]["swnd"]), (&json!(8_000_000), &json!(16.5)));
        assert_eq!(object["connections"][0]["ssthresh"], Value::Null);
    }

    #[test]
    fn unload_message_counts_open_connections_and_names_a_command() {
        let unload_message = |open, instead: Option<&str>| {
            unload_message(&Name::default(), &Unloaded { open, instead: instead.map(str::to_owned) })
        };
        assert_eq!(unload_message(0, None), "tcp_stream is unloaded; no open connection uses it");
        assert_eq!(unload_message(1, None), "tcp_stream is unloaded; 1 open connection uses it until it ends");
        let lines = unload_message(2, Some("cubic"));
        let (kept, default) = lines.split_once('\n').expect("two lines");
        assert_eq!(kept, "tcp_stream is unloaded; 2 open connections use it until they end");
        assert!(default.contains("still get it"), "{default}");
        assert!(default.ends_with(": sysctl -w net.ipv4.tcp_congestion_control=cubic"), "{default}");
    }

    #[test]
    fn load_message_names_a_command_unless_the_law_is_the_default() {
        let load_message = |renewed| load_message(&Name::default(), &Loaded { renewed });
        let choosing = ": sysctl -w net.ipv4.tcp_congestion_control=tcp_stream";
        let (new, kept, not_kept) =
            (load_message(None), load_message(Some(Ok(()))), load_message(Some(Err(Error::NotRoot))));
        assert!(new.starts_with("tcp_stream is loaded; ") && new.ends_with(choosing), "{new}");
        assert!(kept.contains("replaces") && !kept.contains(choosing), "{kept}");
        assert!(not_kept.contains("still") && not_kept.contains(&Error::NotRoot.to_string()), "{not_kept}");
        assert!(not_kept.ends_with(choosing), "{not_kept}");
    }

    #[test]
    fn rates_and_ports_are_parsed() {
        assert_eq!(port("8080=3.6mbit"), Ok((8080, Rate::from_bps(3_600_000))));
        for bad in ["8080", "0=1mbit", "65536=1mbit", "x=1mbit", "80=fast", "80=0mbit", "80=1001gbit"] {
            assert!(port(bad).is_err(), "{bad}");
        }
        let ports = |numbers: &[u16]| numbers.iter().map(|port| (*port, Rate::from_mbps(1))).collect::<Vec<_>>();
        assert_eq!((repeated_port(&ports(&[80, 81])), repeated_port(&ports(&[80, 81, 80]))), (None, Some(80)));
    }
}

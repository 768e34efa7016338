//! `thalweg kernel`: TCP Stream in the kernel's own TCP.

use std::io::{self, Write};

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use thalweg_core::law::window::tcp_stream;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_kernel::{Connection, Error, FASTEST, Loaded, Name, Settings, Status, Unloaded};

use crate::Failure;

/// Give the kernel's TCP a congestion control for films: what playing needs as any TCP takes it, more only where it is spare.
///
/// Any program can then choose it by name, for a socket, a route or the whole machine. It needs Linux 6.4 or later with BPF
/// and its types (BTF), and root to load it, not to use it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg kernel load --rate 4.5mbit --port 8080=10mbit
  sysctl -w net.ipv4.tcp_congestion_control=tcp_stream     # for all that comes
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

/// Load it: from now on programs can choose it, until `unload` or the machine's next start.
#[derive(clap::Args)]
#[command(after_help = "Example: films of 3.6 Mb/s, those behind port 8080 of 8 Mb/s
  thalweg kernel load --rate 4.5mbit --port 8080=10mbit")]
struct Load {
    /// How fast a film is played, where nothing else says so; up to 1000gbit
    #[arg(long, value_name = "RATE", default_value_t = Settings::default().rate, value_parser = rate)]
    rate: Rate,
    /// How fast the films behind a local port are played; may be repeated
    #[arg(long, value_name = "PORT=RATE", value_parser = port)]
    port: Vec<(u16, Rate)>,
    /// How much may wait in queues: as the paper prints it, or as Vegas, which leaves more to others
    #[arg(long, value_name = "NAME", default_value = "paper")]
    thresholds: Thresholds,
    #[command(flatten)]
    called: Called,
}

/// Show what it was loaded with, and every connection that uses it, by the paper's names.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg kernel status
  thalweg kernel status --json \\
    | jq '.connections[] | select(.delay_on) | .peer'")]
struct Show {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    called: Called,
}

/// Take its name away at once; connections that are open keep it until they end.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg kernel unload")]
struct Unload {
    #[command(flatten)]
    called: Called,
}

#[derive(clap::Args)]
struct Called {
    /// What it is called, 1 to 15 letters, digits and underscores
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
            say(&if json { told(&name, &status).to_string() } else { text(&name, &status) })
        }
        Verb::Unload(args) => {
            let name = args.called.name;
            say(&gone(&name, &thalweg_kernel::unload(&name).map_err(|error| failed(&error))?))
        }
    }
}

fn load(args: Load) -> Result<(), Failure> {
    let Load { rate, port: ports, thresholds, called: Called { name } } = args;
    if let Some(port) = twice(&ports) {
        return Err(Failure::Usage(format!("kernel: --port {port} is given twice")));
    }
    let thresholds = match thresholds {
        Thresholds::Paper => tcp_stream::Thresholds::Paper,
        Thresholds::Vegas => tcp_stream::Thresholds::Vegas,
    };
    let loaded = thalweg_kernel::load(&name, &Settings { rate, thresholds, ports });
    say(&here(&name, &loaded.map_err(|error| failed(&error))?))
}

/// The first port that comes again.
fn twice(ports: &[(u16, Rate)]) -> Option<u16> {
    let mut numbers: Vec<u16> = ports.iter().map(|(port, _)| *port).collect();
    numbers.sort_unstable();
    numbers.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

fn choosing(name: &str) -> String {
    format!("sysctl -w net.ipv4.tcp_congestion_control={name}")
}

/// What a load has done.
fn here(name: &Name, loaded: &Loaded) -> String {
    match &loaded.renewed {
        None => format!("{name} is loaded, for whoever chooses it: {}", choosing(name.as_str())),
        Some(Ok(())) => {
            format!("{name} is loaded, and the default here (sysctl) in place of the one that was unloaded")
        }
        Some(Err(why)) => {
            let choosing = choosing(name.as_str());
            format!("{name} is loaded, but the default here is still the one that was unloaded ({why}): {choosing}")
        }
    }
}

/// What an unload has left.
fn gone(name: &Name, unloaded: &Unloaded) -> String {
    let kept = match unloaded.open {
        0 => "no open connection keeps it".to_owned(),
        1 => "1 open connection keeps it until it ends".to_owned(),
        open => format!("{open} open connections keep it until they end"),
    };
    let default = unloaded.instead.as_ref().map(|other| {
        format!("\nnew connections here still get it, since it is the default (sysctl): {}", choosing(other))
    });
    format!("{name} is gone; {kept}{}", default.unwrap_or_default())
}

fn failed(error: &Error) -> Failure {
    Failure::Failed(format!("kernel: {error}"))
}

fn say(text: &str) -> Result<(), Failure> {
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
        false => Err(format!("it must be between 1bit and {FASTEST}")),
    }
}

fn port(text: &str) -> Result<(u16, Rate), String> {
    let (port, fast) = text.split_once('=').ok_or("it must be PORT=RATE, as in 8080=8mbit")?;
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

fn told(name: &Name, status: &Status) -> Value {
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
    fn a_connection_is_a_line_by_the_papers_names() {
        let lines = text(&Name::default(), &status());
        let expected = "tcp_stream: rate 3.6mbit, port 80 8mbit, thresholds paper, 1 open\n\
             10.0.0.1:80 [2001:db8::1]:5000 rate:8mbit lwnd:9.50 dwnd:7 cap:- ssthresh:inf Diff:1.25 tau:30ms rtt:- delay_on:1";
        assert_eq!(lines, expected);
        let told = told(&Name::default(), &status());
        assert_eq!((&told["ports"]["80"], &told["connections"][0]["swnd"]), (&json!(8_000_000), &json!(16.5)));
        assert_eq!(told["connections"][0]["ssthresh"], Value::Null);
    }

    #[test]
    fn whoever_unloads_reads_who_keeps_it_and_what_to_type() {
        let gone = |open, instead: Option<&str>| {
            gone(&Name::default(), &Unloaded { open, instead: instead.map(str::to_owned) })
        };
        assert_eq!(gone(0, None), "tcp_stream is gone; no open connection keeps it");
        assert_eq!(gone(1, None), "tcp_stream is gone; 1 open connection keeps it until it ends");
        let expected = "tcp_stream is gone; 2 open connections keep it until they end\n\
             new connections here still get it, since it is the default (sysctl): sysctl -w net.ipv4.tcp_congestion_control=cubic";
        assert_eq!(gone(2, Some("cubic")), expected);
    }

    #[test]
    fn whoever_loads_reads_how_to_choose_it_unless_it_is_chosen() {
        let here = |renewed| here(&Name::default(), &Loaded { renewed });
        let expected =
            "tcp_stream is loaded, for whoever chooses it: sysctl -w net.ipv4.tcp_congestion_control=tcp_stream";
        assert_eq!(here(None), expected);
        assert!(here(Some(Ok(()))).ends_with("the default here (sysctl) in place of the one that was unloaded"));
        assert!(here(Some(Err(Error::NotRoot))).contains("still the one that was unloaded (it needs root): sysctl -w"));
    }

    #[test]
    fn rates_and_ports_are_read_as_people_write_them() {
        assert_eq!(port("8080=3.6mbit"), Ok((8080, Rate::from_bps(3_600_000))));
        for bad in ["8080", "0=1mbit", "65536=1mbit", "x=1mbit", "80=fast", "80=0mbit", "80=1001gbit"] {
            assert!(port(bad).is_err(), "{bad}");
        }
        let ports = |numbers: &[u16]| numbers.iter().map(|port| (*port, Rate::from_mbps(1))).collect::<Vec<_>>();
        assert_eq!((twice(&ports(&[80, 81])), twice(&ports(&[80, 81, 80]))), (None, Some(80)));
    }
}

//! `thalweg emulate`: other programs' packets, through a described path.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use thalweg_core::time::Time;
use thalweg_lab::node::wifi::{Cell, Link, LinkCounters};
use thalweg_lab::scenario::Scenario;
use thalweg_net::emulate::{Direction, Emulator, MAX_SOCKETS};
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;
use thalweg_net::reporter::{Line, Readings};
use thalweg_net::signal::Stop;
use thalweg_net::terminal::escaped;
use thalweg_net::tun::Name;
use thalweg_net::udp::comes_in;

use crate::built_in;
use crate::failure::Failure;
use crate::stream::reporter;

/// The value of `side` in the JSON of this verb.
const SIDE: &str = "emulate";

/// Emulate a path: rate, queue, delay, jitter, loss, cross traffic, recordings.
///
/// With --listen and --to, the emulator relays UDP: datagrams to --listen take the forward direction of the path to
/// --to, and answers take the reverse direction to their client. With --tun and --tun-to, as root, the emulator
/// connects two TUN devices: IP packets from --tun take the forward direction to --tun-to, packets from --tun-to the
/// reverse direction. If the path has a Wi-Fi cell, each station has a pair of --listen and --to, or an address at
/// --tun-to. The emulator runs until SIGINT or SIGTERM, shows its counters on standard error, and ends with a
/// summary.
#[derive(clap::Args)]
#[command(after_help = "Example: a receiver at port 6000, reached over the demo's link through port 6001
  thalweg emulate demo --listen 127.0.0.1:6001 --to 127.0.0.1:6000

Example: receivers at the three stations of one Wi-Fi cell, each reached through a port of its own
  thalweg emulate scenarios/wifi.toml --listen :6001 --to 127.0.0.1:6000 \\
      --listen :7001 --to 127.0.0.1:7000 --listen :8001 --to 127.0.0.1:8000

Example: a cable between two network namespaces; all commands: docs/emulate.md
  thalweg emulate demo --tun near --tun-to far")]
pub(crate) struct Args {
    /// Path to emulate: a TOML file, or one of the built-in scenarios `demo`, `gilbert` and `share`.
    /// scenarios/emulate-example.toml shows everything that a file can have.
    #[arg(value_name = "PATH.toml")]
    path: PathBuf,
    /// UDP address at which to accept clients; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4 and
    /// IPv6. Given several times, each with a --to, all share the path.
    #[arg(long, value_name = "HOST:PORT", requires = "to", required_unless_present = "tun")]
    listen: Vec<Host>,
    /// UDP address to which the datagrams of clients at the --listen of the same place are relayed.
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    to: Vec<Host>,
    /// TUN device of the client's end, created if it does not exist.
    #[arg(long, value_name = "DEVICE", requires = "tun_to", conflicts_with_all = ["listen", "to"])]
    tun: Option<Name>,
    /// TUN device of the server's end, created if it does not exist.
    #[arg(long, value_name = "DEVICE", requires = "tun")]
    tun_to: Option<Name>,
    /// Seed of all random decisions, instead of the file's.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON on standard error instead of text: one object per second.
    #[arg(long)]
    json: bool,
    /// Print only errors on standard error.
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let path = &args.path;
    let scenario =
        built_in::scenario(path, args.seed).map_err(|why| failed(format!("{why}{}", built_in::hint(path))))?;
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot handle signals: {error}")))?;
    let (mut emulator, opening) = open(&args, scenario)?;
    let mut reporter = reporter(SIDE, args.json, args.quiet);
    opening.iter().for_each(|report| reporter.report(Time::ZERO, report));
    let tick = |emulator: &Emulator| reporter.tick(emulator.now(), &[Status(emulator)]);
    emulator.run(&stop, tick).map_err(failed)?;
    reporter.end(emulator.now(), &[Status(&emulator)]);
    emulator.check().map_err(failed)
}

fn failed(why: impl Display) -> Failure {
    Failure::Failed(format!("emulate: {why}"))
}

/// The emulator that was asked for, and its opening reports: one for each pair of addresses, or of devices.
fn open(args: &Args, scenario: Scenario) -> Result<(Emulator, Vec<Report>), Failure> {
    let (path, seed) = (args.path.display(), scenario.seed);
    if let (Some(near), Some(far)) = (&args.tun, &args.tun_to) {
        if near == far {
            return Err(Failure::Usage(format!("emulate: --tun and --tun-to are both {near}; name two devices")));
        }
        let emulator = Emulator::cable(near, far, scenario).map_err(failed)?;
        let opening = Report::new("listening", format!("emulate: {near} -> {path} (seed {seed}) -> {far}"));
        return Ok((emulator, vec![opening.with("tun", near).with("tun_to", far).with("seed", seed)]));
    }
    let pairs = pairs(args, &scenario)?;
    let emulator = Emulator::relay(&pairs, scenario).map_err(failed)?;
    let openings = emulator.local().into_iter().zip(&pairs).map(|(at, (_, to))| {
        let opening = Report::new("listening", format!("emulate: {at} -> {path} (seed {seed}) -> {to}"));
        opening.with("address", at).with("to", to).with("seed", seed)
    });
    let openings = openings.collect();
    Ok((emulator, openings))
}

/// The addresses of each pair of --listen and --to.
fn pairs(args: &Args, scenario: &Scenario) -> Result<Vec<(SocketAddr, SocketAddr)>, Failure> {
    let usage = |why: String| Failure::Usage(format!("emulate: {why}"));
    let (listens, tos) = (args.listen.len(), args.to.len());
    if listens != tos || listens == 0 {
        return Err(usage(format!("--listen: given {listens} times, but --to {tos} times; give each --listen a --to")));
    }
    if let Some(stations) = scenario.cell.as_ref().map(|cell| cell.stations().len()).filter(|all| *all != listens) {
        let path = args.path.display();
        return Err(usage(format!(
            "--listen: {listens} with its --to, but {path} has {stations} stations; give one for each, in its order"
        )));
    }
    if listens > MAX_SOCKETS / 2 {
        return Err(usage(format!("--listen: given {listens} times, expected at most {}", MAX_SOCKETS / 2)));
    }
    let resolve = |host: &Host| host.resolve().map_err(|error| failed(format!("cannot resolve {host}: {error}")));
    let resolved = args.listen.iter().zip(&args.to).map(|(listen, to)| Ok((resolve(listen)?, resolve(to)?)));
    let pairs: Vec<(SocketAddr, SocketAddr)> = resolved.collect::<Result<_, Failure>>()?;
    for (_, to) in &pairs {
        if to.ip().is_unspecified() || to.port() == 0 {
            return Err(usage(format!("--to {to}: needs a host and a port, as in 127.0.0.1:6000")));
        }
        if let Some((listen, _)) = pairs.iter().find(|(listen, _)| comes_in(*listen, *to)) {
            return Err(usage(format!("--to {to}: leads back to --listen {listen}; use another port")));
        }
    }
    Ok(pairs)
}

/// The readings of every second.
struct Status<'a>(&'a Emulator);

impl Readings for Status<'_> {
    fn json(&self, at: Time) -> String {
        let Status(emulator) = self;
        let mut status = json!({
            "t": at.as_secs_f64(),
            "side": SIDE,
            "forward": direction(emulator.forward()),
            "reverse": direction(emulator.reverse()),
        });
        if let Some(cell) = emulator.cell() {
            status["stations"] = stations(cell);
        }
        if let Some(clients) = emulator.clients() {
            status["clients"] = clients.into();
        }
        status.to_string()
    }

    fn line(&self, at: Time) -> Line {
        let Status(emulator) = self;
        let mut line = Line::at(at);
        if let Some(clients) = emulator.clients() {
            line.push(3, format!("clients {clients}"));
        }
        for (name, direction) in [("forward", emulator.forward()), ("reverse", emulator.reverse())] {
            line.push(
                1,
                format!(
                    "{name} {} in, {} out, {} queued",
                    direction.received(),
                    direction.delivered(),
                    direction.inside()
                ),
            );
            for account in direction.accounts().filter(|account| account.tally.dropped.of_ends > 0) {
                line.push(2, format!("{} lost by {}", account.tally.dropped.of_ends, escaped(account.name)));
            }
        }
        line
    }

    fn last(&self, _at: Time) -> String {
        summary(self.0)
    }
}

fn direction(direction: Direction<'_>) -> Value {
    let elements: Map<String, Value> = direction
        .accounts()
        .map(|account| {
            let tally = account.tally;
            let numbers = json!({
                "received_packets_total": account.received,
                "sent_packets_total": account.sent,
                "lost_packets_total": tally.dropped.of_ends,
                "lost_cross_packets_total": tally.dropped.of_cross,
                "added_packets_total": tally.added,
                "changed_packets_total": tally.changed,
                "queued_packets": tally.held,
            });
            (account.name.to_owned(), numbers)
        })
        .collect();
    json!({
        "received_packets_total": direction.received(),
        "sent_packets_total": direction.delivered(),
        "refused_packets_total": direction.refused(),
        "queued_packets": direction.inside(),
        "elements": elements,
    })
}

/// The counters of each station of a cell, by name.
fn stations(cell: &Cell) -> Value {
    let link = |link| {
        let LinkCounters { offered, given_up, delivered, bytes, collisions, airtime } = cell.counters(link);
        json!({
            "received_packets_total": offered.packets,
            "sent_packets_total": delivered,
            "sent_bytes_total": bytes.0,
            "lost_packets_total": offered.dropped,
            "given_up_packets_total": given_up,
            "collisions_total": collisions,
            "airtime_seconds_total": airtime.as_secs_f64(),
        })
    };
    let stations = cell.stations().iter().enumerate().map(|(number, station)| {
        (station.name.clone(), json!({ "down": link(Link::Down(number)), "up": link(Link::Up(number)) }))
    });
    Value::Object(stations.collect())
}

fn summary(emulator: &Emulator) -> String {
    let mut text = String::new();
    for (name, direction) in [("forward", emulator.forward()), ("reverse", emulator.reverse())] {
        let (received, delivered, inside) = (direction.received(), direction.delivered(), direction.inside());
        text += &format!("{name}: {received} packets in, {delivered} out, {inside} in flight\n");
        for account in direction.accounts() {
            let (tally, lost) = (account.tally, account.tally.dropped);
            let numbers = [
                (lost.of_ends, "lost"),
                (lost.of_cross, "lost of cross traffic"),
                (tally.added, "added"),
                (tally.changed, "changed"),
            ];
            text += &format!("  {:16} {} in", escaped(account.name), account.received);
            for (count, what) in numbers.into_iter().filter(|(count, _)| *count > 0) {
                text += &format!(", {count} {what}");
            }
            text += "\n";
        }
        if direction.refused() > 0 {
            text += &format!("  {} refused: the emulator was full\n", direction.refused());
        }
    }
    for (number, station) in emulator.cell().into_iter().flat_map(|cell| cell.stations().iter().enumerate()) {
        text += &format!("station {}:\n", escaped(&station.name));
        let counters =
            emulator.cell().map(|cell| [Link::Down(number), Link::Up(number)].map(|link| cell.counters(link)));
        for (way, link) in ["down", "up"].into_iter().zip(counters.into_iter().flatten()) {
            let LinkCounters { offered, delivered, collisions, .. } = link;
            text += &format!(
                "  {way:16} {} in, {delivered} out, {} lost, {collisions} collisions\n",
                offered.packets, offered.dropped
            );
        }
    }
    text.trim_end().to_owned()
}

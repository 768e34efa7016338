//! `thalweg emulate`: other programs' packets, through a described path.

use std::fmt::Display;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use thalweg_core::time::Time;
use thalweg_lab::scenario::Scenario;
use thalweg_net::emulate::{Emulator, Way};
use thalweg_net::endpoint::Host;
use thalweg_net::report::Report;
use thalweg_net::reporter::{Line, Readings};
use thalweg_net::signal::Stop;
use thalweg_net::terminal::escaped;
use thalweg_net::tun::Name;
use thalweg_net::udp::comes_in;

use crate::Failure;
use crate::built_in;
use crate::stream::reporter;

/// What it is called in its JSON.
const SIDE: &str = "emulate";

/// Carry packets over a described path: rate, queue, delay, jitter, loss, cross traffic, recordings.
///
/// A relay of UDP: whatever comes to --listen takes the path's forward direction and goes to --to; answers take the
/// reverse direction back to the client that was asked for. Or, as root, a cable between two TUN devices: IP packets
/// from --tun take the forward direction to --tun-to, and those from there the reverse one. It runs until SIGINT or
/// SIGTERM, tells on standard error how it goes, and adds up at the end.
#[derive(clap::Args)]
#[command(after_help = "Example: a receiver at port 6000 seen through the demo's link at port 6001
  thalweg emulate demo --listen 127.0.0.1:6001 --to 127.0.0.1:6000

Example: a cable between two network namespaces; docs/emulate.md has all of its lines
  thalweg emulate demo --tun near --tun-to far")]
pub(crate) struct Args {
    /// The path: a file, of which scenarios/emulate-example.toml shows everything that can be in it, or `demo` or
    /// `gilbert`, which come with Thalweg.
    #[arg(value_name = "PATH.toml")]
    path: PathBuf,
    /// Where clients send to; `:PORT` is any IPv4 address, `[::]:PORT` any at all.
    #[arg(long, value_name = "HOST:PORT", requires = "to", required_unless_present = "tun")]
    listen: Option<Host>,
    /// Where their datagrams go.
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    to: Option<Host>,
    /// TUN device of the client's side, which is made if there is none of that name.
    #[arg(long, value_name = "DEVICE", requires = "tun_to", conflicts_with_all = ["listen", "to"])]
    tun: Option<Name>,
    /// TUN device of the server's side, likewise.
    #[arg(long, value_name = "DEVICE", requires = "tun")]
    tun_to: Option<Name>,
    /// Seed of everything random, instead of the file's.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// One JSON object a second on standard error instead of text.
    #[arg(long)]
    json: bool,
    /// Nothing on standard error but failures.
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let path = &args.path;
    let scenario =
        built_in::scenario(path, args.seed).map_err(|why| failed(format!("{why}{}", built_in::hint(path))))?;
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot wait for signals: {error}")))?;
    let (mut emulator, opening) = open(&args, scenario)?;
    let mut reporter = reporter(SIDE, args.json, args.quiet);
    reporter.report(Time::ZERO, &opening);
    let tick = |emulator: &Emulator| reporter.tick(emulator.now(), &Status(emulator));
    emulator.run(&stop, tick).map_err(failed)?;
    reporter.end(emulator.now(), &Status(&emulator));
    for way in [emulator.forward(), emulator.reverse()] {
        way.check().map_err(failed)?;
    }
    Ok(())
}

fn failed(why: impl Display) -> Failure {
    Failure::Failed(format!("emulate: {why}"))
}

/// The emulator that was asked for, and what it says first.
fn open(args: &Args, scenario: Scenario) -> Result<(Emulator, Report), Failure> {
    let (path, seed) = (args.path.display(), scenario.seed);
    if let (Some(near), Some(far)) = (&args.tun, &args.tun_to) {
        if near == far {
            return Err(Failure::Usage(format!("emulate: --tun and --tun-to both name {near}")));
        }
        let emulator = Emulator::cable(near, far, scenario).map_err(failed)?;
        let opening = Report::new("listening", format!("emulate: {near} -> {path} (seed {seed}) -> {far}"));
        return Ok((emulator, opening.with("tun", near).with("tun_to", far).with("seed", seed)));
    }
    let (Some(listen), Some(to)) = (&args.listen, &args.to) else {
        return Err(Failure::Usage("emulate: neither --listen nor --tun".into()));
    };
    let resolve = |host: &Host| host.resolve().map_err(|error| failed(format!("no address for {host}: {error}")));
    let (listen, to) = (resolve(listen)?, resolve(to)?);
    if to.ip().is_unspecified() || to.port() == 0 {
        return Err(Failure::Usage(format!("emulate: --to {to} names no host or no port")));
    }
    if comes_in(listen, to) {
        return Err(Failure::Usage(format!("emulate: what leaves for --to {to} would come in at --listen {listen}")));
    }
    let emulator = Emulator::relay(listen, to, scenario).map_err(failed)?;
    let at = emulator.local().unwrap_or(listen);
    let opening = Report::new("listening", format!("emulate: {at} -> {path} (seed {seed}) -> {to}"));
    Ok((emulator, opening.with("address", at).with("to", to).with("seed", seed)))
}

/// What it tells every second.
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
        for (name, way) in [("forward", emulator.forward()), ("reverse", emulator.reverse())] {
            line.push(1, format!("{name} {} in, {} out, {} queued", way.received(), way.delivered(), way.inside()));
            for account in way.accounts().filter(|account| account.tally.dropped.of_ends > 0) {
                line.push(2, format!("{} lost by {}", account.tally.dropped.of_ends, escaped(account.name)));
            }
        }
        line
    }

    fn last(&self, _at: Time) -> String {
        summary(self.0)
    }
}

fn direction(way: &Way) -> Value {
    let elements: Map<String, Value> = way
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
        "received_packets_total": way.received(),
        "sent_packets_total": way.delivered(),
        "refused_packets_total": way.refused(),
        "queued_packets": way.inside(),
        "elements": elements,
    })
}

fn summary(emulator: &Emulator) -> String {
    let mut text = String::new();
    for (name, way) in [("forward", emulator.forward()), ("reverse", emulator.reverse())] {
        let (received, delivered, inside) = (way.received(), way.delivered(), way.inside());
        text += &format!("{name}: {received} packets in, {delivered} out, {inside} left on the path\n");
        for account in way.accounts() {
            let (tally, lost) = (account.tally, account.tally.dropped);
            let numbers = [
                (lost.of_ends, "lost"),
                (lost.of_cross, "of cross traffic lost"),
                (tally.added, "added"),
                (tally.changed, "changed"),
            ];
            text += &format!("  {:16} {} in", escaped(account.name), account.received);
            for (count, what) in numbers.into_iter().filter(|(count, _)| *count > 0) {
                text += &format!(", {count} {what}");
            }
            text += "\n";
        }
        if way.refused() > 0 {
            text += &format!("  {} refused: more packets at once than the emulator holds\n", way.refused());
        }
    }
    text.trim_end().to_owned()
}

//! `thalweg share`.

mod config;
mod explain;
mod options;

use std::path::{Path, PathBuf};

use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_net::endpoint::{Plan, Plans, ShareEndpoint};
use thalweg_net::error::Error;
use thalweg_net::report::Report;
use thalweg_net::signal::{Reload, Stop};
use thalweg_net::udp::{Socket, unspecified};

use crate::failure::Failure;
use crate::stream::{Reporting, Start};
use config::Configuration;

/// Send several live streams from one process, which share a path by what each needs.
#[derive(clap::Args)]
#[command(after_help = "\
CONFIG.toml:
  latency = \"150ms\"         # an option of send, here for all streams
  coupling = \"measured\"     # fixed, measured or rfc8699
  norm = \"sum\"              # of the greediness: sum, max or min
  bind = \"192.0.2.1:0\"      # local address and port to send from
  [[stream]]
  name = \"tv\"
  input = \"udp://127.0.0.1:5001\"
  to = \"192.0.2.10:6000\"
  need = \"9mbit\"            # bit rate; or screen = \"1920x1080\"
  most = \"20mbit\"           # highest useful bit rate; default: need
  [[stream]]
  name = \"phone\"
  input = \"udp://127.0.0.1:5002\"
  to = \"192.0.2.11:6000\"
  screen = \"640x480\"
  block = \"30ms\"            # an option of send, here for this stream

Examples:
  thalweg share home.toml
  thalweg share home.toml --explain --capacity 18mbit --rtt 25ms
  kill -HUP PID                # reads the file again")]
pub(crate) struct Args {
    /// The streams. After SIGHUP the file is read again; if it is invalid, the previous configuration stays
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// Print the parameters and the expected rate of each stream on a path, and send nothing. Needs --capacity and --rtt
    #[arg(long, requires_all = ["capacity", "rtt"])]
    explain: bool,
    /// Rate of that path, as in 18mbit
    #[arg(long, value_name = "RATE", requires = "explain")]
    capacity: Option<Rate>,
    /// Round trip of that path, as in 25ms
    #[arg(long, value_name = "TIME", requires = "explain")]
    rtt: Option<Span>,
    #[command(flatten)]
    reporting: Reporting,
}

/// The configuration in a file, which is read again after SIGHUP.
#[derive(Debug)]
struct File {
    path: PathBuf,
    /// The plan that was read last, until it is taken.
    next: Option<Plan>,
    reload: Reload,
    /// True if the socket is for IPv4.
    is_ipv4: bool,
}

impl Plans for File {
    fn poll(&mut self) -> Option<Result<Plan, Error>> {
        if let Some(plan) = self.next.take() {
            return Some(Ok(plan));
        }
        self.reload.take().then(|| {
            let text = |failure: Failure| match failure {
                Failure::Failed(text) | Failure::Usage(text) => Error::new("reload", text),
                Failure::Child(_) | Failure::Unread => Error::new("reload", "failed"),
            };
            let plan = read(&self.path).map_err(text)?.plan;
            match plan.streams.iter().find(|stream| stream.config.to.is_ipv4() != self.is_ipv4) {
                Some(stream) => {
                    Err(Error::new(format!("reload: stream '{}'", stream.name), "another IP version than before"))
                }
                None => Ok(plan),
            }
        })
    }
}

fn read(path: &Path) -> Result<Configuration, Failure> {
    let tried = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(Error::io(&tried))?;
    let named = |failure| match failure {
        Failure::Usage(text) => Failure::Usage(format!("share: {tried}: {text}")),
        Failure::Failed(text) => Failure::Failed(format!("{tried}: {text}")),
        other => other,
    };
    Configuration::parse(&text).map_err(named)
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let Configuration { plan, bind } = read(&args.config)?;
    if let (Some(capacity), Some(rtt)) = (args.capacity, args.rtt) {
        return explain::print(&plan, capacity, rtt);
    }
    let first = plan.streams.first().map(|stream| stream.config.to);
    let Some(to) = first else { return Err(Failure::Usage("share: no stream".to_owned())) };
    let from = match &bind {
        Some(bind) => bind.resolve().map_err(Error::io(format!("sending from {bind}")))?,
        None => unspecified(to),
    };
    if from.is_ipv4() != to.is_ipv4() {
        return Err(Failure::Usage(format!("share: bind: {from} cannot reach {to}: one is IPv4, one IPv6")));
    }
    let reload = Reload::on_hangup().map_err(Error::io("handling signals"))?;
    let start = Start::with(Stop::on_signal_but_hangup)?;
    let socket = Socket::bind(from).map_err(Error::io(format!("sending from {from}")))?;
    let names: Vec<&str> = plan.streams.iter().map(|stream| stream.name.as_str()).collect();
    let text = format!(
        "sharing {} streams from {}, coupling {}: {}",
        names.len(),
        socket.local(),
        plan.coupling,
        names.join(", ")
    );
    let opening = Report::new("sharing", text)
        .with_number("streams", names.len() as f64)
        .with("from", socket.local())
        .with("coupling", plan.coupling)
        .with("norm", plan.norm);
    let file = File { path: args.config, next: Some(plan), reload, is_ipv4: to.is_ipv4() };
    let endpoint = ShareEndpoint::new(start.clock.now(), &start.rng, Box::new(file))?;
    start.run(endpoint, socket, &args.reporting, opening)?;
    Ok(())
}

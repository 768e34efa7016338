//! Options that `tunnel` and `pipe` share: an encrypted path to the peer, and its rates.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use thalweg_core::law::{rate, registry, schedule};
use thalweg_core::session::secure;
use thalweg_core::session::tunnel::{self, Config, Tunnel};
use thalweg_core::session::{MAX_DATAGRAM, stream};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_net::endpoint::{LocalSide, TunnelEndpoint};
use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;
use thalweg_net::udp::{Socket, unspecified};

use crate::encryption::{self, keys};
use crate::failure::Failure;
use crate::stream::{Reporting, Start};

/// The endpoint that listens.
#[derive(clap::Args)]
pub(crate) struct Listen {
    /// UDP address at which to accept clients; `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4 and
    /// IPv6
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Host,
}

/// The endpoint that connects.
#[derive(clap::Args)]
pub(crate) struct Server {
    /// UDP address of the server; of a name with several addresses, the first IPv4 one is used, or else the first
    #[arg(value_name = "HOST:PORT")]
    pub(crate) server: Host,
}

/// The path between both endpoints.
#[derive(clap::Args)]
#[command(next_help_heading = "Path")]
pub(crate) struct PathOptions {
    /// Key file, as `thalweg keygen FILE` writes it: the same for both peers, or with --static one for each
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[arg(long, value_name = "LAW", help = rate_help(), default_value_t)]
    rate: rate::Choice,
    #[arg(long, value_name = "LAW", help = schedule_help(), default_value_t)]
    schedule: schedule::Choice,
    /// Limit of everything that is sent, as in 40mbit; acknowledgements come before data, up to half of the limit
    #[arg(long, value_name = "RATE")]
    max_rate: Option<Rate>,
    /// Maximum number of redundant packets per useful packet, 0 to 10. A packet that is declared lost is retransmitted
    /// in any case, even if only its acknowledgement was lost
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, default_value_t = Config::default().max_overhead, value_parser = overhead)]
    max_overhead: f64,
    /// Longest datagram, in bytes without UDP and IP headers, 256 to 1500; the smaller value of the two peers applies
    #[arg(long, value_name = "BYTES", default_value_t = 1200, value_parser = clap::value_parser!(u16).range(256..=MAX_DATAGRAM as i64))]
    mtu: u16,
    /// Time for which connections wait for the peer after it has been silent for 15 s, 1s to 1440min (a day)
    #[arg(long, value_name = "TIME", default_value_t = Config::default().resume, value_parser = patience)]
    patience: Span,
}

/// The help of `--rate`.
fn rate_help() -> String {
    format!("Rate law: {}", registry::help(rate::Choice::anywhere()))
}

/// The help of `--schedule`.
fn schedule_help() -> String {
    let laws = registry::help(schedule::Choice::anywhere());
    format!("Schedule, which determines what each packet carries: {laws}. Each peer chooses for what it sends")
}

fn overhead(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=10.0).contains(share));
    share.ok_or_else(|| "must be between 0 and 10".to_owned())
}

fn patience(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    match (Span::from_secs(1)..=Span::from_secs(86_400)).contains(&span) {
        true => Ok(span),
        false => Err("must be between 1s and 1440min".to_owned()),
    }
}

/// A tunnel that is ready to run.
pub(crate) struct Ready {
    start: Start,
    tunnel: Tunnel,
    socket: Socket,
    peer: Option<SocketAddr>,
}

impl PathOptions {
    /// Listens for peers at an address; the buffers of all of them together take at most `memory`.
    pub(crate) fn listen(&self, listen: &Listen, memory: Bytes) -> Result<Ready, Failure> {
        let (config, key) = (Config { memory, ..self.config()? }, encryption::read(&self.key_file)?);
        let start = Start::now()?;
        let tried = format!("listening on {}", listen.listen);
        let address = listen.listen.resolve().map_err(Error::io(&tried))?;
        let socket = Socket::bind(address).map_err(Error::io(&tried))?;
        let tunnel = Tunnel::serve(config, &key, keys()?).map_err(|error| self.wrong(&error))?;
        Ok(Ready { start, tunnel, socket, peer: None })
    }

    /// Prepares a connection to the peer.
    pub(crate) fn connect(&self, server: &Server) -> Result<Ready, Failure> {
        let Server { server } = server;
        if server.name.is_empty() || server.port == 0 {
            return Err(Failure::Usage(format!("{server}: needs a host and a port, as in HOST:7000")));
        }
        let (config, key) = (self.config()?, encryption::read(&self.key_file)?);
        let start = Start::now()?;
        let to = server.resolve_called().map_err(Error::io(format!("looking up {server}")))?;
        let socket = Socket::bind(unspecified(to)).map_err(Error::io(format!("connecting to {to}")))?;
        let now = start.clock.now();
        let tunnel = Tunnel::connect(config, &key, to, now, keys()?).map_err(|error| self.wrong(&error))?;
        Ok(Ready { start, tunnel, socket, peer: Some(to) })
    }

    fn config(&self) -> Result<Config, Failure> {
        let default = Config::default();
        let config = Config {
            secure: secure::Config { datagram: self.mtu.into(), ..default.secure },
            stream: stream::Config { frame: usize::from(self.mtu) - secure::OVERHEAD, ..default.stream },
            rate: self.rate.clone(),
            schedule: self.schedule.clone(),
            max_rate: self.max_rate,
            max_overhead: self.max_overhead,
            resume: self.patience,
            ..default
        };
        self.check_rates(config.rates()).map(|()| config)
    }

    fn check_rates(&self, rates: RangeInclusive<Rate>) -> Result<(), Failure> {
        for (option, rate) in [("--rate fixed:", self.rate.fixed()), ("--max-rate ", self.max_rate)] {
            if let Some(rate) = rate.filter(|rate| !rates.contains(rate)) {
                let (least, most) = (rates.start(), rates.end());
                let why = format!("must be between {least} (one packet of --mtu per second) and {most}");
                return Err(Failure::Usage(format!("{option}{rate}: {why}")));
            }
        }
        Ok(())
    }

    fn wrong(&self, error: &tunnel::Error) -> Failure {
        match error {
            tunnel::Error::Key(error) => encryption::wrong(&self.key_file, error),
            tunnel::Error::Config(error) => Failure::Usage(error.to_string()),
        }
    }
}

impl Ready {
    /// The local address.
    pub(crate) fn local(&self) -> SocketAddr {
        self.socket.local()
    }

    /// Carries the data of `local` through the tunnel until the end; `opening` is the first line that users see.
    pub(crate) fn run<O: LocalSide>(self, local: O, reporting: &Reporting, opening: Report) -> Result<(), Failure> {
        let Ready { start, tunnel, socket, peer } = self;
        let tried = peer.map_or_else(|| format!("listening on {}", socket.local()), |to| format!("connecting to {to}"));
        let endpoint = start.run(TunnelEndpoint::new(tunnel, local)?, socket, reporting, opening)?;
        match endpoint.failure() {
            Some(why) => Err(Failure::Failed(format!("{tried}: {why}"))),
            None => Ok(()),
        }
    }
}

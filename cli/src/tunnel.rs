//! What `tunnel` and `pipe` ask alike: an encrypted way to the other side, and how fast it may be.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use thalweg_core::law::rate::Choice;
use thalweg_core::session::secure::{self, Key};
use thalweg_core::session::tunnel::{self, Config, Tunnel};
use thalweg_core::session::{MAX_DATAGRAM, stream};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_net::endpoint::Host;
use thalweg_net::error::Error;
use thalweg_net::report::Report;
use thalweg_net::station::{Carrying, Outside};
use thalweg_net::udp::{Socket, unspecified};
use thalweg_net::{entropy, key_file};

use crate::Failure;
use crate::stream::{Reporting, Start};

/// The side that waits.
#[derive(clap::Args)]
pub(crate) struct Listen {
    /// Where to listen for the other side (UDP); `:PORT` is any IPv4 address, `[::]:PORT` any at all
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Host,
}

/// The side that calls.
#[derive(clap::Args)]
pub(crate) struct Server {
    /// Where the other side listens (UDP); of a name's addresses the first of IPv4 is called, or else the first
    #[arg(value_name = "HOST:PORT")]
    pub(crate) server: Host,
}

/// The way between both sides.
#[derive(clap::Args)]
#[command(next_help_heading = "Path")]
pub(crate) struct Way {
    /// The key that both sides have; `thalweg keygen FILE` makes one
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// How fast to send: copa (as the queue bears; random loss does not slow it down), cubic or tfrc (as TCP does),
    /// newreno, linux-reno or vegas (older TCPs, for comparison), or fixed:RATE as in fixed:40mbit
    #[arg(long, value_name = "LAW", default_value_t = Choice::default())]
    rate: Choice,
    /// All that leaves stays below this, as in 40mbit; data makes room for acknowledgements, but never more than half
    #[arg(long, value_name = "RATE")]
    max_rate: Option<Rate>,
    /// Redundant packets for each useful one, at most; 0 to 10. A packet that counts as lost is retransmitted whatever this
    /// is, also where only its acknowledgement was lost
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, default_value_t = Config::default().max_overhead, value_parser = overhead)]
    max_overhead: f64,
    /// Longest datagram in bytes, without headers of UDP and IP, 256 to 1500; the smaller of both sides' wins
    #[arg(long, value_name = "BYTES", default_value_t = 1200, value_parser = clap::value_parser!(u16).range(256..=MAX_DATAGRAM as i64))]
    mtu: u16,
    /// Time for which connections wait for the other side once it has been silent for 15 s, 1s to 1440min (a day)
    #[arg(long, value_name = "TIME", default_value_t = Config::default().resume, value_parser = patience)]
    patience: Span,
}

fn overhead(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=10.0).contains(share));
    share.ok_or_else(|| "it must be between 0 and 10".to_owned())
}

fn patience(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    match (Span::from_secs(1)..=Span::from_secs(86_400)).contains(&span) {
        true => Ok(span),
        false => Err("it must be between 1s and 1440min".to_owned()),
    }
}

/// A tunnel that is ready to run.
pub(crate) struct Ready {
    start: Start,
    tunnel: Tunnel,
    socket: Socket,
    peer: Option<SocketAddr>,
}

impl Way {
    /// Waits for the other side at an address, and keeps no more for all who come than `memory`.
    pub(crate) fn listen(&self, listen: &Listen, memory: Bytes) -> Result<Ready, Failure> {
        let (config, key) = (Config { memory, ..self.config()? }, self.key()?);
        let start = Start::now()?;
        let tried = format!("listening on {}", listen.listen);
        let address = listen.listen.resolve().map_err(Error::io(&tried))?;
        let socket = Socket::bind(address).map_err(Error::io(&tried))?;
        let tunnel = Tunnel::serve(config, &key, keys()?).map_err(|error| self.wrong(&error))?;
        Ok(Ready { start, tunnel, socket, peer: None })
    }

    /// Calls the other side.
    pub(crate) fn connect(&self, server: &Server) -> Result<Ready, Failure> {
        let Server { server } = server;
        if server.name.is_empty() || server.port == 0 {
            return Err(Failure::Usage(format!("{server}: it needs a host and a port")));
        }
        let (config, key) = (self.config()?, self.key()?);
        let start = Start::now()?;
        let to = server.resolve_called().map_err(Error::io(format!("looking up {server}")))?;
        let socket = Socket::bind(unspecified(to)).map_err(Error::io(format!("connecting to {to}")))?;
        let now = start.clock.now();
        let tunnel = Tunnel::connect(config, &key, to, now, keys()?).map_err(|error| self.wrong(&error))?;
        Ok(Ready { start, tunnel, socket, peer: Some(to) })
    }

    fn key(&self) -> Result<Key, Failure> {
        key_file::guard_memory()?;
        Ok(key_file::read(&self.key_file)?)
    }

    fn config(&self) -> Result<Config, Failure> {
        let default = Config::default();
        let config = Config {
            secure: secure::Config { datagram: self.mtu.into(), ..default.secure },
            stream: stream::Config { frame: usize::from(self.mtu) - secure::OVERHEAD, ..default.stream },
            rate: self.rate,
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
                let why = format!("it must be between {least}, which is one packet of --mtu a second, and {most}");
                return Err(Failure::Usage(format!("{option}{rate}: {why}")));
            }
        }
        Ok(())
    }

    fn wrong(&self, error: &tunnel::Error) -> Failure {
        match error {
            tunnel::Error::Key(error) => Failure::Failed(format!("key file {}: {error}", self.key_file.display())),
            tunnel::Error::Config(error) => Failure::Usage(error.to_string()),
        }
    }
}

fn keys() -> Result<secure::Entropy, Failure> {
    Ok(entropy::keys().map_err(Error::io("drawing random keys"))?)
}

impl Ready {
    /// Where it stands.
    pub(crate) fn local(&self) -> SocketAddr {
        self.socket.local()
    }

    /// Carries what is `outside` through the tunnel until the end; `opening` is the first line that people see.
    pub(crate) fn run<O: Outside>(self, outside: O, reporting: &Reporting, opening: Report) -> Result<(), Failure> {
        let Ready { start, tunnel, socket, peer } = self;
        let tried = peer.map_or_else(|| format!("listening on {}", socket.local()), |to| format!("connecting to {to}"));
        let station = start.run(Carrying::new(tunnel, outside)?, socket, reporting, opening)?;
        match station.failure() {
            Some(why) => Err(Failure::Failed(format!("{tried}: {why}"))),
            None => Ok(()),
        }
    }
}

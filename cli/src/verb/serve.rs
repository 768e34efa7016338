//! `thalweg serve`: stored films for unmodified players, each connection at the rate of what it plays.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::ValueEnum;
use thalweg_core::probe::Probe;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_kernel::{Name, Settings};
use thalweg_net::clock::Clock;
use thalweg_net::endpoint::Host;
use thalweg_net::error::Error;
use thalweg_net::figures::Figures;
use thalweg_net::metrics;
use thalweg_net::poll::Interests;
use thalweg_net::report::Report;
use thalweg_net::reporter::{Line, Readings, Reporter, amount};
use thalweg_net::signal::Stop;
use thalweg_serve::law::{Choice, Lack};
use thalweg_serve::{Config, Event, Identity, Law, Ledger, Limits, Server, User, machine};

use crate::Failure;
use crate::stream::{Reporting, with_metrics};
use crate::verb::kernel::rate;

const SIDE: &str = "serve";
/// How often events are looked for, and the wish to end.
const LOOK: Span = Span::from_millis(100);
/// How often figures are told.
const TICK: Span = Span::from_secs(1);

/// Serve a folder of films to browsers and players, each connection at the rate of what it plays.
///
/// MP4 files, HLS and DASH over HTTP/1.1, under TLS also over HTTP/3, with byte ranges, and a page that lists and plays them.
/// How fast a film is played is read from it, of HLS and DASH for each rendition. What a film needs is taken as any TCP takes
/// it, more only where it is spare, by the law that `thalweg kernel load` gives the kernel; without it, what is sent over TCP
/// is paced, and that is said. QUIC has the law in any case.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg serve films --listen :8080          # and http://this.machine:8080
  thalweg serve films --listen 127.0.0.1:8080 --law paced --metrics 9100
  thalweg serve films --listen :8443 --tls    # https, HTTP/3
  thalweg serve films --listen :443 --cert all.pem --key key.pem --user www-data
  mpv http://this.machine:8080/some.mp4")]
pub(crate) struct Args {
    /// The folder; what is hidden in it, and links that lead out of it, are not served
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where to listen (TCP, under TLS also UDP); `:PORT` is any IPv4 address, `[::]:PORT` any at all
    #[arg(long, value_name = "HOST:PORT")]
    listen: Host,
    /// How fast films are played that do not tell it; up to 1000gbit
    #[arg(long, value_name = "RATE", default_value_t = Settings::default().rate, value_parser = rate)]
    rate: Rate,
    /// tcp-stream (the kernel's, as `thalweg kernel load` gives it, paced where there is none; over QUIC its own), paced (ten
    /// seconds of the film at once, then 5/4 of its rate) or system (whatever the system has, as fast as the path bears)
    #[arg(long, value_name = "LAW", default_value = "tcp-stream", hide_possible_values = true)]
    law: LawArg,
    /// What the kernel's law is called, as in `thalweg kernel load --name`
    #[arg(long, value_name = "NAME", default_value_t = Name::default())]
    name: Name,
    /// Whose rights it has once ports, keys and the law's rates are open, for whoever starts it as root; a user of /etc/passwd
    /// who may read the films
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// TLS, with a certificate and a key that are made for this run; their digests are told, to be compared or pinned
    #[arg(long, conflicts_with = "cert")]
    tls: bool,
    /// TLS, with this certificate and those that vouch for it (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// No downloads: `?download` is as nothing, and the page has no links for it
    #[arg(long)]
    no_download: bool,
    #[command(flatten)]
    reporting: Reporting,
}

#[derive(Clone, Copy, ValueEnum)]
enum LawArg {
    TcpStream,
    Paced,
    System,
}

impl From<LawArg> for Choice {
    fn from(arg: LawArg) -> Choice {
        match arg {
            LawArg::TcpStream => Choice::TcpStream,
            LawArg::Paced => Choice::Paced,
            LawArg::System => Choice::System,
        }
    }
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let Args { folder, listen, rate, law, name, user, tls, cert, key, no_download, reporting } = args;
    let stop = Stop::on_signal().map_err(Error::io("handling signals"))?;
    let failed = |why| Failure::Failed(format!("serve: {why}"));
    let identity = identity(tls, cert.zip(key), &listen).map_err(failed)?;
    let certificate = identity.as_ref().map(certificate);
    let warning = identity.as_ref().and_then(|identity| identity.warning(SystemTime::now()));
    let name_given = listen.name.clone();
    let listen = listen.resolve().map_err(Error::io(format!("serve: listening on {listen}")))?;
    let user = user.map(|user| User::find(&user)).transpose().map_err(failed)?;
    let metrics = reporting.server()?;
    let (law, lost) = Law::choose(Some(law.into()), &name);
    let (shown, quic_law) = (folder.display().to_string(), law.name_over_quic());
    let config =
        Config { folder, listen, law, identity, user, rate, downloads: !no_download, limits: Limits::default() };
    let server = Server::start(config).map_err(failed)?;
    let secure = certificate.is_some();
    let scheme = if secure { "https" } else { "http" };
    let mut opening = opening(&server, scheme, &name_given, &shown);
    if secure {
        opening = opening.text_with(&format!(" over TCP and {quic_law} over QUIC")).with("quic_law", quic_law);
    }
    let (clock, mut reporter) = (Clock::start(), reporting.reporter(SIDE));
    reporter.report(clock.now(), &with_metrics(opening, metrics.as_ref()));
    if let Some(certificate) = certificate {
        reporter.report(clock.now(), &certificate);
    }
    if let Some(why) = warning {
        reporter.report(clock.now(), &Report::warning(format!("the certificate: {why}")));
    }
    if let Some(mut lack) = lost {
        if secure {
            lack.why += "; over QUIC they have the law";
        }
        reporter.report(clock.now(), &told(Event::LawLost(lack)));
    }
    let mut watch = Watch { server, clock, metrics, reporter };
    watch.until(&stop)
}

/// Where the films are, and how many.
fn opening(server: &Server, scheme: &str, name: &str, folder: &str) -> Report {
    let local = server.local();
    let (elsewhere, here) = places(local, name, &machine::addresses());
    let urls: Vec<_> = elsewhere.iter().map(|place| format!("{scheme}://{place}/")).collect();
    let here = here.map(|place| format!("{scheme}://{place}/"));
    let told_here = here.as_ref().map(|here| format!("here {here}"));
    let text = urls.iter().cloned().chain(told_here).collect::<Vec<_>>().join(", ");
    let films = figures(server.ledger()).get("films");
    let count = if films == 0.0 { "none yet: MP4, WebM, HLS and DASH are taken".to_owned() } else { films.to_string() };
    let law = server.law().name();
    Report::new("listening", format!("the films of {folder} ({count}) are at {text}; law {law}"))
        .with("address", local)
        .with("url", urls.first().or(here.as_ref()).map_or("", String::as_str))
        .with("folder", folder)
        .with("law", law)
        .with_number("films", films)
}

/// Hosts and ports for browsers elsewhere, and for those on this machine where they have another one.
fn places(local: SocketAddr, name: &str, own: &[IpAddr]) -> (Vec<String>, Option<String>) {
    let (any, port) = (local.ip(), local.port());
    if !any.is_unspecified() {
        let named = !name.is_empty() && name.parse::<IpAddr>().is_err() && !name.contains('%');
        return (vec![if named { format!("{name}:{port}") } else { local.to_string() }], None);
    }
    // A port of any address of IPv6 is one of IPv4, too.
    let reached = own.iter().filter(|own| any.is_ipv6() || own.is_ipv4());
    (reached.map(|own| SocketAddr::new(*own, port).to_string()).collect(), Some(format!("localhost:{port}")))
}

fn identity(own: bool, files: Option<(PathBuf, PathBuf)>, listen: &Host) -> Result<Option<Identity>, String> {
    match files {
        Some((certificate, key)) => Identity::read(&certificate, &key).map(Some),
        None if own => Identity::own(&listen.name).map(Some),
        None => Ok(None),
    }
}

/// What a person compares with what the browser shows, and a program pins.
fn certificate(identity: &Identity) -> Report {
    let (fingerprint, pin) = (identity.fingerprint(), identity.pin());
    Report::new("certificate", format!("certificate SHA-256 {fingerprint}, its key sha256//{pin}"))
        .with("fingerprint", fingerprint)
        .with("pin", pin)
}

/// What happens meanwhile, in lines.
fn told(event: Event) -> Report {
    match event {
        Event::Fault { name, why } => {
            Report::new("unreadable", format!("{name}: {why}")).with("file", name).with("reason", why)
        }
        Event::Broken { name, why } => {
            Report::new("broken_off", format!("{name}: {why}")).with("file", name).with("reason", why)
        }
        Event::AskedForTls => Report::warning("somebody asked this port for https://; it speaks http:// without --tls"),
        Event::LawLost(Lack { word, why }) => {
            Report::new("law_lost", why.clone()).with("why", word).with("reason", why)
        }
        Event::LawBack { name } => Report::new(
            "law_back",
            format!("this kernel has {name} now; films over TCP have it from their next request on"),
        )
        .with("law", name),
    }
}

/// A server, and who is told of it.
struct Watch {
    server: Server,
    clock: Clock,
    metrics: Option<metrics::Server>,
    reporter: Reporter,
}

impl Watch {
    fn until(&mut self, stop: &Stop) -> Result<(), Failure> {
        let mut tick = Time::ZERO + TICK;
        while !stop.asked() {
            let mut interests = Interests::new();
            if let Some(metrics) = &self.metrics {
                metrics.interests(&mut interests);
            }
            let wait = tick.since(self.clock.now()).min(LOOK);
            let mut ready = interests.wait(wait).map_err(Error::io("waiting"))?;
            let now = self.clock.now();
            if let Some(metrics) = &mut self.metrics {
                metrics.serve(now, &mut ready, || figures(self.server.ledger()).to_prometheus());
            }
            self.tell(now);
            if now >= tick {
                tick = now + TICK;
                self.reporter.tick(now, &Status(figures(self.server.ledger())));
            }
        }
        let now = self.clock.now();
        self.tell(now);
        self.reporter.end(now, &Status(figures(self.server.ledger())));
        Ok(())
    }

    fn tell(&mut self, now: Time) {
        while let Some(event) = self.server.poll_event() {
            self.reporter.report(now, &told(event));
        }
    }
}

fn figures(ledger: &Ledger) -> Figures {
    let mut rows = Vec::new();
    ledger.probe(&mut |name, value| {
        rows.extend(Ledger::METRICS.iter().find(|metric| metric.name == name).map(|metric| (metric, value)));
    });
    Figures::of(SIDE, rows)
}

/// What it tells every second.
struct Status(Figures);

impl Readings for Status {
    fn json(&self, at: Time) -> String {
        self.0.to_json(at)
    }

    fn line(&self, at: Time) -> Line {
        let get = |name| self.0.get(name);
        let (rate, out) = (get("playing_rate_bps") / 1e6, get("sent_rate_bps") / 1e6);
        let over = [("TLS", "tls_connections"), ("HTTP/3", "quic_connections")];
        let over = over.map(|(label, name)| (label, get(name))).into_iter().filter(|(_, value)| *value > 0.0);
        let over = over.map(|(label, value)| format!("{value} {label}")).collect::<Vec<_>>().join(", ");
        let over = if over.is_empty() { over } else { format!(" ({over})") };
        let mut line = Line::at(at);
        line.push(2, format!("connections {}{over}", get("connections")));
        line.push(1, format!("playing {} ({rate:.2} Mb/s)", get("playing")));
        line.push(1, format!("out {out:.2} Mb/s ({})", amount(get("sent_bytes_total"))));
        self.wrongs().for_each(|wrong| line.push(3, wrong));
        line
    }

    fn last(&self, at: Time) -> String {
        let get = |name| self.0.get(name);
        let mut line = Line::at(at);
        line.push(0, format!("in all  connections {}", get("connections_total")));
        line.push(0, format!("requests {}", get("requests_total")));
        line.push(0, format!("out {}", amount(get("sent_bytes_total"))));
        self.wrongs().for_each(|wrong| line.push(0, wrong));
        line.to_string()
    }
}

impl Status {
    /// Counts of failures, and of connections that are paced here.
    fn wrongs(&self) -> impl Iterator<Item = String> {
        let counts = [
            ("paced", "paced"),
            ("refused", "refused_requests_total"),
            ("bad requests", "bad_requests_total"),
            ("changed", "changed_files_total"),
            ("bad handshakes", "failed_handshakes_total"),
        ];
        let counts = counts.map(|(label, name)| (label, self.0.get(name)));
        counts.into_iter().filter(|(_, value)| *value > 0.0).map(|(label, value)| format!("{label} {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_told_to_be_can_be_opened_from_elsewhere() {
        let own = ["198.51.100.7", "2001:db8::7"].map(|own| own.parse().expect("an address"));
        let at = |local: &str, name| places(local.parse().expect("an address"), name, &own);
        let (v4, v6) = ("198.51.100.7:80".to_owned(), "[2001:db8::7]:80".to_owned());
        let here = Some("localhost:80".to_owned());
        assert_eq!(at("0.0.0.0:80", ""), (vec![v4.clone()], here.clone()));
        assert_eq!(at("[::]:80", "::"), (vec![v4, v6], here));
        assert_eq!(at("127.0.0.1:80", "localhost"), (vec!["localhost:80".to_owned()], None));
        assert_eq!(at("192.0.2.1:80", "192.0.2.1"), (vec!["192.0.2.1:80".to_owned()], None));
        assert_eq!(places("0.0.0.0:80".parse().expect("an address"), "", &[]).0, [""; 0]);
    }

    #[test]
    fn a_line_has_what_is_played_and_what_went_wrong() {
        let value = |name| match name {
            "connections" => 3.0,
            "tls_connections" | "failed_handshakes_total" => 1.0,
            "playing" | "refused_requests_total" => 2.0,
            "playing_rate_bps" => 7.2e6,
            "sent_rate_bps" => 9.126e6,
            "sent_bytes_total" => 2.5e9,
            _ => 0.0,
        };
        let rows = Ledger::METRICS.iter().map(|metric| (metric, value(metric.name))).collect();
        let line = Status(Figures::of(SIDE, rows)).line(Time::ZERO + Span::from_secs(3661));
        assert_eq!(
            line.to_string(),
            "01:01:01  connections 3 (1 TLS)  playing 2 (7.20 Mb/s)  out 9.13 Mb/s (2.5 GB)  refused 2  bad handshakes 1"
        );
    }
}

//! `thalweg serve`: stored videos for unmodified players, each connection at the rate of the video that it plays.

mod opening;
mod status;

use std::path::PathBuf;
use std::time::SystemTime;

use clap::ValueEnum;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_kernel::{Name, Settings};
use thalweg_net::clock::Clock;
use thalweg_net::error::Error;
use thalweg_net::figures::to_prometheus;
use thalweg_net::media_url::Host;
use thalweg_net::metrics;
use thalweg_net::poll::Interests;
use thalweg_net::report::Report;
use thalweg_net::reporter::Reporter;
use thalweg_net::signal::Stop;
use thalweg_serve::catalog::frames::Keep;
use thalweg_serve::law::{Choice, Lack};
use thalweg_serve::{Config, Event, Identity, Law, Limits, Server, User};

use self::opening::{Names, named, opening, resolve};
use self::status::{Status, figures};
use crate::failure::Failure;
use crate::stream::{Reporting, with_metrics};
use crate::verb::kernel::rate;

const SIDE: &str = "serve";
/// The interval between two checks for events and signals.
const LOOK: Span = Span::from_millis(100);
/// The interval between two reports of figures.
const TICK: Span = Span::from_secs(1);

/// Serve a folder of videos to browsers and players, each connection at the rate of its video.
///
/// Serves MP4, HLS and DASH over HTTP/1.1, and with TLS also over HTTP/3. Byte ranges are supported, and a page lists
/// and plays the videos. The playback rate is read from each video, or from each rendition of HLS and DASH. TCP Stream,
/// a congestion control that `thalweg kernel load` adds to the kernel, takes the rate that playback needs as any TCP
/// does, and more only while capacity is spare. Without TCP Stream, connections over TCP are paced, and a line reports
/// this. QUIC has TCP Stream built in. With --rtsp, MP4 and MPEG transport streams are also served over RTSP and RTP, at
/// their nominal pace.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("address").required(true).multiple(true)))]
#[command(after_help = "Examples:
  thalweg serve videos --listen :8080          # and http://this.machine:8080
  thalweg serve videos --listen 127.0.0.1:8080 --law paced --metrics 9100
  thalweg serve videos --listen :8080 --rtsp :8554
  thalweg serve videos --listen :8443 --tls    # https, HTTP/3
  thalweg serve videos --listen :443 --cert all.pem --key k.pem --user www-data
  mpv http://this.machine:8080/some.mp4
  ffplay rtsp://this.machine:8554/some.mp4")]
pub(crate) struct Args {
    /// Folder of the videos; hidden files, and links that lead out of it, are not served
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address to listen at (TCP, with TLS also UDP); `:PORT` listens on all IPv4 addresses, `[::]:PORT` on all of IPv4
    /// and IPv6
    #[arg(long, value_name = "HOST:PORT", group = "address")]
    listen: Option<Host>,
    /// Address to listen at for RTSP (TCP, and for RTP and RTCP the next even UDP port and the one after it), in place of
    /// --listen or beside it; with TLS it needs --public
    #[arg(long, value_name = "HOST:PORT", group = "address")]
    rtsp: Option<Host>,
    /// Folder for indexes of the videos' frames, which RTSP needs, made with its parents if it is missing; without this
    /// option they are kept in `.thalweg` beside each video
    #[arg(long, value_name = "DIR", requires = "rtsp")]
    cache: Option<PathBuf>,
    /// Serve RTSP in the clear although HTTP is under TLS
    #[arg(long, requires = "rtsp")]
    public: bool,
    /// Playback rate of videos that do not state one; up to 1000gbit
    #[arg(long, value_name = "RATE", default_value_t = Settings::default().rate, value_parser = rate)]
    rate: Rate,
    /// Rate law: tcp-stream (over TCP the law of `thalweg kernel load`, or paced if none is loaded; over QUIC the
    /// built-in law), paced (ten seconds of the video at once, then 5/4 of its rate) or system (the system's congestion
    /// control, as fast as the path permits)
    #[arg(long, value_name = "LAW", default_value = "tcp-stream", hide_possible_values = true)]
    law: LawArg,
    /// Name of the kernel's law, as in `thalweg kernel load --name`
    #[arg(long, value_name = "NAME", default_value_t = Name::default())]
    name: Name,
    /// User of /etc/passwd whose rights `serve` takes, if root starts it, once ports, keys and the law's rates are
    /// open; this user must be able to read the videos
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Use TLS with a certificate and a key made for this run; their digests are printed, to compare or pin
    #[arg(long, conflicts_with = "cert")]
    tls: bool,
    /// Use TLS with this certificate, followed by its intermediate certificates (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Disable downloads: `?download` has no effect, and the page has no links for it
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
    let Args { folder, listen, rtsp, cache, public, rate, law, name, user, tls, cert, key, no_download, reporting } =
        args;
    let is_secure = tls || cert.is_some();
    if is_secure && listen.is_none() {
        let option = if tls { "--tls" } else { "--cert" };
        return Err(Failure::Usage(format!(
            "serve: {option} is for HTTP, and RTSP is in the clear; leave {option} out, or add --listen and --public"
        )));
    }
    if rtsp.is_some() && is_secure != public {
        let why = match public {
            true => "--public is for HTTP under TLS, and here nothing is; leave it out, or add --tls or --cert",
            false => "--rtsp is in the clear; with TLS, add --public to serve it all the same",
        };
        return Err(Failure::Usage(format!("serve: {why}")));
    }
    let stop = Stop::on_signal().map_err(Error::io("handling signals"))?;
    let failed = |why| Failure::Failed(format!("serve: {why}"));
    let identity = identity(tls, cert.zip(key), listen.as_ref()).map_err(failed)?;
    let certificate = identity.as_ref().map(certificate);
    let warning = identity.as_ref().and_then(|identity| identity.warning(SystemTime::now()));
    let names = Names { http: named(listen.as_ref()), rtsp: named(rtsp.as_ref()) };
    let (listen, rtsp) = (resolve(listen)?, resolve(rtsp)?);
    let user = user.map(|user| User::find(&user)).transpose().map_err(failed)?;
    let metrics = reporting.server()?;
    let (law, lost) = Law::choose(Some(law.into()), &name);
    let (shown, quic_law) = (folder.display().to_string(), law.name_over_quic());
    let downloads = !no_download;
    let keep = Some(cache.map_or(Keep::Beside, Keep::In));
    let config = Config { folder, listen, rtsp, keep, law, identity, user, rate, downloads, limits: Limits::default() };
    let server = Server::start(config).map_err(failed)?;
    let secure = certificate.is_some();
    let mut opening = opening(&server, secure, &names, &shown);
    if secure {
        opening = opening.text_with(&format!(" over TCP and {quic_law} over QUIC")).with("quic_law", quic_law);
    }
    if secure && rtsp.is_some() {
        opening = opening.text_with("; RTSP is in the clear");
    }
    let (clock, mut reporter) = (Clock::start(), reporting.reporter(SIDE));
    reporter.report(clock.now(), &with_metrics(opening, metrics.as_ref()));
    if let Some(certificate) = certificate {
        reporter.report(clock.now(), &certificate);
    }
    if let Some(why) = warning {
        reporter.report(clock.now(), &Report::warning(format!("certificate: {why}")));
    }
    if let Some(mut lack) = lost {
        if secure {
            lack.why += "; over QUIC they use TCP Stream";
        }
        reporter.report(clock.now(), &event_report(Event::LawLost(lack)));
    }
    let mut watch = Watch { server, clock, metrics, reporter };
    watch.until(&stop)
}

fn identity(own: bool, files: Option<(PathBuf, PathBuf)>, listen: Option<&Host>) -> Result<Option<Identity>, String> {
    match (files, listen) {
        (Some((certificate, key)), _) => Identity::read(&certificate, &key).map(Some),
        (None, Some(listen)) if own => Identity::own(&listen.name).map(Some),
        (None, _) => Ok(None),
    }
}

/// The report of the certificate: its fingerprint, to be compared with the browser's, and the pin for programs.
fn certificate(identity: &Identity) -> Report {
    let (fingerprint, pin) = (identity.fingerprint(), identity.pin());
    Report::new("certificate", format!("certificate SHA-256 {fingerprint}, public key sha256//{pin}"))
        .with("fingerprint", fingerprint)
        .with("pin", pin)
}

/// The report of an event.
fn event_report(event: Event) -> Report {
    match event {
        Event::Fault { name, why } => {
            Report::new("unreadable", format!("{name}: {why}")).with("file", name).with("reason", why)
        }
        Event::Broken { name, why } => {
            Report::new("broken_off", format!("{name}: {why}")).with("file", name).with("reason", why)
        }
        Event::Note(note) => Report::warning(note),
        Event::AskedForTls => {
            Report::warning("a client asked for https://, but this port serves http://; --tls serves https://")
        }
        Event::LawLost(Lack { word, why }) => {
            Report::new("law_lost", why.clone()).with("why", word).with("reason", why)
        }
        Event::LawBack { name } => Report::new(
            "law_back",
            format!("this kernel has {name} now; videos over TCP use it from their next request on"),
        )
        .with("law", name),
        event => Report::unknown(&event),
    }
}

/// A server with its metrics and its reporter.
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
                metrics.serve(now, &mut ready, || to_prometheus(&[figures(self.server.ledger())]));
            }
            self.report_events(now);
            if now >= tick {
                tick = now + TICK;
                self.reporter.tick(now, &[Status(figures(self.server.ledger()))]);
            }
        }
        let now = self.clock.now();
        self.report_events(now);
        self.reporter.end(now, &[Status(figures(self.server.ledger()))]);
        Ok(())
    }

    fn report_events(&mut self, now: Time) {
        while let Some(event) = self.server.poll_event() {
            self.reporter.report(now, &event_report(event));
        }
    }
}

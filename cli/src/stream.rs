//! Options and start-up that sending and receiving share.

use std::io;

use thalweg_core::rng::Rng;
use thalweg_core::session::live::{LATENCIES, Latency};
use thalweg_core::time::Span;
use thalweg_net::clock::{Clock, sharpen_timers};
use thalweg_net::driver::Driver;
use thalweg_net::endpoint::Endpoint;
use thalweg_net::entropy;
use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::metrics::Server;
use thalweg_net::report::Report;
use thalweg_net::reporter::{Audience, Reporter};
use thalweg_net::signal::Stop;
use thalweg_net::udp::Socket;

use crate::failure::Failure;

/// Options of reporting, on standard error and to Prometheus.
#[derive(clap::Args)]
#[command(next_help_heading = "Reporting")]
pub(crate) struct Reporting {
    /// Print JSON on standard error: one object per second, and one per event
    #[arg(long)]
    json: bool,
    /// Print only warnings, problems and errors on standard error: no status line, no summary
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
    /// Serve Prometheus metrics at http://ADDR/metrics; a port without a host listens on loopback
    #[arg(long, value_name = "ADDR", value_parser = Host::or_loopback)]
    metrics: Option<Host>,
}

/// The clock of a session, its randomness, and its stop signal.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) clock: Clock,
    pub(crate) rng: Rng,
    pub(crate) stop: Stop,
}

impl Start {
    /// Starts the clock. From here on, a signal asks for an orderly end.
    pub(crate) fn now() -> Result<Start, Failure> {
        Start::with(Stop::on_signal)
    }

    /// The same with other signals.
    pub(crate) fn with(stop: impl FnOnce() -> io::Result<Stop>) -> Result<Start, Failure> {
        sharpen_timers();
        let stop = stop().map_err(Error::io("handling signals"))?;
        let rng = entropy::rng().map_err(Error::io("drawing a random seed"))?;
        Ok(Start { clock: Clock::start(), rng, stop })
    }

    /// Runs a stream to its end; `opening` is the first line that users see.
    pub(crate) fn run<T: Endpoint>(
        self,
        endpoint: T,
        peer: Socket,
        reporting: &Reporting,
        opening: Report,
    ) -> Result<T, Failure> {
        self.run_for(endpoint, peer, reporting, opening, |reporter| Box::new(reporter))
    }

    /// Runs a stream with an audience of its own around the reporter.
    pub(crate) fn run_for<T: Endpoint>(
        self,
        endpoint: T,
        peer: Socket,
        reporting: &Reporting,
        opening: Report,
        audience: impl FnOnce(Reporter) -> Box<dyn Audience>,
    ) -> Result<T, Failure> {
        let metrics = reporting.server()?;
        let mut reporter = reporting.reporter(T::SIDE);
        reporter.report(self.clock.now(), &with_metrics(opening, metrics.as_ref()));
        let audience = audience(reporter);
        let driver = Driver { clock: self.clock, stop: self.stop, peer, endpoint, metrics, audience };
        Ok(driver.run()?)
    }
}

impl Reporting {
    /// True for JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// The reporter on standard error.
    pub(crate) fn reporter(&self, side: &'static str) -> Reporter {
        reporter(side, self.json, self.quiet)
    }

    /// The server of metrics for Prometheus, if one is asked for.
    pub(crate) fn server(&self) -> Result<Option<Server>, Error> {
        let Some(host) = &self.metrics else { return Ok(None) };
        let tried = format!("metrics on {host}");
        let address = host.resolve().map_err(Error::io(&tried))?;
        Server::bind(address).map(Some).map_err(Error::io(tried))
    }
}

/// The reporter on standard error that `--json` and `--quiet` ask for.
pub(crate) fn reporter(side: &'static str, json: bool, quiet: bool) -> Reporter {
    match (json, quiet) {
        (true, _) => Reporter::json(side),
        (_, true) => Reporter::quiet(side),
        _ => Reporter::human(side),
    }
}

/// An opening that also names the address of the metrics.
pub(crate) fn with_metrics(opening: Report, metrics: Option<&Server>) -> Report {
    match metrics {
        Some(server) => opening.with("metrics", server.local()).text_with(&format!(", metrics on {}", server.local())),
        None => opening,
    }
}

/// Parses a latency, or `auto`.
pub(crate) fn latency(text: &str) -> Result<Latency, String> {
    if text == "auto" { Ok(Latency::Auto) } else { time(text).map(Latency::Fixed) }
}

/// Parses a time that a session can keep, 5 ms to 10 s.
pub(crate) fn time(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    match LATENCIES.contains(&span) {
        true => Ok(span),
        false => Err(format!("must be between {} and {}", LATENCIES.start(), LATENCIES.end())),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Failed(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::send;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_an_argument_or_is_refused(text in r"\PC*|[0-9.]{0,9}(ms|s|min)?|:?[0-9]{0,6}|static:[0-9]{0,12}") {
            if let Ok(Latency::Fixed(span)) = latency(&text) {
                prop_assert!(LATENCIES.contains(&span));
            }
            let _ = Host::or_loopback(&text);
            if let Ok(repair) = send::repair_form(&text) {
                prop_assert_eq!(send::repair_form(&repair), Ok(repair));
            }
        }
    }
}

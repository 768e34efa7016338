//! A stream for a measurement: from a socket to its end.

use std::net::SocketAddr;

use thalweg_core::session::live::carried::{Carried, association};
use thalweg_core::session::live::sender::{Config, Recording, Sender};
use thalweg_core::session::live::{Ending, Latency, inside};
use thalweg_core::session::secure::Key;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_net::endpoint::{Endpoint, Load, MeasureEndpoint};
use thalweg_net::error::Error;
use thalweg_net::figures::Figures;
use thalweg_net::report::Report;
use thalweg_net::udp::{Multicast, Socket, unspecified};
use thalweg_workbench::advise::Candidate;

use super::failed;
use crate::encryption::keys;
use crate::failure::Failure;
use crate::stream::{Reporting, Start};

/// The time for which the other end is called.
const PATIENCE: Span = Span::from_secs(10);

/// The other end, and the terms of all streams to it.
pub(super) struct Peer<'a> {
    pub(super) to: SocketAddr,
    pub(super) key: &'a Key,
    pub(super) start: &'a Start,
    pub(super) reporting: &'a Reporting,
    /// The greatest rate of everything that is sent.
    pub(super) most: Rate,
}

/// A stream that has ended as planned.
pub(super) struct Measurement {
    pub(super) recording: Recording,
    pub(super) figures: Figures,
}

impl Peer<'_> {
    /// Sends `load` under the settings of `candidate`, or, without one, under those of `send`, with `opening` as the first
    /// report. The brake of repair by its worth finds whether the path or a queue loses packets.
    pub(super) fn measure(
        &self,
        load: Load,
        candidate: Option<&Candidate>,
        opening: Report,
    ) -> Result<Measurement, Failure> {
        let tried = format!("measuring the path to {}", self.to);
        let mut socket =
            Socket::sending(unspecified(self.to), self.to, Multicast::default()).map_err(Error::io(&tried))?;
        socket.hear_errors().map_err(Error::io(tried))?;
        let config = Config {
            latency: candidate.map_or(Latency::Auto, |candidate| candidate.latency.into()),
            block: candidate.and_then(|candidate| candidate.block),
            max_rate: Some(self.most),
            answer_timeout: Some(PATIENCE),
            ..Config::new(inside(self.to, 0), candidate.map_or_else(Candidate::default_law, Candidate::law))
        };
        let now = self.start.clock.now();
        let mut session = Sender::new(config, now, &self.start.rng.fork(opening.event));
        session.record();
        let session = Carried::calling(session, (association(), self.key), self.to, now, keys()?).map_err(failed)?;
        let endpoint = MeasureEndpoint::new(session, self.to, load);
        let mut endpoint = self.start.clone().run(endpoint, socket, self.reporting, opening)?;
        self.check(&endpoint, load)?;
        let figures = endpoint.figures().remove(0);
        let recording = endpoint.session().take_recording().unwrap_or_default();
        Ok(Measurement { recording, figures })
    }

    /// Fails unless all of the media was sent.
    fn check(&self, endpoint: &MeasureEndpoint, load: Load) -> Result<(), Failure> {
        let to = self.to;
        if let Some(refusal) = endpoint.refusal() {
            return Err(failed(format!("{to}: {refusal}")));
        }
        Err(failed(match endpoint.ending() {
            Some(Ending::Bye) if endpoint.is_complete() => return Ok(()),
            Some(Ending::Bye) | None => "stopped before the end of the measurement".to_owned(),
            Some(Ending::NoAnswer) => {
                format!(
                    "no answer from {to}: is `thalweg advise serve` running there, with the same key, and its UDP port open?"
                )
            }
            Some(Ending::Busy) => format!("{to} is busy with another measurement; repeat this one later"),
            Some(Ending::Silent) => format!("{to} stopped answering"),
            Some(Ending::Breaker) => {
                format!(
                    "the circuit breaker opened: the path to {to} does not carry {}; use a lower --media",
                    load.rate
                )
            }
            Some(ending @ Ending::Version(_)) => format!("{to}: {ending}"),
        }))
    }
}

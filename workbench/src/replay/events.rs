//! Congestion windows over the events of a TCP sender: acknowledgements, losses, timeouts.

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::window::newreno::NewReno;
use thalweg_core::law::window::{Acked, CongestionWindow, Start};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

use super::Replayed;
use super::line::{parsed, sample};

/// The event of `line`; an error names the event, if the line has one.
pub(super) fn event(line: &[u8]) -> Result<Event, String> {
    #[derive(Deserialize)]
    struct Named {
        event: String,
    }
    parsed(line).map_err(|why| match parsed(line) {
        Ok(Named { event }) => format!("event '{event}': {why}"),
        Err(_) => why,
    })
}

/// NewReno and its recovery, in which nothing grows and a further loss belongs to the same episode.
pub(super) struct Events {
    law: NewReno,
    recovering: bool,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Event {
    Ack {
        // May be null, but not left out.
        #[serde(deserialize_with = "Option::deserialize")]
        rtt: Option<f64>,
        round_end: bool,
    },
    Dup3 {
        flight: Option<u32>,
    },
    Recovered {},
    Timeout {
        flight: Option<u32>,
        #[serde(default)]
        again: bool,
    },
}

impl Events {
    /// NewReno from an initial window of two segments, or with `settings`.
    pub(super) fn newreno(settings: &[(String, String)]) -> Result<Events, ParameterError> {
        let mut start = Start { iw: 2, ..Start::default() };
        settings.iter().try_for_each(|(name, value)| start.set(name, value))?;
        Ok(Events { law: NewReno::new(start), recovering: false })
    }

    /// FlightSize; a log of events need not state it, and then it is the whole window.
    fn in_flight(&self, flight: Option<u32>) -> f64 {
        flight.map_or(self.law.cwnd(), f64::from)
    }
}

impl Replayed for Events {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        match event(line)? {
            Event::Ack { rtt, round_end } => {
                let rtt = sample("rtt", rtt)?.map(|rtt| Span::from_secs_f64(rtt.0));
                if !self.recovering {
                    // NewReno reads neither clock nor flight here.
                    let (now, flight) = (Time::ZERO, self.law.cwnd() as u32);
                    let acked = Acked { now, newly: 1, flight, rtt, srtt: rtt, round_end, window_limited: true };
                    self.law.on_ack(&acked);
                }
            }
            Event::Dup3 { flight } => {
                if !self.recovering {
                    self.law.lose(self.in_flight(flight));
                    self.recovering = true;
                }
            }
            Event::Recovered {} => self.recovering = false,
            Event::Timeout { flight, again } => {
                self.law.expire(self.in_flight(flight), again);
                self.recovering = false;
            }
        }
        Ok(())
    }
}

impl Probe for Events {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

//! TCP Stream over the events of a TCP sender.

use thalweg_core::law::ParameterError;
use thalweg_core::law::registry::Parameters;
use thalweg_core::law::window::tcp_stream::{TcpStream, Variant};
use thalweg_core::law::window::{Playback, Start};
use thalweg_core::probe::{Probe, Visitor};

use super::Replayed;
use super::events::{Event, event};
use super::line::sample;

/// The law and its recovery, in which neither window grows and a further loss belongs to the same episode.
pub(super) struct TcpStreamEvents {
    law: TcpStream,
    recovering: bool,
}

impl TcpStreamEvents {
    /// The video of the paper from an initial window of two segments, or with `settings`.
    pub(super) fn new(settings: &[(String, String)]) -> Result<TcpStreamEvents, ParameterError> {
        let mut start = Start { iw: 2, ..Start::default() };
        let (mut playback, mut variant) = (Playback::default(), Variant::default());
        for (name, value) in settings {
            match name.as_str() {
                name if Playback::NAMES.contains(&name) => playback.set(name, value)?,
                name if Variant::NAMES.contains(&name) => variant.set(name, value)?,
                name if Start::NAMES.contains(&name) => start.set(name, value)?,
                _ => return Err(ParameterError::Unknown { name: name.clone(), known: NAMES }),
            }
        }
        Ok(TcpStreamEvents { law: TcpStream::new(start, playback, variant), recovering: false })
    }
}

const NAMES: &[&str] = &["rate", "mss", "iw", "ssthresh", "thresholds", "on_loss"];

impl Replayed for TcpStreamEvents {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        match event(line)? {
            Event::Ack { rtt, round_end } => {
                if let Some(rtt) = sample("rtt", rtt)? {
                    self.law.sample(rtt);
                }
                if !self.recovering {
                    self.law.acknowledge(1, round_end, true);
                }
            }
            Event::Dup3 { flight: Some(_) } | Event::Timeout { flight: Some(_), .. } => {
                return Err("\"flight\" is not a key of tcp-stream, which halves its own loss window".to_owned());
            }
            Event::Dup3 { flight: None } => {
                if !self.recovering {
                    self.law.lose();
                    self.recovering = true;
                }
            }
            Event::Recovered {} => self.recovering = false,
            Event::Timeout { flight: None, again } => {
                self.law.expire(again);
                self.recovering = false;
            }
        }
        Ok(())
    }
}

impl Probe for TcpStreamEvents {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(&mut |name, value| {
            visit(name, value);
            if name == "swnd" {
                visit("send_window", value.floor());
            }
        });
    }
}

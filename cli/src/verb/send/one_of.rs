//! The options of `send` for a stream of `share`.

use thalweg_core::law::rate;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::session::live::Media;
use thalweg_core::session::live::sender::{Breaker, Config};
use thalweg_net::endpoint::{Retry, Shed};
use thalweg_net::media_url::MediaUrl;
use thalweg_net::udp::comes_in;

use super::Args;
use crate::failure::Failure;

/// A stream as one of several that share a path.
pub(crate) struct OneOf {
    pub(crate) input: MediaUrl,
    pub(crate) config: Config,
    pub(crate) retry: Retry,
    pub(crate) shed: Shed,
}

impl Args {
    /// The stream as one of several, with GCA as its law. Its receiver is one that sends reports.
    pub(crate) fn one_of(&self) -> Result<OneOf, Failure> {
        self.check()?;
        let to = self.receiver("to:")?;
        if to.ip().is_multicast() {
            return Err(Failure::Usage(format!("to: {to} is a multicast group, which sends no reports")));
        }
        let input = self.input()?;
        if input.address().is_some_and(|at| comes_in(at, to)) {
            return Err(Failure::Usage(format!("to: {to} leads back to input {input}; use another port")));
        }
        // The kind of media is that of the input, once it is open.
        let config = Config {
            rate: Some(rate::Choice::Gca(Greediness::default())),
            breaker: self.protection.breaker.map_or(Breaker::Rfc8083, Breaker::from),
            ..self.config(to, Media::Mp2t, self.protection.repair("geneva")?.1)
        };
        Ok(OneOf { input, config, retry: self.retry.into(), shed: self.protection.shed.into() })
    }
}

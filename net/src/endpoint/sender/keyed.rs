//! A sender with a key.

use thalweg_core::session::live::carried::Notice;
use thalweg_core::session::live::{Ending, MAX_SEALED_PAYLOAD};
use thalweg_core::session::secure::{self, Entropy, Key, KeyError};

use super::{SenderEndpoint, keys};

impl SenderEndpoint {
    /// Encrypts everything, from now on, which is the start.
    ///
    /// # Errors
    /// A static key has no peer, or several if the receiver is called.
    pub fn with_key(mut self, key: &Key, entropy: Entropy) -> Result<SenderEndpoint, KeyError> {
        self.calls.encrypt(key, self.now, entropy)?;
        self.input.limit(MAX_SEALED_PAYLOAD);
        Ok(self)
    }

    /// The reason for which the receiver has refused the handshake of a key, if it has: then there was no session.
    pub fn refusal(&self) -> Option<secure::Ending> {
        self.refusal
    }

    /// Handles the refusal of a key, which is final; other notices are for the end that is called.
    pub(super) fn handle_notices(&mut self) {
        while let Some(notice) = self.calls.session.poll_notice() {
            if let Notice::Refused(ending) = notice {
                (self.refusal, self.ending) = (Some(ending), Some(Ending::NoAnswer));
            } else if !self.way.listens {
                continue;
            }
            self.reports.push_back(keys::describe(notice, "receiver"));
        }
    }
}

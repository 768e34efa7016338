//! Control messages that an association sends and receives.

use core::net::SocketAddr;

use super::{Association, Ending, Event, Inner, Keyring, Role, Transmit};
use crate::time::Time;
use crate::wire::Error;
use crate::wire::secure::{VERSION, sealed::Sealed};

impl Association {
    /// Bytes of a ping, pong, challenge, proof or close.
    pub(super) const CONTROL: usize = super::OVERHEAD + 8;

    /// Takes note of an unauthenticated claim that the peer has no association of `id`
    /// ([`unknown`](crate::session::secure::unknown)). If that is this one's id, the peer is pinged at once, and counts
    /// as gone unless it is heard within two seconds. The claim has no other effect: any observer of the path can make
    /// it. True if the id is this one's.
    pub fn on_unknown(&mut self, now: Time, id: u64) -> bool {
        let is_ours = self.is_established() && self.role == Role::Initiator && self.ids[1] == id;
        if is_ours {
            self.keepalive.on_unknown(now);
        }
        is_ours
    }

    /// True from [`Association::on_unknown`] until the peer is heard again.
    pub fn is_doubted(&self) -> bool {
        self.keepalive.is_doubted()
    }

    pub(super) fn on_cookie(&mut self, now: Time, cookie: u64) -> Result<(), Error> {
        self.handshake.as_mut().ok_or(Error::Repeated)?.on_cookie(now, cookie);
        Ok(())
    }

    pub(super) fn on_answer(&mut self, now: Time, noise: &[u8]) -> Result<(), Error> {
        self.ids[1] = self.handshake.as_mut().ok_or(Error::Repeated)?.on_answer(noise)?;
        let keys = self.handshake.take().ok_or(Error::Repeated)?.into_keys();
        self.peer_key = keys.peer();
        self.keyring = Some(Keyring::new(Role::Initiator, self.config.limits, keys, now));
        self.keepalive.on_received(now, &self.config);
        // The responder sends nothing before it has received a sealed datagram.
        self.keepalive.ping_now(now);
        self.is_established = true;
        self.events.push_back(Event::Established);
        Ok(())
    }

    pub(super) fn on_refusal(&mut self, version: u8) -> Result<(), Error> {
        self.handshake.as_ref().ok_or(Error::Repeated)?;
        if version == VERSION {
            return Err(Error::Malformed);
        }
        self.end(Ending::Version(version));
        Ok(())
    }

    pub(super) fn on_sealed<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        sealed: &Sealed<'_>,
        out: &'a mut [u8],
    ) -> Result<Option<&'a [u8]>, Error> {
        let keyring = self.keyring.as_mut().ok_or(Error::Unknown)?;
        let opened = keyring.open(now, sealed, out)?;
        if opened.is_first && keyring.epoch() > 0 && self.role == Role::Responder {
            self.events.push_back(Event::Rekeyed { epoch: keyring.epoch() });
        }
        if keyring.is_confirmed() {
            self.keepalive.on_received(now, &self.config);
        } else {
            self.keepalive.on_other_received(now);
        }
        if !self.is_established {
            self.is_established = true;
            self.events.push_back(Event::Established);
        }
        let len = Sealed::HEADER + sealed.body.len();
        self.address.on_received(now, from, len, opened.is_newest, &mut self.entropy);
        let opened: &'a [u8] = &out[..opened.len];
        match Inner::parse(opened)? {
            Inner::Data(data) => return Ok(Some(data).filter(|_| self.closing.is_none())),
            inner => self.on_control(now, from, inner)?,
        }
        Ok(None)
    }

    fn on_control(&mut self, now: Time, from: SocketAddr, inner: Inner<'_>) -> Result<(), Error> {
        match inner {
            Inner::Data(_) | Inner::Pong => {}
            Inner::Ping => self.pending.pong = true,
            Inner::Challenge(token) => self.pending.proof = Some((from, token)),
            Inner::Proof(token) => {
                if self.address.prove(from, token) {
                    self.events.push_back(Event::Moved { to: from });
                }
            }
            Inner::Rekey { epoch, noise } => {
                let keyring = self.keyring.as_mut().ok_or(Error::Unknown)?;
                keyring.on_rekey(now, (epoch, noise), &self.key, &mut self.entropy)?;
            }
            Inner::Rekeyed { epoch, noise } => {
                self.keyring.as_mut().ok_or(Error::Unknown)?.on_rekeyed(now, epoch, noise)?;
                self.keepalive.ping_now(now);
                self.events.push_back(Event::Rekeyed { epoch });
            }
            Inner::Close(reason) => match self.closing.take() {
                Some(closing) => self.end(Ending::Closed(closing.reason)),
                None => {
                    self.pending.close = Some(reason.into());
                    self.end(Ending::ClosedByPeer(reason.into()));
                }
            },
        }
        Ok(())
    }

    pub(super) fn poll_close(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let closing = self.closing.as_mut()?;
        let reason = closing.reason;
        if !closing.backoff.fire(now) {
            return None;
        }
        self.emit(now, Inner::Close(reason.into()), self.address.at(), buf)
    }

    pub(super) fn poll_path(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some((to, token)) = self.pending.proof.take() {
            return self.emit(now, Inner::Proof(token), to, buf);
        }
        let (to, token) = self.address.poll(now, Association::CONTROL)?;
        self.emit(now, Inner::Challenge(token), to, buf)
    }

    pub(super) fn poll_keys(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let len = self.keyring.as_mut()?.poll(now)?.emit(&mut self.plain);
        self.emit_plain(now, len, self.address.at(), buf)
    }

    pub(super) fn poll_keepalive(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let inner = if core::mem::take(&mut self.pending.pong) {
            Inner::Pong
        } else if self.keepalive.fire(now) {
            Inner::Ping
        } else {
            return None;
        };
        self.emit(now, inner, self.address.at(), buf)
    }

    /// Seals `inner` for `to`, unless the keys are worn out.
    pub(super) fn emit(&mut self, now: Time, inner: Inner<'_>, to: SocketAddr, buf: &mut [u8]) -> Option<Transmit> {
        let len = inner.emit(&mut self.plain);
        self.emit_plain(now, len, to, buf)
    }

    /// Seals the first `len` bytes of `plain`.
    pub(super) fn emit_plain(&mut self, now: Time, len: usize, to: SocketAddr, buf: &mut [u8]) -> Option<Transmit> {
        let keyring = self.keyring.as_mut()?;
        if keyring.is_worn_out(now) {
            if !self.is_ended {
                self.end(Ending::WornOut);
            }
            return None;
        }
        let len = keyring.seal(self.ids[1], &self.plain[..len], buf);
        Some(Transmit { to, len })
    }
}

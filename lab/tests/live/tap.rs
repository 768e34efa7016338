//! An attacker on the path between sender and receiver, who reads and writes at will where a stream has no key.

use thalweg_core::session::live::{End, Secret};
use thalweg_core::wire::hello::{Answer, Hello, NAME};
use thalweg_core::wire::proof;
use thalweg_core::wire::rtcp::{App, Compound, Packet};

/// The attacker's knowledge from the datagrams read so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tap {
    halves: [u64; 2],
    /// The SSRCs of both endpoints.
    pub(crate) sender: u32,
    pub(crate) receiver: u32,
}

impl Tap {
    /// Reads a datagram in transit.
    pub(crate) fn read(&mut self, datagram: &[u8]) {
        let Ok(compound) = Compound::parse(datagram) else { return };
        for frame in compound.frames() {
            let Ok(Packet::App(App { subtype, ssrc, name: NAME, data })) = Packet::parse(frame) else { continue };
            match subtype {
                Hello::SUBTYPE => {
                    self.halves[0] = Hello::parse(data).map_or(0, |hello| hello.half);
                    self.sender = ssrc;
                }
                Answer::SUBTYPE if ssrc != 0 => {
                    self.halves[1] = Answer::parse(data).map_or(0, |answer| answer.half);
                    self.receiver = ssrc;
                }
                _ => {}
            }
        }
    }

    fn secret(&self) -> Secret {
        Secret { sender: self.halves[0], receiver: self.halves[1] }
    }

    /// Appends a proof to the first `len` bytes of `buf`, and returns the length with the proof.
    pub(crate) fn prove(&self, from: End, buf: &mut [u8], len: usize) -> usize {
        self.secret().prove(from, 0, buf, len).expect("room for a proof")
    }

    /// Changes a datagram of `from`; if its proof was valid before, a new one makes it valid again.
    pub(crate) fn change(&self, from: End, datagram: &mut [u8], change: impl FnOnce(&mut [u8])) {
        let was_right = self.secret().proves(from, datagram);
        change(datagram);
        if was_right {
            self.prove(from, datagram, datagram.len() - proof::LEN);
        }
    }
}

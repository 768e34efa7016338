//! The clock of a stream: the consecutive references of the first PID that carries any.

use crate::packet::Packet;
use crate::stamp::{Pcr, Ticks};

/// The longest step between two references that counts as time passing. The standard allows 100 ms (ISO/IEC 13818-1
/// §2.7.2); files deviate from it, but ffmpeg, too, treats 10 s as a jump.
pub const LONGEST_STEP: Ticks = Ticks::from_secs(10);

/// The step from one reference to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The reference at its end.
    pub pcr: Pcr,
    /// Packets from the first reference, inclusive, to the second, exclusive.
    pub packets: u64,
    /// The time that passed; none if the clock jumped, or if this is the first reference.
    pub ticks: Option<Ticks>,
}

/// Reads the references of one PID.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Clock {
    pid: Option<u16>,
    last: Option<Pcr>,
    packets: u64,
}

impl Clock {
    /// A clock that follows the first PID with a reference.
    pub fn new() -> Clock {
        Clock::default()
    }

    /// Takes every packet in turn; returns the step that ends at this one.
    pub fn observe(&mut self, packet: &Packet) -> Option<Step> {
        let pcr = packet.pcr().filter(|_| self.pid.is_none_or(|pid| pid == packet.pid()));
        let step = pcr.map(|pcr| {
            let ticks = self
                .last
                .filter(|_| !packet.has_discontinuity())
                .map(|last| pcr.since(last))
                .filter(|ticks| (Ticks(1)..=LONGEST_STEP).contains(ticks));
            Step { pcr, packets: core::mem::take(&mut self.packets), ticks }
        });
        if pcr.is_some() {
            self.last = pcr;
            self.pid = Some(packet.pid());
        }
        self.packets += 1;
        step
    }
}

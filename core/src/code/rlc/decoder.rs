//! The decoding side: originals and repair symbols in, originals in order out.
//!
//! Each original is known, covered by equations, or neither. Known originals are subtracted from a repair symbol on
//! arrival; the rest is an equation over unknown ones, which is added to a [`System`].
//!
//! **Cost.** An original that no equation covers is only stored. A repair symbol is refused or found redundant by its
//! coefficients alone; an innovative one costs a multiplication of every known original that it covers, and two of
//! every equation kept. An original that is covered costs one or two of every equation.
//!
//! **Memory.** Originals are kept from the first that is not delivered, or that a repair symbol may still cover, to a
//! buffer beyond the first not delivered: less than a window and a buffer. Equations take one symbol each, in place of
//! the original that they are solved for, and at most window² / 2 bytes of factors, spare capacity included: 18 MB in
//! all if both are 4095 originals of 1200 bytes, and a few kilobytes when all are delivered and
//! [forgotten](Decoder::forget).

mod system;

use std::collections::VecDeque;
use std::mem;

use super::symbol::{self, LENGTH, Spares};
use super::{Config, Error, RepairId};

use self::system::System;

/// Slots that stay allocated when the decoder is empty.
const IDLE: usize = 64;

/// The effect of a packet on the decoder's rank.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// The packet raised the rank.
    Innovative,
    /// The packet was not innovative.
    Redundant,
}

/// The decoder of one stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoder {
    config: Config,
    /// The number of the first slot.
    first: u64,
    /// The originals from the first kept to the last that has arrived or is covered; those before `edge` are known.
    slots: VecDeque<Slot>,
    /// The number of slots with an original.
    kept: usize,
    /// The first original not delivered.
    next: u64,
    /// The first original not known.
    edge: u64,
    /// The sender's promise: no further repair symbol covers originals before this one.
    promised: u64,
    system: System,
    /// The originals that the last packet has determined.
    determined: Vec<u64>,
    spares: Spares,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Slot {
    /// Neither known nor covered.
    Missing,
    /// An unknown of the system.
    Covered,
    /// Received or decoded: with its length, without padding.
    Known(Vec<u8>),
}

impl Decoder {
    /// A decoder without packets.
    ///
    /// # Errors
    /// [`Error::Config`] if a value of `config` is out of its range.
    pub fn new(config: Config) -> Result<Decoder, Error> {
        let config = config.check()?;
        let (slots, system, spares) = (VecDeque::new(), System::default(), Spares::default());
        let determined = Vec::new();
        Ok(Decoder { config, first: 0, slots, kept: 0, next: 0, edge: 0, promised: 0, system, determined, spares })
    }

    /// Takes an original as it was sent.
    ///
    /// # Errors
    /// [`Error::Length`] if it is longer than configured, [`Error::Beyond`] if it is a buffer or more past the first
    /// that is not delivered, both without effect; [`Error::Inconsistent`] if it determines an original that is
    /// malformed.
    pub fn handle_original(&mut self, number: u64, original: &[u8]) -> Result<Arrival, Error> {
        self.determined.clear();
        if original.len() > self.config.longest {
            return Err(Error::Length);
        }
        if number < self.edge {
            return Ok(Arrival::Redundant);
        }
        self.check_within(number)?;
        let symbol = self.spares.symbol(original);
        match self.slot(number) {
            Slot::Known(_) => return Ok(Arrival::Redundant),
            Slot::Covered => self.system.reveal(number, &symbol),
            Slot::Missing => {}
        }
        self.put(number, Slot::Known(symbol));
        self.settle()
    }

    /// Takes a repair symbol.
    ///
    /// # Errors
    /// Without effect: [`Error::Range`] if its range is empty or larger than the window, [`Error::Length`] if the
    /// symbol is longer or shorter than any over its range can be, [`Error::Beyond`] if the range ends a window or more
    /// past the [`edge`](Decoder::edge), or a buffer or more past the first original that is not delivered,
    /// [`Error::Missing`] if it begins before the first original kept and ends at the edge or later, which happens only
    /// after [`forget`](Decoder::forget). [`Error::Inconsistent`] if it determines an original that is malformed.
    pub fn handle_repair(&mut self, id: &RepairId, symbol: &[u8]) -> Result<Arrival, Error> {
        self.determined.clear();
        let count = self.config.count(id.first, id.last)?;
        if !(LENGTH..=LENGTH + self.config.longest).contains(&symbol.len()) {
            return Err(Error::Length);
        }
        if id.last < self.edge {
            return Ok(Arrival::Redundant);
        }
        self.check_within(id.last)?;
        // A sender begins at the edge or before; a range that begins beyond it could bring more unknowns than a window.
        if id.last - self.edge >= self.config.window as u64 {
            return Err(Error::Beyond);
        }
        if id.first < self.first {
            return Err(Error::Missing);
        }
        if self.known(id).any(|(_, known)| known.len() > symbol.len()) {
            return Err(Error::Length);
        }
        if self.known(id).count() == count {
            return Ok(Arrival::Redundant);
        }
        let coefficients: Vec<u8> = id.coefficients().take(count).collect();
        self.cover(id, &coefficients);
        let coefficient = |number: u64| {
            let index = number.checked_sub(id.first).and_then(|index| usize::try_from(index).ok());
            index.and_then(|index| coefficients.get(index)).copied().unwrap_or(0)
        };
        let Some(equation) = self.system.reduce(coefficient) else { return Ok(Arrival::Redundant) };
        let slots = &self.slots;
        let known = known(slots, self.first, id).map(|(number, known)| (coefficient(number), known));
        self.system.insert(equation, symbol, known);
        self.settle()
    }

    /// The next original in order, with its number, if it is known. It stays kept for later repair symbols.
    pub fn poll_original(&mut self) -> Option<(u64, &[u8])> {
        self.trim();
        if self.next == self.edge {
            return None;
        }
        let number = self.next;
        self.next += 1;
        match &self.slots[(number - self.first) as usize] {
            Slot::Known(symbol) => Some((number, symbol::original(symbol))),
            Slot::Missing | Slot::Covered => unreachable!("all before the edge are known"),
        }
    }

    /// The originals that the last packet has determined, beside the one that it was, with their numbers.
    pub fn determined(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.determined.iter().filter_map(|&number| Some((number, self.original(number)?)))
    }

    /// The original `number`, if it is known and kept.
    pub fn original(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        match self.slots.get(index)? {
            Slot::Known(symbol) => Some(symbol::original(symbol)),
            Slot::Missing | Slot::Covered => None,
        }
    }

    /// The first original that is not known.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// True if the original was received or decoded.
    pub fn knows(&self, number: u64) -> bool {
        number < self.edge || matches!(self.slot(number), Slot::Known(_))
    }

    /// The number of innovative packets missing until all originals that are covered by equations are known.
    pub fn deficit(&self) -> usize {
        self.system.free()
    }

    /// The number of originals kept, delivered or not.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Takes the sender's promise that no repair symbol made from now on covers originals before `number`: they are
    /// forgotten once delivered. A repair symbol in flight that covers one of them is refused.
    pub fn forget(&mut self, number: u64) {
        self.promised = self.promised.max(number);
        self.trim();
    }

    /// Gives up the originals before `number`: those that are unknown or not delivered never will be, and a repair symbol that
    /// covers any of them is refused.
    pub fn skip(&mut self, number: u64) {
        for original in self.edge..number.min(self.first + self.slots.len() as u64) {
            if *self.slot(original) == Slot::Covered {
                self.system.give_up(original);
            }
        }
        self.next = self.next.max(number);
        self.edge = self.edge.max(number);
        self.promised = self.promised.max(number);
        self.advance();
    }

    /// Drops the delivered originals that no innovative repair symbol can cover: such a symbol ends at the edge or
    /// later, and covers at most a window.
    fn trim(&mut self) {
        let coverable = self.edge.saturating_sub(self.config.window as u64 - 1);
        let first = self.promised.max(coverable).min(self.next);
        if first > self.first {
            let gone = ((first - self.first) as usize).min(self.slots.len());
            for slot in self.slots.drain(..gone) {
                if let Slot::Known(symbol) = slot {
                    self.kept -= 1;
                    self.spares.put(symbol);
                }
            }
            self.first = first;
            if self.slots.is_empty() {
                self.slots.shrink_to(IDLE);
                self.determined = Vec::new();
                self.spares.clear();
            }
        }
    }

    /// Moves the originals that the system has determined to their slots, and advances the edge past them.
    fn settle(&mut self) -> Result<Arrival, Error> {
        let mut result = Ok(Arrival::Innovative);
        for (number, symbol) in self.system.take_determined() {
            match symbol::trimmed(symbol) {
                Some(symbol) => {
                    self.put(number, Slot::Known(symbol));
                    self.determined.push(number);
                }
                None => {
                    self.put(number, Slot::Missing);
                    result = Err(Error::Inconsistent);
                }
            }
        }
        self.advance();
        result
    }

    /// Moves the edge past known originals.
    fn advance(&mut self) {
        while let Some(Slot::Known(_)) = self.slots.get((self.edge - self.first) as usize) {
            self.edge += 1;
        }
        self.trim();
    }

    /// Makes the unknown originals with nonzero `coefficients` unknowns of the system.
    fn cover(&mut self, id: &RepairId, coefficients: &[u8]) {
        for (number, &coefficient) in (id.first..=id.last).zip(coefficients) {
            if coefficient != 0 && *self.slot(number) == Slot::Missing {
                self.put(number, Slot::Covered);
                self.system.cover(number);
            }
        }
    }

    fn known(&self, id: &RepairId) -> impl Iterator<Item = (u64, &[u8])> {
        known(&self.slots, self.first, id)
    }

    fn check_within(&self, number: u64) -> Result<(), Error> {
        let ahead = number.saturating_sub(self.next);
        if ahead < self.config.buffer as u64 { Ok(()) } else { Err(Error::Beyond) }
    }

    /// The slot of an original, which is not before the first kept.
    fn slot(&self, number: u64) -> &Slot {
        usize::try_from(number - self.first).ok().and_then(|index| self.slots.get(index)).unwrap_or(&Slot::Missing)
    }

    fn put(&mut self, number: u64, slot: Slot) {
        let index = (number - self.first) as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, Slot::Missing);
        }
        self.kept += usize::from(matches!(slot, Slot::Known(_)));
        let before = mem::replace(&mut self.slots[index], slot);
        self.kept -= usize::from(matches!(before, Slot::Known(_)));
    }
}

/// The known originals of a range that begins at `first` or later, with their numbers.
fn known<'a>(slots: &'a VecDeque<Slot>, first: u64, id: &RepairId) -> impl Iterator<Item = (u64, &'a [u8])> {
    let start = ((id.first - first) as usize).min(slots.len());
    let end = ((id.last - first) as usize + 1).min(slots.len());
    (id.first..).zip(slots.range(start..end)).filter_map(|(number, slot)| match slot {
        Slot::Known(symbol) => Some((number, symbol.as_slice())),
        Slot::Missing | Slot::Covered => None,
    })
}

//! The frames that are due: taken on from the video, neither sent nor skipped yet.

use std::collections::VecDeque;

use super::Config;
use crate::law::rate::r3cp;
use crate::law::schedule::selective::{self, Selection};
use crate::rng::Rng;
use crate::session::stored::media::MediaTime;
use crate::session::stored::{First, Frame, Media, Unit};
use crate::time::Span;
use crate::video::{Class, Kind};
use crate::wire::stored::{FlowControl, MAX_FRAMES, Mode};

/// A frame that waits, or whose packets are being sent.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pending {
    index: u32,
    frame: Frame,
    /// Its packets that were sent.
    sent: u16,
}

impl Pending {
    /// The amount of its packets that wait.
    fn unsent(&self, unit: Unit) -> u32 {
        let Frame { packets, bytes, .. } = self.frame;
        let waiting = packets - self.sent;
        unit.amount(waiting.into(), (u64::from(bytes) * u64::from(waiting) / u64::from(packets.max(1))) as u32)
    }
}

/// A packet to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Next {
    pub(super) index: u32,
    pub(super) frame: Frame,
    pub(super) packet: u16,
}

/// Frames between the video and the path.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Due {
    /// The first frame that is not taken on.
    next: u32,
    /// Frames displayed before are skipped.
    from: Span,
    position: MediaTime,
    /// In the order of sending.
    pending: Vec<Pending>,
    /// The classes of the last frames taken on, and true for those that were skipped.
    described: VecDeque<(Class, bool)>,
    is_end: bool,
    /// The media time after the period within which frames to skip are chosen.
    horizon: Span,
    unit: Unit,
    /// The amount that is still to be skipped.
    debt: f64,
    rng: Rng,
}

impl Due {
    pub(super) fn new(media: &impl Media, config: &Config, rng: Rng) -> Due {
        let Config { first: First { index: first, from, .. }, horizon, unit, .. } = *config;
        let position = MediaTime::at(media, first);
        Due {
            next: first,
            from,
            position,
            pending: Vec::new(),
            described: VecDeque::new(),
            is_end: false,
            horizon,
            unit,
            debt: 0.0,
            rng,
        }
    }

    /// The media time of which every packet was sent or skipped.
    // Reading(R3CP+ Eq. (12)): a frame is taken on whole, but what waits of it has not been due for arrival.
    pub(super) fn media_time(&self) -> Span {
        self.position.before(self.unsent())
    }

    /// The first frame that is not taken on.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// The first frame that is not settled: neither sent nor skipped.
    pub(super) fn first_pending(&self) -> u32 {
        self.pending.iter().map(|pending| pending.index).min().unwrap_or(self.next)
    }

    /// True if no frame follows those taken on.
    pub(super) fn is_end(&self) -> bool {
        self.is_end
    }

    /// The packets that wait.
    fn unsent(&self) -> u32 {
        self.pending.iter().map(|pending| u32::from(pending.frame.packets - pending.sent)).sum()
    }

    /// Takes on the share of `d` seconds that `message` asks for, and skips what its rates leave between them; the sender
    /// retransmits `asked` packets in that time.
    // Reading(R3CP+ §3.3): where more is requested than desired, to fill the receiver's store, all of it is owed.
    pub(super) fn take_share(&mut self, media: &impl Media, message: &FlowControl, d: Span, asked: usize) {
        let FlowControl { lambda, rho, playout, mode, .. } = *message;
        let (d, one) = (d.as_secs_f64(), self.unit.one());
        self.take_on(media, lambda.max(rho) * d * one, playout);
        self.select(media, r3cp::skipped(lambda, rho, d, asked as f64) * one, mode);
    }

    /// Takes on frames until `amount` waits. Those displayed before `playout` are skipped, also where they waited.
    fn take_on(&mut self, media: &impl Media, amount: f64, playout: Span) {
        let is_over = |pending: &&Pending| pending.sent == 0 && pending.frame.display < playout;
        let over: Vec<u32> = self.pending.iter().filter(is_over).map(|pending| pending.index).collect();
        over.into_iter().for_each(|index| self.skip(index));
        // Deviation(R3CP+ §3.3): packets that were not sent in their period lower what the next one takes on. Otherwise
        // every later frame would be late by them.
        let waiting: u32 = self.pending.iter().map(|pending| pending.unsent(self.unit)).sum();
        let mut missing = amount - f64::from(waiting);
        while missing > 0.0 {
            let Some(frame) = self.take_next(media, playout) else { break };
            missing -= f64::from(self.unit.amount(frame.packets.into(), frame.bytes));
        }
    }

    /// Takes on the frames that are decoded by `until`.
    pub(super) fn take_on_until(&mut self, media: &impl Media, until: Span) {
        while media.frame(self.next).is_some_and(|frame| frame.decode <= until) {
            self.take_next(media, Span::ZERO);
        }
        self.is_end = media.frame(self.next).is_none();
    }

    /// Takes on the next frame that is displayed at `playout` or later.
    fn take_next(&mut self, media: &impl Media, playout: Span) -> Option<Frame> {
        loop {
            let Some(frame) = media.frame(self.next) else {
                self.is_end = true;
                return None;
            };
            let (index, is_over) = (self.next, frame.display < playout.max(self.from));
            self.next += 1;
            self.position.pass(media, index, frame.packets);
            self.described.push_back((frame.class, is_over));
            if self.described.len() > MAX_FRAMES {
                self.described.pop_front();
            }
            if !is_over {
                self.pending.push(Pending { index, frame, sent: 0 });
                return Some(frame);
            }
        }
    }

    /// Skips frames of an amount `zeta`, and sorts the others into the order of `mode`.
    // Deviation(R3CP+ §3.3): what the B of the next half second can make up for is owed until they are due, where the paper
    // chooses within the period. A period of 0.1 s may hold an I alone, which all frames of its group need.
    fn select(&mut self, media: &impl Media, zeta: f64, mode: Mode) {
        self.pending.sort_by_key(|pending| pending.index);
        self.debt = if zeta > 0.0 { self.debt + zeta } else { 0.0 };
        self.skip_of(|class| class == Class::Picture(Kind::B), self.debt);
        let later = f64::from(self.later_b(media));
        self.skip_of(|class| class != Class::Audio, self.debt - later);
        self.debt = self.debt.min(later).max(0.0);
        if mode == Mode::Selective {
            // A frame that is partly sent is completed first.
            self.pending.sort_by_key(|pending| (pending.sent == 0, core::cmp::Reverse(pending.frame.class)));
        }
    }

    /// Skips waiting frames of an amount `zeta` among those of some classes.
    fn skip_of(&mut self, is_candidate: impl Fn(Class) -> bool, zeta: f64) {
        let candidates: Vec<(u32, selective::Frame)> = self
            .pending
            .iter()
            .filter(|pending| pending.sent == 0 && is_candidate(pending.frame.class))
            .filter_map(|pending| match pending.frame.class {
                Class::Picture(kind) => {
                    Some((pending.index, selective::Frame { kind, amount: pending.unsent(self.unit) }))
                }
                Class::Audio => None,
            })
            .collect();
        let frames: Vec<selective::Frame> = candidates.iter().map(|(_, frame)| *frame).collect();
        for nth in Selection::of(&frames, zeta, &mut self.rng).skipped {
            self.debt -= f64::from(frames[nth].amount);
            self.skip(candidates[nth].0);
        }
    }

    /// The amount of the B that are decoded within the horizon after the frames taken on.
    fn later_b(&self, media: &impl Media) -> u32 {
        let start = media.frame(self.next).map_or(Span::ZERO, |frame| frame.decode);
        let later = (self.next..).map_while(|index| media.frame(index));
        let within = later.take_while(|frame| frame.decode < start + self.horizon).take(MAX_FRAMES);
        let b = within.filter(|frame| frame.class == Class::Picture(Kind::B));
        b.map(|frame| self.unit.amount(frame.packets.into(), frame.bytes)).sum()
    }

    /// Skips a frame that waits.
    fn skip(&mut self, index: u32) {
        self.pending.retain(|pending| pending.index != index);
        let behind = (self.next - index) as usize;
        if let Some(at) = self.described.len().checked_sub(behind) {
            self.described[at].1 = true;
        }
    }

    /// The next packet to send, if any waits.
    pub(super) fn peek(&self) -> Option<Next> {
        let Pending { index, frame, sent } = *self.pending.first()?;
        Some(Next { index, frame, packet: sent })
    }

    /// Removes the packet that [`Due::peek`] returned.
    pub(super) fn pop(&mut self) {
        if let Some(pending) = self.pending.first_mut() {
            pending.sent += 1;
            if pending.sent == pending.frame.packets {
                self.pending.remove(0);
            }
        }
    }

    /// The class of each frame from `first` to before `end`, with true if it was skipped, as far back as is known; and
    /// the first of them.
    pub(super) fn described(&self, first: u32, end: u32) -> (u32, Vec<(Class, bool)>) {
        let oldest = self.next - self.described.len() as u32;
        let (first, end) = (first.clamp(oldest, self.next), end.clamp(oldest, self.next));
        let range = (first - oldest) as usize..(end.max(first) - oldest) as usize;
        (first, self.described.range(range).copied().collect())
    }
}

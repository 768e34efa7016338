//! Media without blocks: packets that leave as they are produced, and the originals that are still of use.
//!
//! The law ([`crate::law::schedule::deadline`]) chooses the next packet of repair; [`super::immediate`] sends it. A resend
//! is a combination of one original, so that there are two RTP streams, as with blocks.

use std::collections::VecDeque;

use super::history::MEMORY;
use super::transmit::BATCH;
use crate::code::rlc::{Config, Density, Encoder, MAX_WINDOW, RepairId};
use crate::law::PacketReport;
use crate::law::schedule::deadline::{Deadline, Parameters, Path, Window};
use crate::law::schedule::gilbert_elliott::GilbertElliott;
use crate::law::schedule::{Coded, LARGEST, Schedule, View};
use crate::rtt::Smoothed;
use crate::session::live::MAX_PAYLOAD;
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::windowed_min::WindowedMin;
use crate::wire::rtp;

/// The code: originals are whole RTP packets. The encoder keeps those of the law's window.
const CODE: Config = Config { window: MAX_WINDOW, buffer: MAX_WINDOW, longest: rtp::HEADER_LEN + MAX_PAYLOAD };

/// The loss that is assumed of an unknown path. Ours: the law then sends some repair ahead until a hundred packets have
/// arrived.
const PRIOR: f64 = 0.01;
/// The number of outcomes of either kind over which losses are remembered. Ours: two seconds at 10 Mb/s; fewer follow
/// single bursts, more follow a changed path later.
const OUTCOMES: f64 = 2000.0;

/// The most arrivals between two losses of a burst. Ours: where a bad state that lasts for 3 packets loses 70 % of them, one in a
/// hundred of its losses follows later; with more, independent losses pass for bursts.
const GAP: u32 = 2;

/// The deviations from the mean within which the loss of a repair packet counts as known: K of RFC 6298 §2.
const DEVIATIONS: u64 = 4;

/// The time for which the least notice is remembered. Ours: as long as reordering, on which it depends.
const NOTICE: Span = Span::from_secs(10);

/// A media packet that has not left yet.
#[derive(Clone, PartialEq, Debug)]
struct Waiting {
    produced: Time,
    packet: Vec<u8>,
}

/// The state of a packet that has left, as the window knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    InFlight,
    Lost,
    Arrived,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Sent {
    at: Time,
    coded: Coded,
    is_repair: bool,
    state: State,
}

/// The law, its window, its code and its knowledge of the path.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sliding {
    law: Deadline,
    window: Window,
    code: Encoder,
    losses: GilbertElliott,
    waiting: VecDeque<Waiting>,
    spare: Vec<Vec<u8>>,
    /// Packets that have left, by their order numbers in the history, from `first` on.
    sent: VecDeque<Sent>,
    first: u64,
    /// The repair key of the next combination.
    key: u16,
    /// The time at which the newest original was produced.
    newest: Time,
    /// The round trip, and the least time from the departure of a packet until its loss is known.
    round_trip: Smoothed,
    notice: WindowedMin<Span>,
    /// The time from the departure of a repair packet until its loss is known.
    again: Smoothed,
    /// The time of the next choice; none without anything to choose about.
    chance: Option<Time>,
    /// True if the last choice was to send nothing.
    is_idle: bool,
    /// The time at which the maximum rate lets the next packet leave.
    free_at: Time,
    /// The expected number of losses among the originals that were too late since the last [`Sliding::take_expected`].
    expected_lost: f64,
}

impl Sliding {
    /// A window without originals.
    pub(super) fn new(parameters: Parameters) -> Sliding {
        Sliding {
            law: Deadline::new(parameters).expect("the law of redundancy has checked them"),
            window: Window::new(0),
            code: Encoder::new(CODE).expect("constants in range"),
            losses: GilbertElliott::new(PRIOR, OUTCOMES).expect("constants in range").with_gap(GAP),
            waiting: VecDeque::new(),
            spare: Vec::new(),
            sent: VecDeque::new(),
            first: 0,
            key: 0,
            newest: Time::ZERO,
            round_trip: Smoothed::default(),
            notice: WindowedMin::new(NOTICE),
            again: Smoothed::default(),
            chance: None,
            is_idle: false,
            free_at: Time::ZERO,
            expected_lost: 0.0,
        }
    }

    /// Takes a media datagram that was produced at `produced`, to be sent with `header`.
    pub(super) fn push(&mut self, produced: Time, header: rtp::Header, payload: &[u8]) {
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.resize(rtp::HEADER_LEN + payload.len(), 0);
        header.emit(&[], &mut packet);
        packet[rtp::HEADER_LEN..].copy_from_slice(payload);
        self.waiting.push_back(Waiting { produced, packet });
    }

    /// The time at which the next media packet was produced.
    pub(super) fn next_produced(&self) -> Option<Time> {
        self.waiting.front().map(|waiting| waiting.produced)
    }

    /// Bytes of media that have not left yet.
    pub(super) fn queued(&self) -> Bytes {
        Bytes(self.waiting.iter().map(|waiting| (waiting.packet.len() - rtp::HEADER_LEN) as u64).sum())
    }

    /// Drops the next media packet, because it is too late.
    pub(super) fn drop_next(&mut self) {
        self.spare.extend(self.waiting.pop_front().map(|waiting| waiting.packet));
    }

    /// Takes out the next media packet, which leaves with the RTP sequence number `sequence`: writes it to `buf`, and
    /// returns its length and the number of the original.
    pub(super) fn pop(&mut self, now: Time, sequence: u64, buf: &mut [u8]) -> Option<(usize, u64)> {
        let Waiting { produced, mut packet } = self.waiting.pop_front()?;
        packet[super::block::SEQUENCE..][..2].copy_from_slice(&(sequence as u16).to_be_bytes());
        if self.window.queue().len() == MAX_WINDOW {
            self.window.release_before(self.window.queue().b() + 1);
            self.code.forget(self.window.queue().b());
        }
        let number = self.window.push(produced);
        let pushed = self.code.push(&packet).expect("a datagram that was checked, and the buffer has space");
        debug_assert_eq!(number, pushed);
        self.newest = produced;
        let len = packet.len();
        buf[..len].copy_from_slice(&packet);
        self.spare.push(packet);
        let coded = Coded { first: number, last: number, p_useless: 0.0 };
        self.note(Sent { at: now, coded, is_repair: false, state: State::InFlight });
        Some((len, number))
    }

    /// The packet of repair that is to leave now, if any is worth `scarcity` times the price; `path` is that of the
    /// measurements, without losses.
    pub(super) fn choose(
        &mut self,
        now: Time,
        scarcity: f64,
        in_flight: u32,
        path: impl FnOnce(&GilbertElliott) -> Path,
    ) -> Option<Coded> {
        self.losses.in_flight(in_flight);
        let path = path(&self.losses);
        self.release(now, path.budget);
        self.law.set_scarcity(scarcity);
        let choice = self.law.choose(&View { now, queue: &self.window, path }).packet(self.window.queue());
        self.is_idle = choice.is_none();
        choice
    }

    /// A combination of all originals that are of use and not known to be there.
    pub(super) fn combination(&self) -> Option<Coded> {
        let queue = self.window.queue();
        let last = queue.b() + queue.n().min(LARGEST) as u64;
        (queue.n() > 1).then(|| Coded { first: queue.b(), last: last - 1, p_useless: 1.0 })
    }

    /// Writes the repair symbol of a packet of [`Sliding::choose`], which leaves now, to `buf`. Returns its identity and the
    /// symbol's length.
    pub(super) fn repair(&mut self, now: Time, coded: Coded, buf: &mut [u8]) -> Option<(RepairId, usize)> {
        self.key = self.key.wrapping_add(1);
        let id = RepairId { first: coded.first, last: coded.last, key: self.key, density: Density::FULL };
        let len = self.code.repair(&id, buf).ok()?;
        self.note(Sent { at: now, coded, is_repair: true, state: State::InFlight });
        Some((id, len))
    }

    fn note(&mut self, sent: Sent) {
        self.window.sent(sent.at, &sent.coded);
        self.sent.push_back(sent);
    }

    /// Takes the packets that reports have settled.
    pub(super) fn on_settled(&mut self, now: Time, settled: &[PacketReport]) {
        for report in settled {
            report.acknowledged.iter().for_each(|at| self.round_trip.sample(at.since(report.sent)));
            self.settle(now, report.number, report.acknowledged.is_none());
        }
    }

    /// Takes outcomes in the order of sending.
    pub(super) fn on_outcomes(&mut self, outcomes: &[bool]) {
        outcomes.iter().for_each(|&lost| self.losses.outcome(lost));
    }

    /// Takes the outcome of the packet with this order number. Returns the time at which it left if it is found lost.
    fn settle(&mut self, now: Time, order: u64, is_lost: bool) -> Option<Time> {
        let at = usize::try_from(order.checked_sub(self.first)?).ok()?;
        let sent = self.sent.get_mut(at)?;
        match (sent.state, is_lost) {
            (State::InFlight, true) => {
                sent.state = State::Lost;
                self.window.lost(&sent.coded);
                if sent.is_repair {
                    self.again.sample(now.since(sent.at));
                }
                return Some(sent.at);
            }
            (State::InFlight, false) => self.window.arrived(&sent.coded),
            (State::Lost, false) => self.window.arrived_late(&sent.coded),
            (State::Lost, true) | (State::Arrived, _) => return None,
        }
        sent.state = State::Arrived;
        None
    }

    /// Takes a NACK for the packet with this order number.
    pub(super) fn on_nack(&mut self, now: Time, order: u64) {
        if let Some(left) = self.settle(now, order, true) {
            self.notice.push(now, now.since(left));
            (self.chance, self.is_idle) = (Some(now), false);
        }
    }

    /// Forgets the originals that are known to be there, or too late `budget` after their production.
    pub(super) fn release(&mut self, now: Time, budget: Span) {
        let late = self.window.release(now, budget);
        let eps = self.losses.eps();
        self.expected_lost += late.map(|l| self.law.expected_loss(l).unwrap_or(eps)).sum::<f64>();
        self.code.forget(self.window.queue().b());
    }

    /// Takes out the number of losses that the law expected among the originals that have become too late, in millionths.
    pub(super) fn take_expected(&mut self) -> u64 {
        (core::mem::take(&mut self.expected_lost) * 1e6) as u64
    }

    /// The time from the departure of a packet until its loss is known if the next one, a `slot` later, arrives.
    pub(super) fn notice(&self, slot: Span) -> Span {
        self.notice.get().unwrap_or(Span::ZERO).max(self.round_trip() + slot)
    }

    /// The same for a repair packet: nearly all losses of these are known by then, as by a retransmission timeout (RFC 6298).
    pub(super) fn again(&self, slot: Span) -> Span {
        let measured = self.again.srtt().map_or(Span::ZERO, |srtt| srtt + self.again.rttvar() * DEVIATIONS);
        measured.max(self.notice(slot))
    }

    /// The round trip that most packets do not exceed; zero before the first.
    pub(super) fn round_trip(&self) -> Span {
        self.round_trip.srtt().map_or(Span::ZERO, |srtt| srtt + self.round_trip.rttvar())
    }

    /// The time of the next choice.
    pub(super) fn chance(&self) -> Option<Time> {
        self.chance
    }

    /// True if the last choice was to send nothing, and no loss is known since.
    pub(super) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Makes a choice due at `now`, unless one is due earlier or was made less than its gap ago.
    pub(super) fn may_choose_from(&mut self, now: Time) {
        self.chance.get_or_insert(now);
    }

    /// The number of originals that were lost, and the time until the first of the window is too late.
    pub(super) fn urgency(&self, now: Time, budget: Span) -> (usize, Span) {
        let queue = self.window.queue();
        let first = queue.first_missing().map_or(now, |l| queue.place(l).entered);
        (queue.missing(), (first + budget).since(now))
    }

    /// Makes no choice before another packet leaves, or a packet is named as lost.
    pub(super) fn rest(&mut self) {
        self.chance = None;
    }

    /// Makes the next choice due `gap` after this one; late timers do not widen the gaps.
    pub(super) fn postpone(&mut self, now: Time, gap: Span) {
        let in_doubt = !self.window.queue().is_empty();
        self.chance = self.chance.filter(|_| in_doubt).map(|chance| chance.max(now - BATCH) + gap);
    }

    /// The time at which the maximum rate lets the next packet leave.
    pub(super) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Takes the path for `span`, of which up to `slack` may lie in the past, if the path was free then.
    pub(super) fn occupy(&mut self, now: Time, slack: Span, span: Span) {
        self.free_at = self.free_at.max(now - slack) + span;
    }

    /// Forgets packets that left too long ago for a report.
    pub(super) fn forget(&mut self, now: Time) {
        while self.sent.front().is_some_and(|sent| sent.at < now - MEMORY) {
            self.sent.pop_front();
            self.first += 1;
        }
    }

    /// The time from which on nothing more is to be sent; none while media waits.
    pub(super) fn ends_at(&self, budget: Span) -> Option<Time> {
        let is_known = self.window.queue().is_empty();
        self.waiting.is_empty().then(|| if is_known { Time::ZERO } else { self.newest + budget })
    }

    /// Drops all media, and forgets what has left.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.window = Window::new(self.code.originals().end);
        self.code.forget(u64::MAX);
    }
}

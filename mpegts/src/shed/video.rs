//! One stream of video: the decision on each of its pictures.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::counter::Counter;
use super::forecast::Forecast;
use super::picture::{Codec, Kind, Scan, kind};
use super::queue::Queue;
use crate::PACKET;
use crate::packet::Packet;
use crate::pes::Header;
use crate::stamp::{Ticks, Timestamp};

/// Longest wait for a random access point: then a decoder gets what there is. Ours; three times the ten seconds that
/// encoders have between such points at most by default.
const LONGEST_WAIT: Span = Span::from_secs(30);
/// The longest time by which a picture is displayed before a random access point that precedes it in the stream. Ours: a
/// jump of the time stamps is longer, a group of B pictures shorter.
const LONGEST_LEAD: Ticks = Ticks::from_secs(2);

/// A stream of video.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Video {
    /// The PID of the table that names the stream.
    pub(super) map: u16,
    codec: Codec,
    counter: Counter,
    scan: Scan,
    picture: Option<Picture>,
    forecasts: Forecasts,
    access: Access,
    phase: Phase,
    shed: u64,
}

/// The picture that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Picture {
    kind: Kind,
    began: Time,
    newest: Time,
    bytes: u64,
    is_shed: bool,
    /// True if the picture is sent although it is larger than the queue may be.
    is_oversize: bool,
}

/// The pictures that a decoder lacks.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// It has all that are referred to.
    Complete,
    /// Since this time it waits for a random access point.
    Broken(Time),
    /// It has started at a picture of this presentation time: those displayed before it may refer to dropped ones.
    Resumed(Timestamp),
}

/// Sizes of pictures by their kind.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Forecasts {
    disposable: Forecast,
    reference: Forecast,
    random_access: Forecast,
}

/// The random access points: the last one, and its time after the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Access {
    last: Option<Time>,
    interval: Option<Span>,
}

impl Video {
    pub(super) fn new(map: u16, codec: Codec) -> Video {
        Video {
            map,
            codec,
            counter: Counter::default(),
            scan: Scan::default(),
            picture: None,
            forecasts: Forecasts::default(),
            access: Access::default(),
            phase: Phase::Complete,
            shed: 0,
        }
    }

    /// Continues with `codec`, if it is another one.
    pub(super) fn set_codec(&mut self, codec: Codec) {
        // Headers that are not trusted any more stay so.
        if self.codec != codec && self.codec != Codec::Other {
            self.codec = codec;
        }
    }

    /// Pictures dropped, in whole or in part.
    pub(super) fn shed(&self) -> u64 {
        self.shed
    }

    /// The bytes by which a random access point lengthens the queue.
    pub(super) fn random_access(&self, queue: &Queue) -> Bytes {
        self.forecasts.random_access.growth(queue)
    }

    /// The packet, if any of it remains.
    pub(super) fn judge(&mut self, now: Time, mut packet: Packet, queue: &Queue) -> Option<Packet> {
        let is_repeat = self.counter.observe(&packet);
        if packet.has_payload() && !is_repeat && !packet.is_damaged() {
            if packet.starts_unit() {
                self.begin(now, &packet, queue);
            }
            self.check_kind(now, &packet);
        }
        let is_shed = self.picture.is_some_and(|picture| picture.is_shed);
        if let Some(picture) = &mut self.picture {
            picture.bytes += PACKET as u64;
            picture.newest = now;
            let is_spared = picture.is_oversize || (picture.kind == Kind::Reference && !self.access.is_known());
            let is_late = !is_spared && !queue.can_carry(Bytes(PACKET as u64));
            if is_late && !is_shed && packet.has_payload() {
                self.shed_picture();
                self.miss(now);
                return self.without_payload(packet, is_repeat);
            }
        }
        if is_shed && packet.has_payload() {
            return self.without_payload(packet, is_repeat);
        }
        self.counter.set(&mut packet);
        Some(packet)
    }

    /// The clock in a packet whose payload is dropped, if it has one.
    fn without_payload(&mut self, mut packet: Packet, is_repeat: bool) -> Option<Packet> {
        if !is_repeat {
            self.counter.drop_one();
        }
        if packet.pcr().is_none() && !packet.has_discontinuity() {
            return None;
        }
        packet.remove_payload();
        self.counter.set(&mut packet);
        Some(packet)
    }

    /// Begins the picture that starts in `packet`.
    fn begin(&mut self, now: Time, packet: &Packet, queue: &Queue) {
        if let Some(Picture { kind, began, newest, bytes, .. }) = self.picture.take() {
            self.forecasts.of(kind).add(bytes, began, newest);
        }
        let kind = if packet.is_scrambled() { kind(Codec::Other, packet) } else { kind(self.codec, packet) };
        self.scan.restart();
        let growth = self.forecasts.of(kind).growth(queue);
        let is_oversize = kind == Kind::RandomAccess && queue.is_short() && !queue.can_carry(growth);
        self.picture = Some(Picture { kind, began: now, newest: now, bytes: 0, is_shed: false, is_oversize });
        let time = Header::parse(packet).map(|header| header.pts);
        if kind == Kind::RandomAccess {
            self.access.observe(now);
        }
        if self.is_leading(kind, time) {
            // What refers to it is displayed before the random access point as well.
            self.shed_picture();
        } else if self.keeps(now, kind, growth, queue) {
            self.resume(kind, time);
        } else {
            self.shed_picture();
            self.miss(now);
        }
    }

    /// True if a picture is displayed before the random access point at which the stream has resumed.
    fn is_leading(&self, kind: Kind, time: Option<Timestamp>) -> bool {
        match self.phase {
            Phase::Resumed(first) => kind != Kind::RandomAccess && time.is_some_and(|time| is_before(time, first)),
            _ => false,
        }
    }

    /// Decides on a picture by which the queue grows by `growth`.
    fn keeps(&self, now: Time, kind: Kind, growth: Bytes, queue: &Queue) -> bool {
        let is_missing = match self.phase {
            Phase::Broken(since) => kind == Kind::Disposable || now.since(since) < LONGEST_WAIT,
            _ => false,
        };
        match kind {
            Kind::RandomAccess => queue.can_carry(growth) || queue.is_short(),
            _ if is_missing => false,
            Kind::Disposable => queue.leaves_reserve(growth),
            // Without a random access point, a stream that lacks a picture would never resume.
            Kind::Reference if !self.access.is_known() => true,
            Kind::Reference => queue.fits(growth + self.until_access(now, queue)),
        }
    }

    /// Takes note that a picture is sent.
    fn resume(&mut self, kind: Kind, time: Option<Timestamp>) {
        if kind != Kind::Disposable && matches!(self.phase, Phase::Broken(_)) {
            self.phase = match kind {
                Kind::RandomAccess => time.map_or(Phase::Complete, Phase::Resumed),
                _ => Phase::Complete,
            };
        }
    }

    /// The bytes that the next random access point needs now, if nothing else comes before it.
    fn until_access(&self, now: Time, queue: &Queue) -> Bytes {
        let Some(wait) = self.access.next(now) else { return Bytes(0) };
        let Bytes(growth) = self.random_access(queue);
        Bytes(growth.min(queue.reserve().0).saturating_sub(queue.leaving(wait).0))
    }

    /// Drops the picture that arrives, or the rest of it.
    fn shed_picture(&mut self) {
        self.picture.iter_mut().for_each(|picture| picture.is_shed = true);
        self.shed += 1;
    }

    /// Takes note that the picture is not sent as a whole.
    fn miss(&mut self, now: Time) {
        let is_disposable = self.picture.is_none_or(|picture| picture.kind == Kind::Disposable);
        if !is_disposable && !matches!(self.phase, Phase::Broken(_)) {
            self.phase = Phase::Broken(now);
        }
    }

    /// Looks for a second picture after one that no other refers to, in the same PES packet. Such a stream is judged by
    /// its random access points alone from now on.
    fn check_kind(&mut self, now: Time, packet: &Packet) {
        let Some(picture) = &mut self.picture else { return };
        if picture.kind != Kind::Disposable || packet.is_scrambled() || !self.scan.finds_reference(self.codec, packet) {
            return;
        }
        picture.kind = Kind::Reference;
        self.codec = Codec::Other;
        if picture.is_shed {
            self.miss(now);
        }
    }
}

impl Forecasts {
    fn of(&mut self, kind: Kind) -> &mut Forecast {
        match kind {
            Kind::Disposable => &mut self.disposable,
            Kind::Reference => &mut self.reference,
            Kind::RandomAccess => &mut self.random_access,
        }
    }
}

impl Access {
    fn observe(&mut self, now: Time) {
        self.interval = self.last.replace(now).map(|last| now.since(last));
    }

    fn is_known(&self) -> bool {
        self.last.is_some()
    }

    /// The time until the next one, if the last interval repeats; none if it is longer.
    fn next(&self, now: Time) -> Option<Span> {
        let (last, interval) = self.last.zip(self.interval)?;
        (now.since(last) <= interval).then(|| interval.saturating_sub(now.since(last)))
    }
}

/// True if `time` is shortly before `other`.
fn is_before(time: Timestamp, other: Timestamp) -> bool {
    let lead = other.since(time);
    lead > Ticks::ZERO && lead <= LONGEST_LEAD
}

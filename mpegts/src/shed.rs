//! Drops whole pictures of a stream that is faster than its path, in place of arbitrary datagrams.
//!
//! Pictures that no other refers to are dropped first. If that does not suffice, a picture that others refer to is
//! dropped, and all after it up to the next random access point. Tables, clock references (PCR) and all streams but video
//! always remain, and the continuity counters of video have no gaps. A picture is judged at its first packet, so that
//! nothing is delayed.
//!
//! H.264 and MPEG-1/2 video are judged by their headers, other codecs by the random access indicator alone (ISO/IEC
//! 13818-1 §2.4.3.5): of these no picture is known to be one that no other refers to.

mod counter;
mod forecast;
mod picture;
mod queue;
mod tables;
#[cfg(test)]
mod tests;
mod video;

use std::collections::BTreeMap;

use thalweg_core::session::live::sender::MediaBudget;
use thalweg_core::time::{Span, Time};

use crate::packet::{NULL_PID, Packet};
use crate::{PACKET, is_whole_packets};
use queue::Queue;
use tables::Tables;
use video::Video;

/// Drops pictures of one transport stream.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shedder {
    tables: Tables,
    /// The streams of video by their PIDs.
    videos: BTreeMap<u16, Video>,
    pictures: u64,
    kept: Vec<u8>,
}

impl Shedder {
    /// A shedder that waits for the tables of its stream: until they are known, nothing is dropped.
    pub fn new() -> Shedder {
        Shedder::default()
    }

    /// Takes a datagram that the source has produced now, and returns its packets that remain; none if there are no bytes.
    /// `budget` is what the sender can carry; without one, nothing is dropped but pictures whose references are missing.
    /// A datagram that has other bytes than whole packets is unchanged.
    ///
    /// Null packets are dropped as pictures to which no other refers.
    pub fn pass(&mut self, now: Time, datagram: &[u8], budget: Option<&MediaBudget>) -> &[u8] {
        self.kept.clear();
        if !is_whole_packets(datagram) {
            self.kept.extend_from_slice(datagram);
            return &self.kept;
        }
        let mut queue = Queue::new(budget);
        for packet in datagram.chunks(PACKET).filter_map(|bytes| Packet::parse(bytes).ok()) {
            if let Some(packet) = self.judge(now, packet, &queue) {
                queue.push();
                self.kept.extend_from_slice(packet.as_bytes());
            }
        }
        &self.kept
    }

    /// The number of pictures dropped, in whole or in part.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// The longest wait that the largest random access point needs to leave as a whole, if `budget` allows less. A part of it
    /// is dropped then, and what is displayed is damaged.
    pub fn needed_wait(&self, budget: &MediaBudget) -> Option<Span> {
        let queue = Queue::new(Some(budget));
        let largest = self.videos.values().map(|video| video.random_access(&queue)).max()?;
        (largest > budget.capacity()).then(|| budget.rate.time_for(largest))
    }

    /// The packet, if any of it remains.
    fn judge(&mut self, now: Time, packet: Packet, queue: &Queue) -> Option<Packet> {
        let pid = packet.pid();
        if pid == NULL_PID {
            return Some(packet).filter(|_| queue.fits_null());
        }
        if self.tables.contains(pid) {
            self.tables.push(&packet, &mut self.videos);
            return Some(packet);
        }
        let Some(video) = self.videos.get_mut(&pid) else { return Some(packet) };
        let shed = video.shed();
        let kept = video.judge(now, packet, queue);
        self.pictures += video.shed() - shed;
        kept
    }
}

//! What blocks weigh, in packets and in bytes.

use crate::units::Bytes;

/// The greatest overhead on a path without loss, as `overhead_ratio` counts it: all bytes over those of the media, less 1.
const MOST_BYTES: f64 = 0.4;

/// Where headers alone take that, as of datagrams below 300 bytes, a fifth of what leaves is still given to repair.
const LEAST_BYTES: f64 = 0.2;

/// Weight of the newest block in the averages of packets and time.
const GAIN: f64 = 0.25;

/// Those of bytes are over so many blocks: of a slow source some have a hello with them, some a long packet.
const BLOCKS: f64 = 64.0;

/// What a block holds and what one repair packet of it costs, headers of IP and UDP included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::session::live::sender) struct Load {
    /// Source packets.
    pub(in crate::session::live::sender) sources: usize,
    /// Whether it closed before its time, because no more of them fit in.
    pub(in crate::session::live::sender) is_full: bool,
    /// Payload of them.
    pub(in crate::session::live::sender) media: Bytes,
    /// All bytes that leave of them.
    pub(in crate::session::live::sender) wire: Bytes,
    /// Bytes of control that left since the last block.
    pub(in crate::session::live::sender) control: Bytes,
    /// Bytes of a repair packet: it is as long as the longest source packet.
    pub(in crate::session::live::sender) repair: Bytes,
}

impl Load {
    /// Bytes of repair that [`MOST_BYTES`] leaves room for; below zero where headers and control take more.
    fn room(&self) -> f64 {
        let [media, wire, control] = [self.media, self.wire, self.control].map(|Bytes(bytes)| bytes as f64);
        (1.0 + MOST_BYTES) * media - wire - control
    }
}

/// What blocks are like on average.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Mean {
    /// Source packets.
    pub(super) packets: f64,
    /// From one block to the next.
    pub(super) seconds: f64,
    /// How many blocks there were, up to [`BLOCKS`].
    blocks: f64,
    /// Source packets, over as many blocks as the bytes.
    weighed: f64,
    /// And from one to the next.
    lasted: f64,
    /// Bytes of repair that [`MOST_BYTES`] leaves room for.
    room: f64,
    /// Bytes of all source packets.
    wire: f64,
    /// Bytes of a repair packet.
    repair: f64,
}

impl Mean {
    /// That of a first block, which came in so many seconds.
    pub(super) fn of(load: &Load, seconds: f64) -> Mean {
        let [wire, repair] = [load.wire, load.repair].map(|Bytes(bytes)| bytes as f64);
        let packets = load.sources as f64;
        Mean { packets, seconds, blocks: 1.0, weighed: packets, lasted: seconds, room: load.room(), wire, repair }
    }

    /// Moves towards `newest`.
    pub(super) fn moved(self, newest: Mean) -> Mean {
        let blocks = (self.blocks + 1.0).min(BLOCKS);
        let moved = |mean: f64, newest: f64, gain: f64| mean + gain * (newest - mean);
        let weighed = |mean: f64, newest: f64| moved(mean, newest, 1.0 / blocks);
        Mean {
            packets: moved(self.packets, newest.packets, GAIN),
            seconds: moved(self.seconds, newest.seconds, GAIN),
            blocks,
            weighed: weighed(self.weighed, newest.weighed),
            lasted: weighed(self.lasted, newest.lasted),
            room: weighed(self.room, newest.room),
            wire: weighed(self.wire, newest.wire),
            repair: weighed(self.repair, newest.repair),
        }
    }

    /// Source packets a second.
    pub(super) fn rate(self) -> f64 {
        self.packets / self.seconds
    }

    /// The same over [`BLOCKS`] blocks, once there were so many.
    pub(super) fn steady_rate(self) -> Option<f64> {
        (self.blocks >= BLOCKS).then(|| self.weighed / self.lasted)
    }

    /// Repair packets that there is room for, for each source packet.
    pub(super) fn share(self) -> f64 {
        self.room.max(LEAST_BYTES * self.wire) / (self.repair * self.weighed)
    }
}

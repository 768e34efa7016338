//! The load of blocks, in packets and in bytes.

use crate::units::Bytes;

/// The greatest overhead on a path without loss, as `overhead_ratio` counts it: bytes sent over media bytes, less 1.
/// GENEVA §3.2.4 has at least eight packets per block, 40 % of 20; here they are counted in bytes.
const MOST_BYTES: f64 = 0.4;

/// The least repair, as a part of the source packets' bytes: headers alone can take [`MOST_BYTES`], as of datagrams
/// below 300 bytes. Ours: half of [`MOST_BYTES`]; less leaves the losses of small datagrams unrepaired.
const LEAST_BYTES: f64 = 0.2;

/// Weight of the newest block in the averages of packets and time. Ours: a smaller one follows a source of varying rate
/// later, a greater one follows single blocks.
const GAIN: f64 = 0.25;

/// Averages of bytes are over so many blocks: on a slow source some blocks have a hello with them, some a long packet.
const BLOCKS: f64 = 64.0;

/// The contents of a block and the size of one repair packet of it, headers of IP and UDP included.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(in crate::session::live::sender) struct Load {
    /// Source packets.
    pub(in crate::session::live::sender) sources: usize,
    /// True if the block closed before its time, because it was full.
    pub(in crate::session::live::sender) is_full: bool,
    /// Payload bytes of the source packets.
    pub(in crate::session::live::sender) media: Bytes,
    /// All bytes of the source packets as they leave.
    pub(in crate::session::live::sender) wire: Bytes,
    /// Bytes of control that left since the block before.
    pub(in crate::session::live::sender) control: Bytes,
    /// Bytes of a repair packet: it is as long as the longest source packet.
    pub(in crate::session::live::sender) repair: Bytes,
}

impl Load {
    /// Bytes of repair that [`MOST_BYTES`] allows; below zero where headers and control take more.
    fn room(&self) -> f64 {
        let [media, wire, control] = [self.media, self.wire, self.control].map(|Bytes(bytes)| bytes as f64);
        (1.0 + MOST_BYTES) * media - wire - control
    }
}

/// The average of blocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Mean {
    /// Source packets.
    pub(super) packets: f64,
    /// Seconds from one block to the next.
    pub(super) seconds: f64,
    /// The number of blocks averaged, up to [`BLOCKS`].
    blocks: f64,
    /// Source packets, averaged over as many blocks as the bytes.
    weighed: f64,
    /// Seconds from one block to the next, averaged over as many.
    lasted: f64,
    /// Bytes of repair that [`MOST_BYTES`] allows.
    room: f64,
    /// Bytes of all source packets.
    wire: f64,
    /// Bytes of a repair packet.
    repair: f64,
}

impl Mean {
    /// The average after the first block, which took so many seconds.
    pub(super) fn of(load: &Load, seconds: f64) -> Mean {
        let [wire, repair] = [load.wire, load.repair].map(|Bytes(bytes)| bytes as f64);
        let packets = load.sources as f64;
        Mean { packets, seconds, blocks: 1.0, weighed: packets, lasted: seconds, room: load.room(), wire, repair }
    }

    /// Moves the average towards `newest`.
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

    /// Source packets a second over [`BLOCKS`] blocks; none before there were so many.
    pub(super) fn steady_rate(self) -> Option<f64> {
        (self.blocks >= BLOCKS).then(|| self.weighed / self.lasted)
    }

    /// Repair packets that are allowed for each source packet.
    pub(super) fn share(self) -> f64 {
        self.room.max(LEAST_BYTES * self.wire) / (self.repair * self.weighed)
    }
}

//! Counters of a stream's endpoints; the difference of two readings is that of a measuring window.

/// A sender's counters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sent {
    /// Source packets sent.
    pub source: u64,
    /// Repair packets sent.
    pub repair: u64,
    /// Blocks closed, one per SYN; a stream without blocks counts each packet.
    pub blocks: u64,
    /// The sum of the repair packets of these blocks.
    pub windows: f64,
    /// Blocks that closed with the largest window of their law.
    pub widest: u64,
    /// Blocks that closed when W_tot was known.
    pub w_blocks: u64,
    /// The sum of W_tot at the end of these blocks, after the reports until then.
    pub w: f64,
    /// Reports that were used.
    pub reports: u64,
    /// Reports that arrived after a newer one, or twice.
    pub stale: u64,
}

impl Sent {
    /// The increase since an `earlier` reading.
    pub fn since(&self, earlier: &Sent) -> Sent {
        Sent {
            source: self.source - earlier.source,
            repair: self.repair - earlier.repair,
            blocks: self.blocks - earlier.blocks,
            windows: self.windows - earlier.windows,
            widest: self.widest - earlier.widest,
            w_blocks: self.w_blocks - earlier.w_blocks,
            w: self.w - earlier.w,
            reports: self.reports - earlier.reports,
            stale: self.stale - earlier.stale,
        }
    }

    /// Time average of Fwnd, in packets; NaN without a block.
    pub fn mean_window(&self) -> f64 {
        self.windows / self.blocks as f64
    }

    /// Time average of W_tot, in packets; NaN if there was none.
    pub fn mean_w(&self) -> f64 {
        self.w / self.w_blocks as f64
    }

    /// Share of time with the largest window, which distinguishes a lock-in from a high mean; NaN without a block.
    pub fn share_widest(&self) -> f64 {
        self.widest as f64 / self.blocks as f64
    }
}

/// A receiver's counters. They cover packets whose outcome is known: a gap is counted, and a block is complete, when a
/// packet behind it arrives, so that packets in flight at a window's edge belong to the next window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// Packets up to the newest that arrived, source and repair.
    pub packets: u64,
    /// Those of them that did not arrive.
    pub lost: u64,
    /// Runs of more than three consecutive packets of these, in sending order.
    pub bursts: u64,
    /// Source packets of the complete blocks.
    pub source: u64,
    /// Those of them that arrived or were recovered.
    pub recovered: u64,
}

impl Received {
    /// The increase since an `earlier` reading. A late packet cancels its loss; if the loss was before the window and
    /// the arrival is within it, the difference stops at zero.
    pub fn since(&self, earlier: &Received) -> Received {
        Received {
            packets: self.packets - earlier.packets,
            lost: self.lost.saturating_sub(earlier.lost),
            bursts: self.bursts.saturating_sub(earlier.bursts),
            source: self.source - earlier.source,
            recovered: self.recovered - earlier.recovered,
        }
    }

    /// Packet loss rate, source and repair, before repair; NaN without packets.
    pub fn loss_rate(&self) -> f64 {
        self.lost as f64 / self.packets as f64
    }

    /// Source packets lost for good; zero where a late packet's block lies before the window.
    pub fn residual(&self) -> u64 {
        self.source.saturating_sub(self.recovered)
    }

    /// Residual data loss: the share of source packets that are lost for good; NaN without packets.
    pub fn residual_rate(&self) -> f64 {
        self.residual() as f64 / self.source as f64
    }
}

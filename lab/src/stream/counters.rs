//! What a stream's ends count; the difference of two readings is what a measuring window saw.

/// A sender's counters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sent {
    /// Source packets that left.
    pub source: u64,
    /// Repair packets that left.
    pub repair: u64,
    /// Blocks that closed, one a SYN; a stream without blocks counts each packet.
    pub blocks: u64,
    /// Repair packets of these blocks, all added up.
    pub windows: f64,
    /// Blocks that closed with the largest window of their law.
    pub widest: u64,
    /// Blocks that closed when W_tot was known.
    pub w_blocks: u64,
    /// W_tot at the end of these, after the reports until then, all added up.
    pub w: f64,
    /// Reports that were used.
    pub reports: u64,
    /// Reports that came after a newer one, or twice.
    pub stale: u64,
}

impl Sent {
    /// What has been added since an `earlier` reading.
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

    /// Time average of W_tot, in packets; NaN if there never was one.
    pub fn mean_w(&self) -> f64 {
        self.w / self.w_blocks as f64
    }

    /// Share of time with the largest window, which tells a lock-in from a high mean; NaN without a block.
    pub fn share_widest(&self) -> f64 {
        self.widest as f64 / self.blocks as f64
    }
}

/// A receiver's counters. They speak of packets whose fate has shown: a gap is seen, and a block is over, when a packet
/// behind it comes, so that what is still under way at a window's edge belongs to the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// Packets up to the newest that came, source and repair.
    pub packets: u64,
    /// Those of them that did not come.
    pub lost: u64,
    /// Runs of more than three of these one behind the other in sending order.
    pub bursts: u64,
    /// Source packets of the blocks that are over.
    pub source: u64,
    /// Those of them that came or were recovered.
    pub recovered: u64,
}

impl Received {
    /// What has been added since an `earlier` reading. A packet that comes late takes back its loss; a window that sees
    /// the return and not the loss stops at zero.
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

    /// Source packets that are lost for good; none where a late packet's block lies before the window.
    pub fn residual(&self) -> u64 {
        self.source.saturating_sub(self.recovered)
    }

    /// Residual data loss: the share of source packets that is lost for good; NaN without packets.
    pub fn residual_rate(&self) -> f64 {
        self.residual() as f64 / self.source as f64
    }
}

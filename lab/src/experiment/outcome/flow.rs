//! The values of one flow.

use thalweg_core::units::Bytes;

use super::{Ended, FlowOutcome, TransferOutcome};
use crate::end::stored::Playback;
use crate::statistics::delays::Delays;
use crate::statistics::transit::Transit;
use crate::tcp::Playing;

impl FlowOutcome {
    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.ended, Ended::Tcp { .. })
    }

    /// Delays of in-order delivery, if the flow is a tunnel.
    pub fn delays(&self) -> Option<&Delays> {
        if let Ended::Tunnel { delays, .. } = &self.ended { Some(delays) } else { None }
    }

    /// Delays from one end to the other, if the flow is a stream under TFRC or GCA.
    pub fn transit(&self) -> Option<Transit> {
        if let Ended::Tfrc { transit, .. } = self.ended { Some(transit) } else { None }
    }

    /// Packets that arrived and were not innovative, for each one that was; NaN if the flow is no tunnel.
    pub fn overhead(&self) -> f64 {
        match &self.ended {
            Ended::Tunnel { innovative, useless, .. } => *useless as f64 / *innovative as f64,
            _ => f64::NAN,
        }
    }

    /// Bytes that arrived within the window: payload for TCP and tunnels, packets with their headers for others.
    pub fn delivered(&self) -> Bytes {
        match &self.ended {
            Ended::Tcp { delivered, .. }
            | Ended::Tunnel { delivered, .. }
            | Ended::Tfrc { delivered, .. }
            | Ended::Open { delivered } => *delivered,
            Ended::Stored(playback) => Bytes(playback.totals.bytes),
            Ended::Stream { packet, received, .. } => *packet * (received.packets - received.lost),
        }
    }

    /// The transfer, if it is a finite one.
    pub fn transfer(&self) -> Option<TransferOutcome> {
        if let Ended::Tcp { transfer, .. } = self.ended { transfer } else { None }
    }

    /// The playback, if the flow is a stored video.
    pub fn playback(&self) -> Option<&Playback> {
        if let Ended::Stored(playback) = &self.ended { Some(playback) } else { None }
    }

    /// The playback, if the flow carries a video over TCP.
    pub fn playing(&self) -> Option<Playing> {
        if let Ended::Tcp { playing, .. } = self.ended { playing } else { None }
    }

    /// Source packets lost for good over source packets, for TFRC lost over all packets; NaN if the flow is no stream.
    pub fn residual_loss(&self) -> f64 {
        match &self.ended {
            Ended::Stream { received, .. } => received.residual_rate(),
            Ended::Tfrc { sent, lost, .. } => *lost as f64 / *sent as f64,
            Ended::Open { .. } | Ended::Stored(_) | Ended::Tcp { .. } | Ended::Tunnel { .. } => f64::NAN,
        }
    }

    /// Runs of four or more lost packets; NaN if the flow is no stream.
    pub fn bursty_events(&self) -> f64 {
        if let Ended::Stream { received, .. } = &self.ended { received.bursts as f64 } else { f64::NAN }
    }

    /// Time average of Fwnd; NaN if the flow has no blocks.
    pub fn fwnd(&self) -> f64 {
        if let Ended::Stream { sent, .. } = &self.ended { sent.mean_window() } else { f64::NAN }
    }

    /// Time average of W_tot; NaN if the flow has none.
    pub fn w_tot(&self) -> f64 {
        if let Ended::Stream { sent, .. } = &self.ended { sent.mean_w() } else { f64::NAN }
    }

    /// Share of time with the largest window; NaN if the flow has no blocks.
    pub fn widest(&self) -> f64 {
        if let Ended::Stream { sent, .. } = &self.ended { sent.share_widest() } else { f64::NAN }
    }
}

//! The record of a run.

use serde::{Deserialize, Serialize};

use super::device::Device;

/// The numbers of a run from which figures, tables and claims are made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The three streams.
    pub clients: [Client; 3],
    /// The goodput of the bulk transfer, Mb/s.
    pub background_mbps: f64,
    /// The share of its packets that were lost.
    pub background_loss: f64,
    /// The mean time that its packets waited at the access point, ms.
    pub background_wait_ms: f64,
    /// Mb/s of the three streams and the bulk transfer in each second from the start on.
    pub seconds: Vec<[f64; 4]>,
}

/// The numbers of one stream, headers included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Client {
    /// The rate that arrives, Mb/s.
    pub mbps: f64,
    /// The same over the rate that satisfies it.
    pub satisfaction: f64,
    /// The one-way delay, ms; NaN under NADA, as the next.
    pub delay_ms: f64,
    /// The mean difference of two consecutive delays, ms.
    pub jitter_ms: f64,
    /// The mean time that its packets waited at the access point, ms.
    pub wait_ms: f64,
    /// The share of its packets that were lost.
    pub loss: f64,
    /// p: the mean loss event rate; NaN under NADA.
    pub p: f64,
}

impl Record {
    /// The largest value of a client less the smallest.
    pub fn spread(&self, of: impl Fn(&Client) -> f64) -> f64 {
        let values = || self.clients.iter().map(&of);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    }

    /// The spread of satisfaction.
    pub fn unevenness(&self) -> f64 {
        self.spread(|client| client.satisfaction)
    }

    /// The mean satisfaction.
    pub fn satisfaction(&self) -> f64 {
        self.clients.iter().map(|client| client.satisfaction).sum::<f64>() / 3.0
    }

    /// The rate of a client over that of client 3.
    pub fn ratio(&self, client: usize) -> f64 {
        self.clients[client].mbps / self.clients[2].mbps
    }

    /// The PSNR estimates of the clients.
    pub fn psnr_estimates(&self) -> [f64; 3] {
        [0, 1, 2].map(|nth: usize| Device::ALL[nth].psnr_estimate(self.clients[nth].mbps))
    }

    /// The share of the bulk transfer in all that the cell carries.
    pub fn background_share(&self) -> f64 {
        let clients: f64 = self.clients.iter().map(|client| client.mbps).sum();
        self.background_mbps / (clients + self.background_mbps)
    }
}

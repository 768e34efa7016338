//! Bursts of constant bit rate, with silence between them.

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::Source;

/// The parameters of a bursty source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bursts {
    /// Rate while on, headers included.
    pub rate: Rate,
    /// Mean length of a burst; the lengths are exponential.
    pub on: Span,
    /// Mean length of a silence; the lengths are exponential.
    pub off: Span,
    /// Size of every packet on the wire.
    pub packet: Bytes,
}

impl Bursts {
    /// The mean rate over bursts and silences.
    pub fn mean_rate(&self) -> Rate {
        let whole = (self.on + self.off).as_nanos().max(1);
        Rate::from_bps((u128::from(self.rate.as_bps()) * u128::from(self.on.as_nanos()) / u128::from(whole)) as u64)
    }
}

/// A source that alternates between on and off.
#[derive(Clone, PartialEq, Debug)]
pub struct OnOff {
    bursts: Bursts,
    gap: Span,
    rng: Rng,
    next: Time,
    /// The end of the burst that `next` lies in.
    ends: Time,
}

impl OnOff {
    /// A source that has been running forever at time zero.
    pub fn new(bursts: Bursts, mut rng: Rng) -> OnOff {
        // Exponential lengths are memoryless: the rest of a burst or a silence is distributed as a whole one.
        let silent = rng.unit() * (bursts.on + bursts.off).as_secs_f64() >= bursts.on.as_secs_f64();
        let next = if silent { Time::ZERO + draw(bursts.off, &mut rng) } else { Time::ZERO };
        let ends = next + draw(bursts.on, &mut rng);
        let gap = bursts.rate.time_for(bursts.packet);
        OnOff { bursts, gap, rng, next, ends }
    }
}

fn draw(mean: Span, rng: &mut Rng) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs_f64()))
}

impl Source for OnOff {
    fn next(&self) -> Time {
        self.next
    }

    fn emit(&mut self) -> Bytes {
        // Only time within bursts counts towards the gap, so that the mean rate is what the parameters say.
        let mut gap = self.gap;
        while gap >= self.ends.since(self.next) {
            gap = gap.saturating_sub(self.ends.since(self.next));
            self.next = self.ends + draw(self.bursts.off, &mut self.rng);
            self.ends = self.next + draw(self.bursts.on, &mut self.rng);
        }
        self.next += gap;
        self.bursts.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_run_rate_is_that_of_the_parameters() {
        let (on, off) = (Span::from_millis(20), Span::from_millis(60));
        let bursts = Bursts { rate: Rate::from_mbps(12), on, off, packet: Bytes(1500) };
        assert_eq!(bursts.mean_rate(), Rate::from_mbps(3));
        let mut source = OnOff::new(bursts, Rng::new(6));
        let end = Time::ZERO + Span::from_secs(2_000);
        let mut sent = Bytes(0);
        while source.next() < end {
            sent += source.emit();
        }
        let rate = Rate::of(sent, end.since(Time::ZERO)).as_mbps_f64();
        // The on-time of an alternating renewal process has variance 2 (on off)^2 / (on + off)^3 per unit of time.
        let variance = 2.0 * libm::pow(0.020 * 0.060, 2.0) / libm::pow(0.080, 3.0);
        let standard_error = 12.0 * (variance / 2_000.0).sqrt();
        assert!((rate - 3.0).abs() < 5.0 * standard_error, "{rate}");
    }
}

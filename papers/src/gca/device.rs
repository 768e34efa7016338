//! The devices of Table I, and the quality that the paper computes for them.

/// A client's device. Its stream has at most its average bit rate to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Device {
    /// The name in reports.
    pub name: &'static str,
    /// The average bit rate, which satisfies it, in Mb/s.
    pub average: f64,
    /// The maximum bit rate, in Mb/s.
    pub most: f64,
    /// Width and height of its pictures, in pixels.
    pub size: (u32, u32),
}

/// The PSNR estimate of a stream that has what it is expected to have.
const CEILING: f64 = 100.0;

impl Device {
    /// Table I.
    pub const ALL: [Device; 3] = [
        Device { name: "client 1", average: 9.0, most: 20.0, size: (1920, 1080) },
        Device { name: "client 2", average: 6.0, most: 14.0, size: (1280, 720) },
        Device { name: "client 3", average: 3.0, most: 8.0, size: (640, 480) },
    ];

    /// An estimate of PSNR from throughput alone: 20 log10(MAX / |EXP - CRT|) dB, at most 100, where MAX is the
    /// maximum bit rate, EXP the average, and CRT the throughput.
    // Reading(GCA §V): the paper names neither the formula nor its rates. None that was tried gives its dB; this one keeps
    // its order under TFRC.
    pub fn psnr_estimate(&self, mbps: f64) -> f64 {
        let missing = (self.average - mbps).abs();
        (20.0 * (self.most / missing).log10()).min(CEILING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates of Table II, by hand: 20 log10(20 / 4.848), and so on; all of a rate is the ceiling.
    #[test]
    fn estimate_is_that_of_the_formula() {
        let rates = [4.152_23, 4.223_65, 2.934_89];
        let estimates = [0, 1, 2].map(|nth: usize| Device::ALL[nth].psnr_estimate(rates[nth]));
        for (estimate, expected) in estimates.into_iter().zip([12.3, 17.9, 41.8]) {
            assert!((estimate - expected).abs() < 0.05, "{estimate} is not {expected}");
        }
        assert_eq!(Device::ALL[0].psnr_estimate(9.0), CEILING);
    }
}

//! The bit rate that a screen needs: a power law through the devices of GCA's paper.

use crate::units::Rate;

/// Table I: the pixels of each device's screen, and the average bit rate of its video in Mb/s (§4.5 of our reading).
const DEVICES: [(f64, f64); 3] = [(1920.0 * 1080.0, 9.0), (1280.0 * 720.0, 6.0), (640.0 * 480.0, 3.0)];

/// The average bit rate that a screen of `width` times `height` pixels needs: the power law that fits the devices of Table I best, by
/// least squares of the logarithms. Its exponent is .58, and each device is within 4.1 % of it.
pub fn need_of_screen(width: u32, height: u32) -> Rate {
    let points = DEVICES.map(|(pixels, mbps)| (libm::log(pixels), libm::log(mbps)));
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>();
    let exponent = sum(&|dx, dy| dx * dy) / sum(&|dx, _| dx * dx);
    let pixels = f64::from(width.max(1)) * f64::from(height.max(1));
    Rate::from_bps((1e6 * libm::exp(y + exponent * (libm::log(pixels) - x))) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_table_i_are_near_their_bit_rates_and_more_pixels_need_more() {
        for ((width, height), mbps) in [((1920, 1080), 9.0), ((1280, 720), 6.0), ((640, 480), 3.0)] {
            let need = need_of_screen(width, height).as_bps() as f64 / 1e6;
            assert!((need / mbps - 1.0).abs() < 0.041, "{width}x{height}: {need}");
        }
        // Four times the pixels need 4^.58 times as much.
        let ratio = need_of_screen(3840, 2160).as_bps() as f64 / need_of_screen(1920, 1080).as_bps() as f64;
        assert!((2.20..2.27).contains(&ratio), "{ratio}");
        assert!(need_of_screen(0, 0).as_bps() > 0);
    }
}

//! The kernel, the processors, and the speed at which they compute repair packets.

use std::time::{Duration, Instant};

use thalweg_gf::Kernel;

use super::Finding;

pub(super) fn kernel() -> Finding {
    let Ok(release) = std::fs::read_to_string("/proc/sys/kernel/osrelease") else {
        return Finding::unknown("kernel", format!("{}, version unknown", std::env::consts::OS));
    };
    let release = release.trim();
    let found = format!("Linux {release} {}", std::env::consts::ARCH);
    if version(release) >= (5, 0) {
        Finding::good("kernel", found, "new enough to send and receive bursts in one call")
    } else {
        Finding::poor("kernel", found, "Linux 5.0 or later sends and receives bursts in one call")
    }
}

/// The first two numbers of a release, zero for a part that is not a number.
pub(super) fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

pub(super) fn processors() -> Finding {
    let Ok(count) = std::thread::available_parallelism() else {
        return Finding::unknown("processors", "the number of processors cannot be read");
    };
    let count = count.get();
    let finding = if count > 1 {
        Finding::good("processors", count.to_string(), "pacing can have one while other programs use the rest")
    } else {
        Finding::poor("processors", "1", "other programs on this machine delay packets")
    };
    finding.measure("count", count as f64)
}

/// GENEVA's smallest block of a 30 Mb/s stream.
const SOURCE: usize = 25;
const REPAIR: usize = 8;
/// An RTP packet with 7 packets of a transport stream.
const SYMBOL: usize = 1328;

pub(super) fn repair() -> Finding {
    let kernel = Kernel::best();
    let bytes_per_second = encode_speed(kernel, Duration::from_millis(50));
    let gbps = bytes_per_second * 8.0 / 1e9;
    let found = format!("{kernel:?}, {gbps:.1} Gb/s of media with {REPAIR} repair packets per {SOURCE} source packets");
    let of_a_core = 100.0 * 30e6 / (bytes_per_second * 8.0);
    let meaning = format!("a 30 Mb/s stream needs {of_a_core:.2} % of a processor to compute repair");
    let finding = if kernel == Kernel::Scalar {
        Finding::poor("repair", found, format!("{meaning}; no vector instructions that Thalweg supports"))
    } else {
        Finding::good("repair", found, meaning)
    };
    finding.measure("media_bps", bytes_per_second * 8.0)
}

/// Source bytes per second for which `kernel` computes repair.
fn encode_speed(kernel: Kernel, at_least: Duration) -> f64 {
    // Any factors will do but 0 and 1, which a kernel might skip.
    let factors: Vec<u8> = (0..SOURCE * REPAIR).map(|n| (n % 253 + 2) as u8).collect();
    let source: Vec<Vec<u8>> = (0..SOURCE).map(|n| vec![n as u8 + 1; SYMBOL]).collect();
    let source: Vec<&[u8]> = source.iter().map(Vec::as_slice).collect();
    let mut repair = vec![vec![0; SYMBOL]; REPAIR];
    let mut repair: Vec<&mut [u8]> = repair.iter_mut().map(Vec::as_mut_slice).collect();
    let start = Instant::now();
    let mut blocks = 0_u32;
    while start.elapsed() < at_least {
        kernel.mul_add(&factors, &source, &mut repair);
        blocks += 1;
    }
    f64::from(blocks) * (SOURCE * SYMBOL) as f64 / start.elapsed().as_secs_f64()
}

//! The availability of TCP Stream, the congestion control for video, in the kernel.

use std::fs;
use std::path::Path;

use super::Finding;
use super::machine::version;

const NAME: &str = "tcp_stream";
/// The first Linux that registers a congestion control by a BPF link, which outlives its loader.
const NEEDED: (u32, u32) = (6, 4);

pub(super) fn law() -> Finding {
    let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let has_types = Path::new("/sys/kernel/btf/vmlinux").exists();
    judge(&controls, version(&release), has_types)
}

fn judge(controls: &str, version: (u32, u32), has_types: bool) -> Finding {
    let lacks = "`thalweg serve` paces videos over TCP; over QUIC it uses TCP Stream in any case";
    if controls.split_whitespace().any(|control| control == "tcp_stream") {
        return Finding::good(NAME, "the kernel has TCP Stream", "any server can choose it, as tcp_stream");
    }
    if version == (0, 0) {
        return Finding::unknown(NAME, "the kernel's version is unknown");
    }
    if version < NEEDED {
        return Finding::poor(NAME, "the kernel cannot load TCP Stream, which needs Linux 6.4 or later", lacks);
    }
    if !has_types {
        let found = "the kernel cannot load TCP Stream: it was built without BTF (CONFIG_DEBUG_INFO_BTF)";
        return Finding::poor(NAME, found, lacks);
    }
    Finding::poor(NAME, "the kernel can load TCP Stream, and has not", format!("until it is loaded, {lacks}"))
        .fix("sudo $(command -v thalweg) kernel load")
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::*;

    #[test]
    fn tcp_stream_is_graded_by_version_and_types_of_the_kernel() {
        let has = |controls, version, has_types| {
            let found = judge(controls, version, has_types);
            (found.grade, found.fix.len())
        };
        assert_eq!(has("reno cubic tcp_stream\n", (6, 12), true), (Grade::Good, 0));
        assert_eq!(has("reno cubic\n", (6, 4), true), (Grade::Poor, 1));
        assert_eq!(has("reno cubic\n", (6, 3), true), (Grade::Poor, 0));
        assert_eq!(has("reno cubic\n", (6, 12), false), (Grade::Poor, 0));
        assert_eq!(has("", (0, 0), false), (Grade::Unknown, 0));
    }
}

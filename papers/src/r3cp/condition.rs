//! The conditions of the paper's simulations and experiments.

use core::fmt;

/// A path and the traffic that competes on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Figs. 3, 5 and 6: videos of 378 kb/s and TCP on a link of 1.5 Mb/s.
    Load {
        /// The number of videos.
        videos: u32,
        /// The number of TCP flows.
        tcp: u32,
    },
    /// Fig. 4: three videos and a source of 306 kb/s without feedback, a load of .96.
    Crowded,
    /// Fig. 7: one video while a source without feedback fills the link.
    Congested,
    /// Fig. 8: two videos that start 99.86 s apart, beside a source of 909 kb/s.
    Pair,
    /// Fig. 9: TCP with and without one video.
    Beside {
        /// n: the number of TCP flows.
        tcp: u32,
    },
    /// Tables 2 and 3: one video on a path of the Internet.
    Internet(Path),
}

/// A path of Table 2, named after its server's site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Path {
    /// National Taiwan University: 10.2 ms, 12.7 % of loss.
    Ntu,
    /// National Chiao Tung University: 32.4 ms, 5.2 %.
    Nctu,
    /// Stanford University: 258.9 ms, 0.93 %.
    Stanford,
}

impl Path {
    /// All paths, in the order of the table.
    pub const ALL: [Path; 3] = [Path::Ntu, Path::Nctu, Path::Stanford];

    /// The name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Path::Ntu => "NTU",
            Path::Nctu => "NCTU",
            Path::Stanford => "Stanford Univ.",
        }
    }

    /// The round trip in ms and the loss of Table 2.
    pub(super) const fn values(self) -> (&'static str, &'static str) {
        match self {
            Path::Ntu => ("10.2", "0.127"),
            Path::Nctu => ("32.4", "0.052"),
            Path::Stanford => ("258.9", "0.0093"),
        }
    }
}

impl Condition {
    /// The load of the link by videos alone, in shares of its 1.5 Mb/s.
    pub fn load(videos: u32) -> f64 {
        f64::from(videos) * 378.0 / 1500.0
    }

    /// The scenario's name and text.
    pub(super) const fn scenario(self) -> (&'static str, &'static str) {
        macro_rules! scenario {
            ($file:literal) => {
                (concat!("papers/", $file), include_str!(concat!("../../../scenarios/papers/", $file)))
            };
        }
        match self {
            Condition::Load { .. } | Condition::Crowded => scenario!("r3cp-s1.toml"),
            Condition::Congested => scenario!("r3cp-s3.toml"),
            Condition::Pair => scenario!("r3cp-s4.toml"),
            Condition::Beside { .. } => scenario!("r3cp-s5.toml"),
            Condition::Internet(_) => scenario!("r3cp-s6.toml"),
        }
    }

    /// The parameters of the scenario that the condition sets.
    pub(super) fn settings(self) -> Vec<(&'static str, String)> {
        match self {
            Condition::Load { videos, tcp } => vec![("videos", videos.to_string()), ("tcp_flows", tcp.to_string())],
            Condition::Crowded => vec![("videos", "3".into()), ("cbr_kbps", "306".into())],
            Condition::Congested | Condition::Pair => Vec::new(),
            Condition::Beside { tcp } => vec![("tcp_flows", tcp.to_string())],
            Condition::Internet(path) => {
                let (rtt, loss) = path.values();
                vec![("rtt_ms", rtt.into()), ("loss", loss.into())]
            }
        }
    }

    /// True if a figure shows it over time.
    pub(super) const fn is_over_time(self) -> bool {
        matches!(self, Condition::Crowded | Condition::Congested | Condition::Pair)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Load { videos, tcp } => write!(f, "videos: {videos}, TCP: {tcp}"),
            Condition::Crowded => f.write_str("three videos at a load of .96"),
            Condition::Congested => f.write_str("one video under congestion"),
            Condition::Pair => f.write_str("two videos"),
            Condition::Beside { tcp } => write!(f, "beside TCP: {tcp}"),
            Condition::Internet(path) => write!(f, "path of {}", path.name()),
        }
    }
}

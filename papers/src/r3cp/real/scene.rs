//! The paths, and what competes on them.

use std::path::Path as File;
use std::time::Duration;

use super::videos::Clip;
use super::viewer::Viewer;
use crate::r3cp::Path;

/// A path with its traffic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scene {
    /// Fig. 7: a source without feedback fills the link.
    Congested,
    /// Fig. 8: two videos beside a source without feedback.
    Pair,
    /// Table 3.
    Internet(Path),
    /// Two CUBIC flows of the kernel on the link of the paper.
    Beside,
    /// A long path with this loss in percent.
    Lossy(u32),
    /// The same with a round trip in milliseconds and a loss in percent, and a viewer who seeks.
    Seeks(u32, u32),
    /// The link of the paper with this loss in percent, the lab's `r3cp-s1`. The page does not have it.
    Paper(u32),
    /// A recorded path of Starlink.
    Starlink,
    /// A recorded LTE link.
    Lte,
}

/// A source of packets of 1000 bytes without feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cbr {
    pub(super) every: Duration,
    /// The spans in which it sends, in seconds.
    pub(super) on: &'static [(f64, f64)],
}

impl Scene {
    pub(super) const ALL: [Scene; 13] = [
        Scene::Congested,
        Scene::Pair,
        Scene::Internet(Path::Ntu),
        Scene::Internet(Path::Nctu),
        Scene::Internet(Path::Stanford),
        Scene::Beside,
        Scene::Lossy(2),
        Scene::Lossy(5),
        Scene::Seeks(60, 0),
        Scene::Seeks(200, 2),
        Scene::Seeks(200, 5),
        Scene::Starlink,
        Scene::Lte,
    ];

    /// The recording that it needs.
    fn recording(self) -> Option<&'static str> {
        match self {
            Scene::Starlink => Some("starlink_irtt_10ms.csv"),
            Scene::Lte => Some("Verizon-LTE-short.down"),
            _ => None,
        }
    }

    /// True if its recording is in the folder.
    pub(super) fn is_possible(self, recordings: &File) -> bool {
        self.recording().is_none_or(|name| recordings.join(name).is_file())
    }

    /// The length in seconds.
    pub(super) fn seconds(self) -> u64 {
        match self {
            Scene::Pair => 200,
            Scene::Beside => 120,
            Scene::Seeks(..) => 20,
            _ => 60,
        }
    }

    pub(super) fn clip(self) -> Clip {
        match self {
            Scene::Lossy(_) | Scene::Seeks(..) | Scene::Starlink | Scene::Lte => Clip::H264,
            _ => Clip::Mpeg1,
        }
    }

    pub(super) fn viewers(self) -> &'static [Viewer] {
        use Viewer::{Bbr, Cubic, Plain, R3cp, R3cpPlus, Tfcc};
        match self {
            Scene::Congested => &[R3cpPlus(2), Tfcc],
            Scene::Pair | Scene::Paper(_) | Scene::Seeks(..) => &[R3cpPlus(2)],
            Scene::Internet(_) => &[R3cpPlus(2), R3cp, Plain],
            Scene::Beside => &[R3cpPlus(2), R3cpPlus(10), Tfcc, Plain],
            Scene::Lossy(_) | Scene::Starlink | Scene::Lte => &[R3cpPlus(2), Plain, Cubic, Bbr],
        }
    }

    /// The start of each viewer, in seconds.
    pub(super) fn starts(self) -> &'static [f64] {
        if self == Scene::Pair { &[0.33, 100.19] } else { &[0.0] }
    }

    /// The seconds at which the viewer seeks by 10 s, ahead and back in turn.
    pub fn seeks(self) -> &'static [f64] {
        if matches!(self, Scene::Seeks(..)) { &[5.0, 8.0, 11.0, 14.0, 17.0] } else { &[] }
    }

    /// The CUBIC flows of the kernel beside the video.
    pub(super) fn flows(self) -> usize {
        if self == Scene::Beside { 2 } else { 0 }
    }

    pub(super) fn cbr(self) -> Option<Cbr> {
        match self {
            Scene::Congested => Some(Cbr { every: Duration::from_micros(5_500), on: &[(8.5, 38.5), (45.4, 46.4)] }),
            Scene::Pair => Some(Cbr { every: Duration::from_micros(8_800), on: &[(0.0, 200.0)] }),
            _ => None,
        }
    }

    /// The path, in the format of `thalweg emulate`.
    pub(super) fn path(self, recordings: &File) -> String {
        let file = |name: Option<&str>| recordings.join(name.unwrap_or_default()).display().to_string();
        let queue = |rate: &str| format!("{{ kind = \"drop_tail\", rate = \"{rate}\", queue = 50 }}");
        let lossy = |rate: &str, percent: u32| {
            format!("{}, {{ kind = \"loss\", rate = {} }}", queue(rate), f64::from(percent) / 100.0)
        };
        let (forward, delay) = match self {
            Scene::Congested | Scene::Pair | Scene::Beside => (queue("1.5mbit"), 30.0),
            Scene::Internet(path) => {
                let (rtt, loss) = path.values();
                let rtt: f64 = rtt.parse().unwrap_or_default();
                (format!("{}, {{ kind = \"loss\", rate = {loss} }}", queue("10mbit")), rtt / 2.0)
            }
            Scene::Lossy(percent) => (lossy("10mbit", percent), 100.0),
            Scene::Seeks(rtt_ms, percent) => (lossy("10mbit", percent), f64::from(rtt_ms) / 2.0),
            Scene::Paper(percent) => (lossy("1.5mbit", percent), 30.0),
            Scene::Starlink => {
                let recorded = format!(
                    "{{ kind = \"recorded\", file = {:?}, index = \"time\", sent = \"send_ms\", delay = \"down_delay_ms\", \
                     lost = \"down_lost\", keep_order = true }}",
                    file(self.recording())
                );
                (format!("{}, {recorded}", queue("10mbit")), 0.0)
            }
            Scene::Lte => {
                (format!("{{ kind = \"trace_link\", trace = {:?}, queue = \"150kB\" }}", file(self.recording())), 20.0)
            }
        };
        // The recording of Starlink has the delay of its own direction; that of the other is alike.
        let back = if self == Scene::Starlink { 20.0 } else { delay };
        format!(
            "seed = 1\nforward.element = [{forward}, {{ kind = \"wire\", delay = \"{delay}ms\" }}]\n\
             reverse.element = [{{ kind = \"wire\", delay = \"{back}ms\" }}]\n"
        )
    }

    pub(super) fn title(self) -> String {
        match self {
            Scene::Congested => "Fig. 7: a full link".into(),
            Scene::Pair => "Fig. 8: two videos".into(),
            Scene::Internet(path) => format!("path of {}", path.name()),
            Scene::Beside => "beside two CUBIC flows".into(),
            Scene::Lossy(percent) => format!("round trip of 200 ms, {percent} % of loss"),
            Scene::Seeks(rtt, percent) => format!("seeks at a round trip of {rtt} ms, {percent} % of loss"),
            Scene::Paper(percent) => format!("link of the paper, {percent} % of loss"),
            Scene::Starlink => "a recorded path of Starlink".into(),
            Scene::Lte => "a recorded LTE link".into(),
        }
    }
}

//! The bars that the project sets for the kernel's TCP Stream.

use super::carrier::Carrier;
use super::parts::left;
use super::results::{ALONE, Results, Spot};
use super::scene::Scene;
use super::spread::Spread;
use super::{QUEUES, pairs};
use crate::bar::{self, Bar};
use crate::figure::Subject;
use crate::page::Section;

const ABOUT: &str = "Thalweg's requirements of the kernel's law are: A video alone has 90 Mb/s of payload on the link \
                     of 100 Mb/s. A CUBIC connection beside the video gets at least 1.5 times its rate beside a CUBIC \
                     video; with the printed thresholds and a queue of 50, it gets more than its rate beside a CUBIC \
                     video. The rates of two videos that start within 1 s of each other differ by at most 20 %. No \
                     video stalls. Where there are several runs, their median is judged.";

const WHY: &str = "If a video alone misses its bar, delays of the machine are the likely cause. Each packet of the \
                   video in the queue is 0.12 ms of delay. Vegas's thresholds close dwnd at 4 such packets, half a \
                   millisecond, and a busy machine delays packets by as much. With a queue of 50 the printed \
                   thresholds leave 36 free places. A sender that was delayed by 5 ms, or that receives \
                   acknowledgements of many segments at once, sends a burst that needs more. It loses packets, and has \
                   a lower rate for the 8 s in which dwnd grows again. CUBIC loses packets in the same situation; BBR \
                   paces, and does not slow down for single losses. The lab's sender is never delayed.";

/// All bars.
pub(super) fn all(results: &Results) -> Vec<Bar> {
    let each = || QUEUES.into_iter().flat_map(|queue| Carrier::OURS.map(|carrier| (queue, carrier)));
    let named = |what: &str, (queue, carrier): (u32, Carrier)| format!("{what}: {}, queue of {queue}", carrier.name());
    let alone = each().map(|(queue, carrier)| {
        let spot = Spot { scene: Scene::Background, queue, carrier };
        let mbps = Spread::of(results.real(spot, ALONE)).median;
        Bar {
            what: named("alone, 20 to 30 s, Mb/s", (queue, carrier)),
            wanted: "at least 90".into(),
            measured: mbps,
            holds: mbps >= 90.0,
        }
    });
    let left = each().filter_map(|(queue, carrier)| {
        let times = left(results, queue, carrier);
        let (wanted, holds) = match (queue, carrier) {
            (250, Carrier::Printed) | (50, Carrier::VegasThresholds) => ("at least 1.5", times >= 1.5),
            (50, Carrier::Printed) => ("above 1", times > 1.0),
            _ => return None,
        };
        Some(Bar { what: named("background, times", (queue, carrier)), wanted: wanted.into(), measured: times, holds })
    });
    let apart = each().map(|(queue, carrier)| {
        let times = pairs::apart(results, Spot { scene: Scene::Together, queue, carrier });
        Bar {
            what: named("two videos, greater over lesser", (queue, carrier)),
            wanted: "at most 1.2".into(),
            measured: times,
            holds: times <= 1.2,
        }
    });
    let stalls = f64::from(results.stalls());
    let stalls =
        Bar { what: "stalls of all videos".into(), wanted: "none".into(), measured: stalls, holds: stalls == 0.0 };
    alone.chain(left).chain(apart).chain([stalls]).collect()
}

/// The section of the bars.
pub(super) fn section(bars: &[Bar]) -> Section {
    let elements = vec![bar::table(bars, "kernel")];
    Section { title: "Bars".into(), text: vec![ABOUT.into(), WHY.into()], elements }
}

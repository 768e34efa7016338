//! Two videos beside each other.

use thalweg_lab::statistics::Estimate;

use super::QUEUES;
use super::carrier::Carrier;
use super::parts::{cell, curve, plot, stalls};
use super::results::{FIRST, Results, SECOND, Spot};
use super::scene::Scene;
use super::spread::Spread;
use crate::figure::Subject;
use crate::page::{Element, Row, Section, Table, interval};

const ABOUT: &str = "Two videos under TCP Stream, both with the same thresholds. Each cell: kernel | lab, payload in \
                     Mb/s. Videos that start 1 s apart are compared from 10 to 30 s, when their windows have grown \
                     into the link; of videos 20 s apart, from 30 to 50 s.";

const WHY: &str = "The window of a video stays while the number of its packets in the queue is between the thresholds: \
                   with the printed ones 2 to 4 above the ceiling, 12 to 14, with Vegas's 2 to 4. Of two videos with \
                   the same tau, one therefore gets at most 14/12 of the rate of the other, or twice as much with \
                   Vegas's: between alpha and beta nothing moves the two towards each other. A video that starts later \
                   measures the packets of the first one in the queue as a part of its own path, does not count them, \
                   and keeps as many more: in the lab it gets one and a half times as much. In the kernel the queue \
                   may become empty now and then, and both videos measure the true tau. With a queue of 50 both lose \
                   packets, seldom at the same time; after a loss, a video has a lower rate for 8 s.";

/// The table and the curves.
pub(super) fn section(results: &Results) -> Section {
    let tables = Scene::PAIRS.map(|scene| Element::Table(table(results, scene)));
    let plots = Scene::PAIRS.into_iter().flat_map(|scene| QUEUES.map(|queue| over_time(results, scene, queue)));
    Section {
        title: "Two videos".into(),
        text: vec![ABOUT.into(), WHY.into()],
        elements: tables.into_iter().chain(plots).collect(),
    }
}

fn table(results: &Results, scene: Scene) -> Table {
    let row = |(queue, carrier): (u32, Carrier)| {
        let spot = Spot { scene, queue, carrier };
        let rates = [FIRST, SECOND].map(|column| cell(results, spot, column));
        let real = Spread::of(shares(results.real(spot, FIRST), results.real(spot, SECOND)));
        let lab = Estimate::of(shares(results.lab(spot, FIRST), results.lab(spot, SECOND)));
        let times = format!("{real} | {}", interval(&lab));
        Row {
            subject: format!("{}, queue of {queue}", carrier.name()),
            tone: Some(carrier.tone()),
            cells: rates.into_iter().chain([times, stalls(results, spot)]).collect(),
        }
    };
    let rows = QUEUES.into_iter().flat_map(|queue| Carrier::OURS.map(|carrier| (queue, carrier)));
    let head = [scene.title(), "first video", "second video", "second over first", "stalls"];
    Table { head: head.map(str::to_owned).into(), rows: rows.map(row).collect() }
}

fn over_time(results: &Results, scene: Scene, queue: u32) -> Element {
    let of = |carrier: Carrier| {
        let record = results.records(Spot { scene, queue, carrier }).next();
        record.into_iter().flat_map(move |record| {
            [(0, "first"), (1, "second")]
                .map(|(of, which)| curve(&format!("{}, {which}", carrier.name()), carrier, record, of))
        })
    };
    plot(&format!("{}, queue of {queue}", scene.title()), Carrier::OURS.into_iter().flat_map(of).collect())
}

/// The rate of the second video over that of the first, run by run.
fn shares(first: Vec<f64>, second: Vec<f64>) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| second / first).collect()
}

/// The ratio of both rates in the median run, the greater over the lesser.
pub(super) fn apart(results: &Results, spot: Spot) -> f64 {
    let shares = shares(results.real(spot, FIRST), results.real(spot, SECOND));
    Spread::of(shares.into_iter().map(|share| share.max(1.0 / share))).median
}

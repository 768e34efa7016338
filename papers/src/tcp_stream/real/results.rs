//! The results of the runs, the kernel's and the lab's.

use std::collections::BTreeMap;

use super::carrier::Carrier;
use super::run::Record;
use super::scene::Scene;
use super::{Job, QUEUES};
use crate::tcp_stream::Results as LabResults;
use crate::tcp_stream::Series as LabSeries;

/// A kind of run, performed once or more often.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Spot {
    pub(super) scene: Scene,
    pub(super) queue: u32,
    /// The congestion control of the video, or of both videos.
    pub(super) carrier: Carrier,
}

impl Spot {
    /// All kinds of run.
    pub(super) fn all() -> impl Iterator<Item = Spot> {
        let scenes = [Scene::Background, Scene::Together, Scene::Late].into_iter();
        let places = scenes.flat_map(|scene| QUEUES.map(|queue| (scene, queue)));
        places.flat_map(|(scene, queue)| scene.carriers().iter().map(move |&carrier| Spot { scene, queue, carrier }))
    }
}

/// A number of a run, in the kernel and in the lab: of the video or of the connection beside it.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) real: fn(&Record, Scene) -> f64,
    pub(super) lab: fn(&LabSeries, Scene) -> f64,
}

/// The rate of the video while it is alone.
pub(super) const ALONE: Column =
    Column { real: |record, _| record.mean(0, 20..30), lab: |series, _| series.video_mbps(20, 30) };
/// The rate of the video beside the other connection.
pub(super) const FIRST: Column = Column {
    real: |record, scene| record.mean(0, scene.beside()),
    lab: |series, scene| series.video_mbps(scene.beside().start, scene.beside().end),
};
/// The rate of the other connection.
pub(super) const SECOND: Column = Column {
    real: |record, scene| record.mean(1, scene.beside()),
    lab: |series, scene| series.background_mbps(scene.beside().start, scene.beside().end),
};

/// The results of all runs.
pub(super) struct Results {
    real: BTreeMap<Job, Record>,
    lab: LabResults,
    /// The controls that this kernel does not have.
    pub(super) missing: Vec<&'static str>,
    /// The load averages of the machine at the start, and the number of its processors.
    pub(super) load: String,
}

impl Results {
    pub(super) fn new(lab: LabResults, missing: Vec<&'static str>, load: String) -> Results {
        Results { real: BTreeMap::new(), lab, missing, load }
    }

    pub(super) fn insert(&mut self, job: Job, record: Record) {
        self.real.insert(job, record);
    }

    pub(super) fn len(&self) -> usize {
        self.real.len()
    }

    /// The kernel's runs, in their order.
    pub(super) fn records(&self, spot: Spot) -> impl Iterator<Item = &Record> {
        self.real.iter().filter(move |(job, _)| job.spot == spot).map(|(_, record)| record)
    }

    /// A number of each of the kernel's runs.
    pub(super) fn real(&self, spot: Spot, column: Column) -> Vec<f64> {
        self.records(spot).map(|record| (column.real)(record, spot.scene)).collect()
    }

    /// The same number of the lab's runs, seed by seed.
    pub(super) fn lab(&self, spot: Spot, column: Column) -> Vec<f64> {
        let Some(carrier) = spot.carrier.in_the_lab() else { return Vec::new() };
        let condition = spot.scene.in_the_lab(spot.queue);
        self.lab.rates(condition, carrier, |series| (column.lab)(series, spot.scene))
    }

    /// The number of stalls in all the kernel's runs together.
    pub(super) fn stalls(&self) -> u32 {
        self.real.values().map(|record| record.stalls).sum()
    }
}

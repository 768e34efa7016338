//! `thalweg lab run --plot`: a page with throughput, queues and windows over time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use thalweg_core::time::Span;
use thalweg_lab::experiment::End;
use thalweg_lab::network::Direction;
use thalweg_papers::page::{Axis, Element, Line, Page, Plot, Section, Tone};
use thalweg_workbench::FileError;
use thalweg_workbench::campaign::Campaign;
use thalweg_workbench::pool::Pool;
use thalweg_workbench::record::{Readings, Recorded, record};

use super::{failed, refused};
use crate::failure::Failure;

/// The number of intervals over a run: about two for each pixel of a narrow screen.
const INTERVALS: u64 = 400;

/// Refuses a file that cannot be written, before runs that may take long.
pub(super) fn check(file: &Path) -> Result<(), Failure> {
    let is_new = !file.exists();
    fs::OpenOptions::new().create(true).append(true).open(file).map_err(|error| unwritable(file, error))?;
    if is_new {
        let _ = fs::remove_file(file);
    }
    Ok(())
}

fn unwritable(file: &Path, error: std::io::Error) -> Failure {
    failed(FileError::writing(file)(error).to_string())
}

/// Runs the first seed of each variant again, and writes the page, unless that is interrupted.
pub(super) fn write(file: &Path, scenario: &str, campaign: &Campaign, pool: Pool<'_>) -> Result<(), Failure> {
    let first = Campaign { seeds: campaign.seeds.iter().take(1).copied().collect(), ..campaign.clone() };
    let longest = campaign.experiments().map_err(refused)?.iter().map(|it| it.duration).max().unwrap_or(Span::ZERO);
    let interval = Span::from_millis((longest.as_micros() / 1000 / INTERVALS).max(1));
    let (recorded, _) = record(&first, Some(interval), pool).map_err(refused)?;
    if recorded.len() < first.variants.len() {
        return Err(failed(format!("interrupted before {} was written", file.display())));
    }
    let page = Page {
        title: scenario.to_owned(),
        summary: format!("Seed {}, intervals of {interval}.", first.seeds.first().copied().unwrap_or_default()),
        sections: recorded.iter().map(section).collect(),
        ..Page::default()
    };
    fs::write(file, page.to_html()).map_err(|error| unwritable(file, error))
}

/// The plots of one run.
fn section(recorded: &Recorded) -> Section {
    let Recorded { variant, run, flows, hops } = recorded;
    let group = |nth: usize| run.outcome.flows.get(flows.number[nth] as usize).map(|flow| flow.group);
    let name = |group: usize| run.groups.get(group).cloned().unwrap_or_default();
    let delivered = Series::of(flows, "delivered_bytes", |nth| group(nth).filter(|_| flows.side[nth] == End::Both));
    let windows = Series::of(flows, "cwnd", group);
    let queues = Series::of(hops, "queue_packets", |nth| {
        (hops.side[nth] == Direction::Forward).then(|| hops.number[nth] as usize)
    });
    let plots = [
        delivered.plot("Throughput", Axis::new("delivered", "Mb/s"), name, |sum| sum.total * 8e-6 / sum.seconds),
        queues.plot("Queues", Axis::new("waiting", "packets"), |hop| format!("hop {hop}"), |sum| sum.total),
        windows.plot("Congestion windows", Axis::new("mean of the flows", "segments"), name, |sum| {
            sum.total / f64::from(sum.count)
        }),
    ];
    let title = if variant.is_empty() { "Over time".to_owned() } else { variant.clone() };
    Section { title, text: Vec::new(), elements: plots.into_iter().flatten().map(Element::Plot).collect() }
}

/// The sums of a probe over the members of each group, at the end of each interval.
#[derive(Default)]
struct Series {
    /// The ends of the intervals, in seconds.
    times: Vec<f64>,
    groups: BTreeMap<usize, Vec<Sum>>,
}

/// The sum over one group at the end of one interval.
#[derive(Clone, Copy, Default)]
struct Sum {
    total: f64,
    count: u32,
    /// The length of the interval.
    seconds: f64,
}

impl Series {
    /// The series of a probe; `group` has the group of a reading, if the reading counts.
    fn of<Side>(readings: &Readings<Side>, probe: &str, group: impl Fn(usize) -> Option<usize>) -> Series {
        let mut series = Series::default();
        for (nth, at) in readings.at.iter().enumerate() {
            let before = series.times.last().copied().unwrap_or(0.0);
            if series.times.is_empty() || *at > before {
                series.times.push(*at);
            }
            let is_wanted = readings.probes[usize::from(readings.probe[nth])] == probe && !readings.value[nth].is_nan();
            if let Some(group) = Some(nth).filter(|_| is_wanted).and_then(&group) {
                let sums = series.groups.entry(group).or_default();
                sums.resize(series.times.len(), Sum::default());
                if let Some(sum) = sums.last_mut() {
                    sum.total += readings.value[nth];
                    sum.count += 1;
                }
            }
        }
        let lengths = series.times.iter().scan(0.0, |before, at| Some(at - std::mem::replace(before, *at)));
        let lengths: Vec<f64> = lengths.collect();
        for sums in series.groups.values_mut() {
            sums.iter_mut().zip(&lengths).for_each(|(sum, seconds)| sum.seconds = *seconds);
        }
        series
    }

    /// A plot with a line for each group; none without any.
    fn plot(&self, title: &str, y: Axis, name: impl Fn(usize) -> String, value: impl Fn(&Sum) -> f64) -> Option<Plot> {
        let line = |(nth, (group, sums)): (usize, (&usize, &Vec<Sum>))| {
            let points = self.times.iter().copied().zip(sums).filter(|(_, sum)| sum.count > 0);
            Line::new(&name(*group), TONES[nth % TONES.len()], points.map(|(at, sum)| (at, value(sum))).collect())
        };
        let lines: Vec<Line> = self.groups.iter().enumerate().map(line).collect();
        (!lines.is_empty()).then(|| Plot { title: title.to_owned(), x: Axis::new("time", "s"), y, lines })
    }
}

/// The tones of the lines of a plot.
const TONES: [Tone; 5] = [Tone(2), Tone(1), Tone(3), Tone(5), Tone(0)];

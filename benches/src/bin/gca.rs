//! The time of GCA's equation and of its inverse, which a sender spends at each report and at its first loss, and of the
//! parameters of streams that share by need, which are solved once a second.

use std::hint::black_box;
use std::process::ExitCode;

use thalweg_bench::race::{Contestant, race};
use thalweg_bench::report::{Bound, Target, Unit, grid, main as report, section, verdicts};
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::share::link::{self, Flow};
use thalweg_core::law::rate::share::{Coupling, Group, Id, Norm};
use thalweg_core::law::rate::tfrc::Equation;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate, Seconds};

/// The streams of a group, and the flows of a link.
const STREAMS: u32 = 64;
/// The number of points on the equation, which are repeated.
const POINTS: usize = 4096;
/// The highest rate that a stream can use.
const MOST: Rate = Rate::from_mbps(1_000);

fn main() -> ExitCode {
    report("gca", |_| bench())
}

fn bench() -> Result<(), String> {
    let text = "The time of one rate by GCA's equation, of its inverse, and of the parameters of 64 streams that share by \
        need, with their averages and correlations over 10 s, on one core, medians. Beside them the rates of 64 flows on \
        a link by the model of `replay gca-link`.";
    section("Shares by need", text, &["benches/run gca".into()]);
    let greediness = Greediness::new(2.25, 0.5).map_err(|error| error.to_string())?;
    let points = points();
    let mut contestants: Vec<Contestant<'_>> = vec![
        ("rate".into(), each(&points, |p| greediness.rate(Bytes(1_024), Seconds(0.025), *p))),
        ("inverse".into(), each(&points, |p| greediness.loss_event_rate(Bytes(1_024), Seconds(0.025), 1e5 / p))),
        ("parameters of 64 streams".into(), group()?),
        ("rates of 64 flows on a link".into(), flows(greediness)),
    ];
    let medians: Vec<f64> = race(&mut contestants).iter().map(|times| times.median()).collect();
    let row = |((name, _), seconds): (&Contestant<'_>, &f64)| [name.clone(), format!("{:.3} us", seconds * 1e6)];
    let rows: Vec<[String; 2]> = contestants.iter().zip(&medians).map(row).collect();
    println!("{}", grid(["value", "time"], &rows));
    let target = |what: &str, most: f64| Target { what: what.into(), bound: Bound::AtMost(most), unit: Unit::Ratio };
    verdicts(&[
        (target("one rate of GCA, nanoseconds", 100.0), medians[0] * 1e9),
        (target("one inverse of GCA, microseconds", 5.0), medians[1] * 1e6),
        (target("parameters of 64 streams, microseconds", 1_000.0), medians[2] * 1e6),
    ]);
    Ok(())
}

/// The work of one point.
fn each<'a>(points: &'a [f64], work: impl Fn(&f64) -> f64 + 'a) -> Box<dyn FnMut() + 'a> {
    let mut points = points.iter().cycle();
    Box::new(move || {
        black_box(work(points.next().expect("the list is not empty")));
    })
}

/// The work of one second of a group whose streams have measured for 10 s.
fn group() -> Result<Box<dyn FnMut()>, String> {
    let mut group = Group::new(Time::ZERO, Coupling::Measured, Norm::Sum);
    let mut rng = Rng::new(2);
    let ids = || (0..STREAMS).map(Id);
    for id in ids() {
        group
            .handle_need(Time::ZERO, id, Rate::from_mbps(1 + u64::from(id.0)), MOST)
            .map_err(|error| error.to_string())?;
    }
    for tick in 0..40 {
        let now = Time::ZERO + Span::from_millis(250) * tick;
        for id in ids() {
            group.handle_measurement(
                now,
                id,
                Span::from_millis(20) + Span::from_micros(tick * 100),
                0.01 + 0.01 * rng.unit(),
            );
        }
    }
    let now = Time::ZERO + Span::from_secs(10);
    Ok(Box::new(move || {
        let mut group = group.clone();
        group.handle_timeout(now);
        black_box(group.poll_event());
    }))
}

/// The work of one link.
fn flows(greediness: Greediness) -> Box<dyn FnMut()> {
    let flow = |n: u32| Flow {
        segment: Bytes(1_024),
        rtt: Seconds(0.02 + 0.001 * f64::from(n)),
        greediness,
        cap: n.is_multiple_of(2).then_some(1e6),
    };
    let flows: Vec<Flow> = (0..STREAMS).map(flow).collect();
    Box::new(move || {
        let _ = black_box(link::share(black_box(5e6), &flows));
    })
}

/// Loss event rates up to 1, most of them small.
fn points() -> Vec<f64> {
    let mut rng = Rng::new(1);
    let mut point = || {
        let unit = rng.unit();
        1e-5 + (1.0 - 1e-5) * unit * unit * unit * unit
    };
    (0..POINTS).map(|_| point()).collect()
}

//! The time of one value in the predictors of R3CP+, which a receiver spends twice in each period of 100 ms or more.

use std::hint::black_box;
use std::process::ExitCode;

use thalweg_bench::race::{Contestant, race};
use thalweg_bench::report::{Bound, Target, Unit, grid, main as report, section, verdicts};
use thalweg_core::law::predict::Predictor;
use thalweg_core::law::predict::ewma::{self, Ewma};
use thalweg_core::law::predict::rls::{Parameters, Rls};
use thalweg_core::law::registry::Entry as _;
use thalweg_core::rng::Rng;

/// M: the numbers of values in a prediction. The first is the default.
const MEMORIES: [u32; 4] = [10, 1, 20, 64];
/// The longest allowed time of a value with the default M, in seconds.
const MOST: f64 = 1e-6;
/// The number of values in the series, which is repeated.
const VALUES: usize = 4096;

fn main() -> ExitCode {
    report("rls", |_| bench())
}

fn bench() -> Result<(), String> {
    let text = "The time in which a predictor takes a value and predicts the next one, on one core, medians: recursive \
        least squares over M values, and the exponentially weighted mean. The series is autoregressive of second order, \
        so that every value corrects the weights.";
    section("Prediction", text, &["benches/run rls".into()]);
    let series = series();
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for m in MEMORIES {
        let filter = Rls::new(Parameters { m, ..Parameters::default() }).map_err(|error| error.to_string())?;
        contestants.push((format!("least squares, M = {m}"), work(filter, &series)));
    }
    let mean = Ewma::start(&ewma::Parameters::default(), &()).map_err(|error| error.to_string())?;
    contestants.push(("weighted mean".into(), work(mean, &series)));
    let medians: Vec<f64> = race(&mut contestants).iter().map(|times| times.median()).collect();
    let row = |((name, _), seconds): (&Contestant<'_>, &f64)| [name.clone(), format!("{:.3} us", seconds * 1e6)];
    let rows: Vec<[String; 2]> = contestants.iter().zip(&medians).map(row).collect();
    println!("{}", grid(["predictor", "one value"], &rows));
    let what = "one value of least squares, M = 10, microseconds".into();
    verdicts(&[(Target { what, bound: Bound::AtMost(MOST * 1e6), unit: Unit::Ratio }, medians[0] * 1e6)]);
    Ok(())
}

/// The work of one value.
fn work<'a>(mut predictor: impl Predictor + 'a, series: &'a [f64]) -> Box<dyn FnMut() + 'a> {
    let mut values = series.iter().cycle();
    Box::new(move || {
        let value = values.next().expect("the series is not empty");
        black_box(predictor.observe(*value));
        black_box(predictor.prediction());
    })
}

/// x(n) = 1.5 x(n-1) - 0.7 x(n-2) + noise.
fn series() -> Vec<f64> {
    let mut rng = Rng::new(1);
    let (mut x, mut before) = (0.0, 0.0);
    let mut next = || {
        (x, before) = (1.5 * x - 0.7 * before + rng.normal(), x);
        x
    };
    (0..VALUES).map(|_| next()).collect()
}

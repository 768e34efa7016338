//! The numbers that the paper's text gives about its figures.

use thalweg_lab::statistics::Estimate;

use super::super::case::{Case, Path};
use super::super::contender::{Contender, Strategy, Variant};
use super::super::outcome::Outcome;
use super::super::recording::Recording;
use super::super::results::Results;
use super::traces::{followed, settled};

/// A number from the paper's text, and the lab's.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// The figure.
    pub figure: &'static str,
    /// A description of the number.
    pub what: String,
    /// The number in the paper's text.
    pub paper: &'static str,
    /// The lab's numbers, for the readings in [`Variant::SHOWN`].
    pub lab: [Estimate; 2],
    /// The lab's number with Thalweg's own schedule in place of the cost policy; none if the number is about another
    /// strategy.
    pub ours: Option<Estimate>,
}

/// The values of a contender, one for each seed, from which a number is computed.
type Values<'a> = &'a dyn Fn(Contender) -> Vec<f64>;

/// All numbers, by figure. The text gives none for Figs. 10 and 11; those for Fig. 12 are about its recording.
pub fn all(results: &Results) -> Vec<Number> {
    let [first, second, third] = Case::TABLE_2;
    let [.., lowered] = Case::TABLE_3;
    let mut numbers = estimates();
    numbers.extend([
        saved(results, "Fig. 4", first, 0.9, "over 14 %"),
        saved(results, "Fig. 4", first, 0.95, "over 12 %"),
        saved(results, "Fig. 4", first, 0.99, "about none"),
        of(results, "Fig. 4", "U, cost", "11.2 %", first, Strategy::Cost, percent(Outcome::overhead)),
    ]);
    for (strategy, packets, paper) in [
        (Strategy::Arq, 10, "almost 20 %"),
        (Strategy::Opportunistic, 10, "almost 20 %"),
        (Strategy::Cost, 10, "about 8 %"),
        (Strategy::Opportunistic, 6, "70 %"),
        (Strategy::Cost, 6, "90 %"),
    ] {
        let what = format!("bursts at {} kb/s or more, {}", first.kbps(packets as f64), strategy.name());
        let share = percent(move |it: &Outcome| it.share_of_bursts(packets));
        numbers.push(of(results, "Fig. 4", &what, paper, first, strategy, share));
    }
    numbers.extend([
        saved(results, "Fig. 5", second, 0.9, "11 %"),
        saved(results, "Fig. 5", second, 0.95, "10 %"),
        saved(results, "Fig. 5", second, 0.99, "6 %"),
    ]);
    for strategy in [Strategy::Opportunistic, Strategy::Cost] {
        let what = format!("median rate, {}, kb/s", strategy.name());
        numbers.push(of(results, "Fig. 5", &what, "about 250", second, strategy, move |it| second.kbps(median(it))));
    }
    numbers.extend([
        of(results, "Fig. 6", "U, cost", "close to 40 %", third, Strategy::Cost, percent(Outcome::overhead)),
        saved(results, "Fig. 7", lowered, 0.9, "none"),
        fixed("Fig. 7", "of what arrives at R, more than S needs, %".to_owned(), "up to 12 %", spare(&lowered)),
    ]);
    for nth in 0..results.plan().recordings.len() {
        for (strategy, paper) in [(Strategy::Arq, "0.6"), (Strategy::Opportunistic, "0.5"), (Strategy::Cost, "0.4")] {
            let what = format!("recording {}: 99 % of the delay, {}, s", nth + 1, strategy.name());
            numbers.push(of(results, "Fig. 8", &what, paper, Case::recorded(nth), strategy, |it| it.percentile(0.99)));
        }
    }
    let [.., boundless] = Case::BOUNDS;
    numbers.push(of(
        results,
        "Fig. 9",
        "U, cost, U_MAX = 10",
        "39 %",
        boundless,
        Strategy::Cost,
        percent(Outcome::overhead),
    ));
    numbers.extend(results.plan().recordings.iter().enumerate().flat_map(|(nth, it)| recorded(nth + 1, it)));
    numbers
}

/// Fig. 3: the mean estimates while losses are drawn with a constant rate.
fn estimates() -> Vec<Number> {
    let of = |window: usize| {
        let points = followed(window);
        // The rates of STEPS as they are printed.
        ["5", "15", "5"].into_iter().enumerate().map(move |(nth, paper)| {
            let what = format!("stretch {}: loss rate, estimated of {window} packets, %", nth + 1);
            fixed("Fig. 3", what, paper, settled(&points, nth) * 100.0)
        })
    };
    [100, 32].into_iter().flat_map(of).collect()
}

/// The share of R (1 - eps), the rate at which packets arrive, that S leaves to combinations, in percent.
fn spare(case: &Case) -> f64 {
    let Path::Random { percent, .. } = case.path else { return f64::NAN };
    let arrives = 400.0 * (1.0 - f64::from(percent) / 100.0);
    (1.0 - case.offered_kbps as f64 / arrives) * 100.0
}

/// The numbers for Fig. 12 from the `nth` recording.
fn recorded(nth: usize, recording: &Recording) -> [Number; 3] {
    let of = |what: &str, paper, value| fixed("Fig. 12", format!("recording {nth}: {what}"), paper, value);
    let most = recording.losses_among(32).fold(0.0, f64::max);
    let trips = recording.rtts().sum::<f64>() / recording.rtts().count() as f64;
    [
        of("loss, %", "5 %", recording.loss() * 100.0),
        of("most loss among 32 packets in a row, %", "up to 12 %", most * 100.0),
        of("mean round trip, ms", "about 200", trips * 1e3),
    ]
}

/// A number that needs no run and is the same under all readings.
fn fixed(figure: &'static str, what: String, paper: &'static str, value: f64) -> Number {
    let value = Estimate { mean: value, half_width: f64::NAN, count: 1 };
    Number { figure, what, paper, lab: [value, value], ours: None }
}

/// A number about one strategy.
fn of(
    results: &Results,
    figure: &'static str,
    what: &str,
    paper: &'static str,
    case: Case,
    strategy: Strategy,
    number: impl Fn(&Outcome) -> f64,
) -> Number {
    read(figure, what.to_owned(), paper, strategy, &|contender| results.values(case, contender, &number))
}

/// The reduction of a percentile of the delay by the cost policy, compared with the opportunistic one, in percent.
fn saved(results: &Results, figure: &'static str, case: Case, share: f64, paper: &'static str) -> Number {
    let delay = |contender| results.values(case, contender, |it| it.percentile(share));
    let values = |contender: Contender| {
        let base = Contender::new(Strategy::Opportunistic, contender.variant);
        delay(contender).iter().zip(delay(base)).map(|(low, high)| (1.0 - low / high) * 100.0).collect()
    };
    let what = format!("{} % of the delay, less with cost than with no cost, %", share * 100.0);
    read(figure, what, paper, Strategy::Cost, &values)
}

fn read(figure: &'static str, what: String, paper: &'static str, strategy: Strategy, values: Values<'_>) -> Number {
    let lab = Variant::SHOWN.map(|variant| Estimate::of(values(Contender::new(strategy, variant))));
    let ours = (strategy == Strategy::Cost).then(|| Estimate::of(values(Contender::OURS)));
    Number { figure, what, paper, lab, ours }
}

fn percent(share: impl Fn(&Outcome) -> f64) -> impl Fn(&Outcome) -> f64 {
    move |outcome| share(outcome) * 100.0
}

/// The largest number of packets that were accepted in at least half of the bursts.
fn median(outcome: &Outcome) -> f64 {
    (0..outcome.accepted.len()).rev().find(|packets| outcome.share_of_bursts(*packets) >= 0.5).unwrap_or(0) as f64
}

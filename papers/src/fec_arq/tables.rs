//! Tables II, III and IV.

pub(super) mod printed;

use super::case::Case;
use super::contender::{Contender, Strategy, Variant};
use super::outcome::Outcome;
use super::results::Results;
use crate::comparison::{self, Pair};

/// A table of the paper.
pub type Comparison = comparison::Comparison<Contender>;
/// One row.
pub type Entry = comparison::Entry<Contender>;

const COLUMNS: &[&str] = &["90 %, s", "95 %, s", "99 %, s", "U", "application, kb/s"];

/// Tables II and III, and Table IV on each recording.
pub fn all(results: &Results) -> Vec<Comparison> {
    let of = |name, what: &str, cases: [Case; 3], printed: [[[f64; 4]; 4]; 3]| Comparison {
        name,
        about: format!("Percentiles of the delay, W = 16, U_MAX = 10, {what}, R = 400 kb/s."),
        columns: COLUMNS,
        blocks: cases.iter().zip(&printed).map(|(case, printed)| block(results, *case, printed)).collect(),
    };
    let recorded =
        (0..results.plan().recordings.len()).map(|nth| block(results, Case::recorded(nth), &printed::TABLE_4));
    vec![
        of("Table II", "S = 500 kb/s", Case::TABLE_2, printed::TABLE_2),
        of("Table III", "S = 300 kb/s", Case::TABLE_3, printed::TABLE_3),
        Comparison { name: "Table IV", about: about_table_4(results), columns: COLUMNS, blocks: recorded.collect() },
    ]
}

fn about_table_4(results: &Results) -> String {
    let recordings = &results.plan().recordings;
    let mut about =
        "The paper's own trace, North America to Europe with 5 % loss and an RTT of 200 ms, was never published; \
                     its numbers stand beside other recordings, which they cannot be expected to meet. "
            .to_owned();
    if recordings.is_empty() {
        return about + "No recording was at hand.";
    }
    for (nth, recording) in recordings.iter().enumerate() {
        let count = recording.rtts().count() as f64;
        let mean = recording.rtts().sum::<f64>() / count;
        about += &format!(
            "Recording {}: {}, {} slots, {:.1} % lost, mean round trip {:.0} ms. ",
            nth + 1,
            recording.name,
            recording.trips.len(),
            recording.loss() * 100.0,
            mean * 1e3
        );
    }
    about += "Recordings of relative one-way delays are shifted to a mean of 200 ms. The loss rate is the sender's estimate, \
              and a loss is known after 1.5 smoothed round trips, to Thalweg when it is overdue; Thalweg's estimate knows losses in a \
              row. A sender that knows of each loss as it happens, the paper's lower bound, is none where delays vary: another \
              may have a copy that is not late.";
    (0..recordings.len()).fold(about, |about, nth| about + &slower(results, nth))
}

/// A sentence for a recording on which Thalweg's own schedule is slower than the cost policy but sends fewer useless
/// packets.
fn slower(results: &Results, nth: usize) -> String {
    let of = |contender, number: fn(&Outcome) -> f64| results.estimate(Case::recorded(nth), contender, number).mean;
    let cost = Contender::new(Strategy::Cost, Variant::Literal);
    let late = [Contender::OURS, cost].map(|contender| of(contender, |it| it.percentile(0.99)));
    let spent = [Contender::OURS, cost].map(|contender| of(contender, Outcome::overhead));
    // NaN, for jobs that were not run, is not greater.
    if late[0].partial_cmp(&late[1]) != Some(core::cmp::Ordering::Greater) || spent[0] >= spent[1] {
        return String::new();
    }
    format!(
        " On recording {} Thalweg is later than the paper's cost policy at 99 %, {:.2} s after {:.2} s: it sends less in vain, U \
         {:.2} against {:.2}, as it puts a price on packets that are likely to be useless, and losses that come in a row find \
         fewer of them under way.",
        nth + 1,
        late[0],
        late[1],
        spent[0],
        spent[1]
    )
}

fn block(results: &Results, case: Case, printed: &[[f64; 4]; 4]) -> (String, Vec<Entry>) {
    let strategies = [Strategy::Arq, Strategy::Opportunistic, Strategy::Cost, Strategy::Bound, Strategy::Ours];
    let mut rows: Vec<Entry> = Vec::new();
    for (nth, strategy) in strategies.into_iter().enumerate() {
        for variant in Variant::ALL {
            let contender = Contender::new(strategy, variant);
            let is_run = results.record(case, contender, 1).is_some();
            if is_run && rows.iter().all(|row| row.scheme != contender) {
                rows.push(row(results, case, contender, printed.get(nth)));
            }
        }
    }
    (case.to_string(), rows)
}

fn row(results: &Results, case: Case, contender: Contender, printed: Option<&[f64; 4]>) -> Entry {
    let numbers: [fn(&Outcome) -> f64; 4] =
        [|it| it.percentile(0.9), |it| it.percentile(0.95), |it| it.percentile(0.99), Outcome::overhead];
    let cell = |(nth, of): (usize, fn(&Outcome) -> f64)| Pair {
        paper: printed.map(|printed| printed[nth]),
        lab: results.estimate(case, contender, of),
    };
    let rate = results.estimate(case, contender, |it| case.kbps(it.mean_accepted()));
    let cells = numbers.into_iter().enumerate().map(cell).chain([Pair { paper: None, lab: rate }]).collect();
    Entry { subject: contender.name_in(&case).to_owned(), scheme: contender, cells }
}

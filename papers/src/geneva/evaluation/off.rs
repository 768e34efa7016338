//! The lab's numbers that deviate from the paper's to one side.

use super::READINGS;
use crate::geneva::{Results, Scheme, tables};
use crate::page::{Element, Row, Section, Table};

/// The distance from Fwnd_min below which a mean window counts as that of static repair.
const OF_STATIC_8: f64 = 0.05;

/// The paper's tables, as ratios of lab to paper by column, and windows that never open.
pub(super) fn section(results: &Results) -> Section {
    let of = |name: &str, results: &Results, scheme: Scheme| {
        let both = [tables::table_1(results), tables::table_2(results)];
        both.map(|table| {
            let ratios = table.ratios(&scheme);
            let cells = ratios.iter().map(|(_, ratio)| ratio.map_or_else(|| "-".to_owned(), range_text)).collect();
            Row { subject: format!("{}, {name}", table.name), tone: None, cells }
        })
    };
    let rows = READINGS.into_iter();
    let rows = rows.flat_map(|(name, state, at)| of(name, &results.with(at), Scheme::geneva(state))).collect();
    let table_1 = tables::table_1(results);
    let head = std::iter::once("GENEVA, lab / paper").chain(table_1.columns.iter().copied());
    let table = Table { head: head.map(str::to_owned).collect(), rows };
    let text = [
        "The least and the largest ratio of lab to paper, over the rows of GENEVA in the paper's two tables."
            .to_owned(),
        one_sided(&table_1.ratios(&Scheme::GenevaInteger)),
        windows(results),
    ];
    let text = text.into_iter().filter(|sentence| !sentence.is_empty()).collect();
    Section { title: "What is systematically off".into(), text, elements: vec![Element::Table(table)] }
}

fn range_text((least, largest): (f64, f64)) -> String {
    format!("{least:.2} to {largest:.2}")
}

/// Columns whose ratios are all under one, or all above.
fn one_sided(ratios: &[(&str, Option<(f64, f64)>)]) -> String {
    let named = |is_there: fn((f64, f64)) -> bool| {
        let there = ratios.iter().filter_map(|(column, ratio)| Some((column, ratio.filter(|it| is_there(*it))?)));
        there.map(|(column, ratio)| format!("{column} ({})", range_text(ratio))).collect::<Vec<_>>().join(", ")
    };
    let (under, above) = (named(|(_, largest)| largest < 1.0), named(|(least, _)| least > 1.0));
    let side = |names: &str, word: &str| match names {
        "" => String::new(),
        names => format!(" Always {word} the paper's: {names}."),
    };
    let sides = side(&under, "under") + &side(&above, "above");
    if sides.is_empty() { String::new() } else { format!("In Table 1 with the integer state:{sides}") }
}

/// Mean windows at 100 ms beside those of the paper (§4.2.1).
fn windows(results: &Results) -> String {
    let of = |scheme| {
        let all =
            results.plan().long(100).map(|at| results.estimate(at, scheme, |record| record.mean(|it| it.fwnd)).mean);
        let all: Vec<f64> = all.filter(|mean| mean.is_finite()).collect();
        Some((all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?))
    };
    let Some((least, largest)) = of(Scheme::GenevaInteger) else { return String::new() };
    let what = if largest < 8.0 + OF_STATIC_8 { ": there GENEVA is static 8 by another name" } else { "" };
    let real = of(Scheme::GenevaReal).map_or_else(String::new, |(least, largest)| {
        format!(" With the real state they are between {least:.2} and {largest:.2}.")
    });
    format!(
        "At 100 ms, beside long-lived TCP, the paper's mean windows are 8.2 to 8.4 packets; with the integer state they are \
         between {least:.3} and {largest:.3} here{what}.{real}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sided_deviations_are_listed_by_direction() {
        let ratios =
            [("loss", Some((0.3, 0.44))), ("index", Some((1.04, 1.36))), ("window", Some((0.9, 1.1))), ("rate", None)];
        let text = one_sided(&ratios);
        assert!(text.ends_with(
            "Always under the paper's: loss (0.30 to 0.44). Always above the paper's: index (1.04 to 1.36)."
        ));
        assert_eq!(one_sided(&ratios[2..]), "");
    }
}

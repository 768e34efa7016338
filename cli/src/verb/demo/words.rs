//! Numbers and sentences for people.

use super::run::Run;

/// The display name of a repair, from the value of `--repair`.
pub(super) fn name(repair: &str) -> String {
    match repair.split_once(':') {
        _ if repair == "none" => "no repair".into(),
        _ if repair == "geneva" => "GENEVA".into(),
        Some((kind, packets)) => format!("{kind} {packets}"),
        None => repair.into(),
    }
}

/// A share as percent, with its significant digits. No line breaks between the number and its sign.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0\u{a0}%".into(),
        p if p < 0.0005 => "<0.001\u{a0}%".into(),
        p if p < 0.1 => format!("{p:.3}\u{a0}%"),
        p if p < 1.0 => format!("{p:.2}\u{a0}%"),
        p => format!("{p:.1}\u{a0}%"),
    }
}

/// The value, or "unknown".
pub(super) fn or_unknown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "unknown".into())
}

/// The figures of a run that the summary needs.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Result {
    pub(super) name: String,
    pub(super) loss_before: Option<f64>,
    /// The share of the video's datagrams that never arrived; `lost` is their number.
    pub(super) loss_after: f64,
    pub(super) lost: usize,
    pub(super) overhead: Option<f64>,
}

impl Result {
    pub(super) fn of(run: &Run) -> Result {
        Result {
            name: name(&run.repair),
            loss_before: run.link.loss(),
            loss_after: run.delivery.loss(),
            lost: run.delivery.lost,
            overhead: run.overhead(),
        }
    }
}

/// One sentence: how the last run compares with those before it.
pub(super) fn conclusion(results: &[Result]) -> String {
    let Some((last, others)) = results.split_last() else { return "Nothing was run.".into() };
    let link = last
        .loss_before
        .map_or(String::new(), |loss| format!(" over a link that lost {} of the packets", percent(loss)));
    let kept = if last.loss_after == 0.0 {
        format!("With {} the whole video arrived{link}", last.name)
    } else {
        format!("With {} all but {} of the video arrived{link}", last.name, percent(last.loss_after))
    };
    let against: Vec<String> = others.iter().map(|other| compare(last, other)).collect();
    let against = if against.is_empty() { String::new() } else { format!("; {}", against.join(", ")) };
    let price = last.overhead.map_or(String::new(), |overhead| {
        format!("; {} put {} more bytes on the wire than the video has", last.name, percent(overhead))
    });
    format!("{kept}{against}{price}.")
}

fn compare(last: &Result, other: &Result) -> String {
    let lost = if other.lost == 0 { "nothing".into() } else { percent(other.loss_after) };
    let (mine, theirs) = (last.lost as f64, other.lost as f64);
    let ratio = theirs / mine;
    // Counts of rare events: a difference within two standard deviations is not significant.
    let against = if (theirs - mine).abs() <= 2.0 * (theirs + mine).sqrt() {
        " (no significant difference)".into()
    } else if !ratio.is_normal() {
        String::new()
    } else if ratio >= 10.0 {
        format!(" ({ratio:.0} times as much)")
    } else if ratio >= 1.0 {
        format!(" ({ratio:.1} times as much)")
    } else {
        format!(" ({:.1} times less)", ratio.recip())
    };
    format!("{} lost {lost}{against}", other.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a video of 100 000 datagrams.
    fn result(name: &str, lost: usize) -> Result {
        let loss_after = lost as f64 / 100_000.0;
        Result { name: name.into(), loss_before: Some(0.015), loss_after, lost, overhead: Some(0.3) }
    }

    #[test]
    fn conclusion_states_losses_and_overhead() {
        let good = conclusion(&[result("no repair", 1500), result("static 8", 60), result("GENEVA", 30)]);
        assert_eq!(
            good.replace('\u{a0}', " "),
            "With GENEVA all but 0.030 % of the video arrived over a link that lost 1.5 % of the packets; no repair lost \
             1.5 % (50 times as much), static 8 lost 0.060 % (2.0 times as much); GENEVA put 30.0 % more bytes on the wire \
             than the video has."
        );
        let bad = conclusion(&[result("static 8", 0), result("GENEVA", 1000)]);
        assert!(bad.contains("static 8 lost nothing;"), "{bad}");
        let worse = conclusion(&[result("static 8", 500), result("GENEVA", 1000)]);
        assert!(worse.contains("(2.0 times less)"), "{worse}");
        let whole = conclusion(&[result("static 8", 50), result("GENEVA", 0)]);
        assert!(whole.starts_with("With GENEVA the whole video") && !whole.contains("times"), "{whole}");
    }

    #[test]
    fn few_losses_are_no_significant_difference() {
        for (theirs, mine) in [(10, 9), (0, 0), (3, 0), (2, 6)] {
            let sentence = conclusion(&[result("static 8", theirs), result("GENEVA", mine)]);
            assert!(sentence.contains("no significant difference"), "{sentence}");
        }
    }

    #[test]
    fn percent_keeps_significant_digits() {
        let written = [0.0, 0.000_001, 0.000_04, 0.0004, 0.0156, 0.3333].map(percent);
        assert_eq!(written, ["0\u{a0}%", "<0.001\u{a0}%", "0.004\u{a0}%", "0.040\u{a0}%", "1.6\u{a0}%", "33.3\u{a0}%"]);
    }
}

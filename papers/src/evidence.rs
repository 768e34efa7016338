//! The verdicts on the claims of a paper.

use thalweg_lab::statistics::Verdict;

use crate::claim::{Finding, Gate};
use crate::page::{Element, Row, Section, Table, interval};
use crate::part::Part;
use crate::remark::{self, Remark};

const CLAIM_HEAD: [&str; 1] = ["what the paper says"];
const CLAIM_AND_BAR_HEAD: [&str; 2] = ["what the paper says", "bar, and whose"];

/// Every claim, judged under each reading of the points that a paper leaves open.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The names of the readings, and their findings on the claims.
    readings: Vec<(&'static str, Vec<Finding>)>,
}

impl Evidence {
    /// The findings under each reading, by its name.
    pub fn new(readings: Vec<(&'static str, Vec<Finding>)>) -> Evidence {
        Evidence { readings }
    }

    /// The numbers of claims that hold, are contradicted, are undecided, and are not counted, under one reading.
    pub fn verdict_counts(&self, reading: usize) -> String {
        let [hold, contradicted, undecided, qualification] = self.counted(reading, None);
        let all = self.readings[reading].1.len();
        let (holds, are) = (verb(hold, "holds", "hold"), verb(contradicted, "is", "are"));
        let qualification = qualified(qualification);
        format!(
            "{hold} of {all} claims {holds}, {contradicted} {are} contradicted, {undecided} undecided{qualification}"
        )
    }

    /// The numbers of claims that hold, are contradicted, are undecided, and are not counted, under each reading.
    pub fn all_verdict_counts(&self) -> String {
        let each = self.readings.iter().enumerate().map(|(nth, (name, _))| {
            let [hold, contradicted, undecided, qualification] = self.counted(nth, None);
            let (holds, are) = (verb(hold, "holds", "hold"), verb(contradicted, "is", "are"));
            let qualification = qualified(qualification);
            format!("{name}: {hold} {holds}, {contradicted} {are} contradicted, {undecided} undecided{qualification}")
        });
        let all = self.readings.first().map_or(0, |(_, findings)| findings.len());
        format!("{all} claims under each reading. {}", each.collect::<Vec<_>>().join("; "))
    }

    /// The reading under which most claims hold, without those that are not counted.
    pub fn best(&self) -> String {
        let hold = |nth: usize| self.counted(nth, None)[0];
        let most = (0..self.readings.len()).map(hold).max().unwrap_or(0);
        let names = self.readings.iter().enumerate().filter(|(nth, _)| hold(*nth) == most);
        let names: Vec<&str> = names.map(|(_, (name, _))| *name).collect();
        let all = self.readings.first().map_or(0, |(_, findings)| findings.len());
        format!("The reading under which most claims hold, {most} of {all}: {}.", names.join(", and as many under "))
    }

    /// The numbers of claims that hold, are contradicted, are undecided, and are not counted, of one gate or of all.
    fn counted(&self, reading: usize, gate: Option<Gate>) -> [usize; 4] {
        let findings = self.readings[reading].1.iter().filter(|it| gate.is_none_or(|gate| it.claim.gate == gate));
        let verdicts = [Some(Verdict::Holds), Some(Verdict::Contradicted), Some(Verdict::Undecided), None];
        verdicts.map(|verdict| findings.clone().filter(|finding| finding.counted() == verdict).count())
    }

    /// The names of arithmetic claims that do not hold.
    pub fn broken(&self) -> Vec<&'static str> {
        let all = self.readings.iter().take(1).flat_map(|(_, findings)| findings);
        let broken = all.filter(|it| it.claim.gate == Gate::Exact && it.verdict() != Verdict::Holds);
        broken.map(|finding| finding.claim.id).collect()
    }

    /// The causes of claims that one of the readings contradicts or leaves undecided. Claims without a known cause come
    /// first, with what was found about them; then all others by their cause.
    pub fn causes(&self, unexplained: &'static [Remark], causes: &'static [Remark]) -> Section {
        let open = self.open();
        let under = |remark: &Remark| -> Vec<&str> {
            open.iter().copied().filter(|claim| remark.claims.contains(claim)).collect()
        };
        let unmentioned =
            |claim: &&str| remark::of(unexplained, claim).is_none() && remark::of(causes, claim).is_none();
        let unmentioned: Vec<&str> = open.iter().copied().filter(unmentioned).collect();
        let with_remarks = |remarks: &'static [Remark]| remarks.iter().map(|remark| (under(remark), remark.text));
        let table = |head: [&str; 2], rows: Vec<(Vec<&str>, &str)>| {
            let rows = rows.into_iter().filter(|(claims, _)| !claims.is_empty());
            let row = |(claims, text): (Vec<&str>, &str)| Row {
                subject: claims.join(", "),
                tone: None,
                cells: vec![text.into()],
            };
            let rows: Vec<Row> = rows.map(row).collect();
            (!rows.is_empty()).then(|| Element::Words(Table { head: head.map(str::to_owned).to_vec(), rows }))
        };
        let first = with_remarks(unexplained).chain([(unmentioned, "Nothing beside what is on this page.")]).collect();
        let elements = [
            table(["no cause is known of", "what was found"], first),
            table(["claims", "what was measured of their cause"], with_remarks(causes).collect()),
        ];
        let text =
            vec!["Claims that do not hold everywhere: first those without a known cause, then the others.".into()];
        Section { title: "Why some do not hold".into(), text, elements: elements.into_iter().flatten().collect() }
    }

    /// The names of claims that one of the readings contradicts or leaves undecided.
    fn open(&self) -> Vec<&'static str> {
        let is_open = |findings: &Vec<&Finding>| findings.iter().any(|finding| finding.verdict() != Verdict::Holds);
        self.claimed().filter(is_open).map(|findings| findings[0].claim.id).collect()
    }

    /// Each claim under all readings.
    fn claimed(&self) -> impl Iterator<Item = Vec<&Finding>> {
        let count = self.readings.first().map_or(0, |(_, findings)| findings.len());
        (0..count).map(|nth| self.readings.iter().map(|(_, findings)| &findings[nth]).collect())
    }

    fn head(&self, before: &[&str], after: &[&str]) -> Vec<String> {
        let names = self.readings.iter().map(|(name, _)| *name);
        before.iter().copied().chain(names).chain(after.iter().copied()).map(str::to_owned).collect()
    }

    /// The verdicts, counted by gate, and one sentence a topic.
    pub fn how_far(&self, topics: &[Remark]) -> Section {
        let row = |gate: Option<Gate>| {
            let counts = (0..self.readings.len()).map(|nth| match self.counted(nth, gate) {
                [hold, contradicted, undecided, qualification] => {
                    let (holds, qualification) = (verb(hold, "holds", "hold"), qualified(qualification));
                    format!("{hold} {holds}, {contradicted} contradicted, {undecided} undecided{qualification}")
                }
            });
            Row { subject: gate.map_or("all", Gate::word).into(), tone: None, cells: counts.collect() }
        };
        let gates = [Some(Gate::Exact), Some(Gate::Hard), Some(Gate::Soft), None];
        let table = Table { head: self.head(&["claims"], &[]), rows: gates.into_iter().map(row).collect() };
        let text = topics.iter().map(|topic| self.sentence(topic)).collect();
        Section { title: "How far the results hold".into(), text, elements: vec![Element::Words(table)] }
    }

    /// The verdict on a topic: in full under the first reading, as a number under the others.
    fn sentence(&self, topic: &Remark) -> String {
        let all = topic.claims.len();
        let named = |reading: usize, verdict: Option<Verdict>| -> Vec<&str> {
            let findings = self.readings[reading].1.iter().filter(|it| topic.claims.contains(&it.claim.id));
            findings.filter(|it| it.counted() == verdict).map(|it| it.claim.id).collect()
        };
        let held = |reading| named(reading, Some(Verdict::Holds)).len();
        let word = match (held(0), named(0, Some(Verdict::Undecided)).len()) {
            (held, _) if held == all => "holds",
            (_, undecided) if undecided == all => "is undecided",
            (0, _) => "does not hold",
            _ => "holds in part",
        };
        let open = [Some(Verdict::Contradicted), Some(Verdict::Undecided), None];
        let open = open.map(|verdict| (verdict.map_or("not counted", Verdict::word), named(0, verdict)));
        let open = open.iter().filter(|(_, claims)| !claims.is_empty());
        let open: Vec<String> = open.map(|(word, claims)| format!("{word}: {}", claims.join(", "))).collect();
        let open = if open.is_empty() { String::new() } else { format!(" ({})", open.join("; ")) };
        let others = self.readings.iter().enumerate().skip(1);
        let others: String = others.map(|(nth, (name, _))| format!(", {name} {}", held(nth))).collect();
        let first = self.readings[0].0;
        format!("{}: {word}. Claims that hold: {first} {} of {all}{open}{others}.", topic.text, held(0))
    }

    /// One line a claim; `bars` are the bounds that claims are held against, `notes` are additional remarks.
    pub fn claims(&self, bars: &[Remark], notes: &[&str]) -> Section {
        let row = |findings: Vec<&Finding>| {
            let claim = findings[0].claim;
            let verdicts = findings.iter().map(|finding| finding.word().to_owned());
            let text = format!("{} ({})", claim.text, claim.source);
            let bar = remark::of(bars, claim.id).map(|bar| bar.text.to_owned());
            let cells =
                std::iter::once(claim.gate.word().to_owned()).chain(verdicts).chain([text]).chain(bar).collect();
            Row { subject: claim.id.into(), tone: None, cells }
        };
        let how = "A claim about two schemes is judged by the 95 % interval of the difference of runs with the same \
                   seed. The claim holds if the whole interval lies on the claimed side, is contradicted if it lies \
                   on the other side, and is undecided otherwise. A claim of several parts holds if all parts hold. \
                   The gate of a claim is exact (arithmetic, computed from the law), hard (the lab should reproduce \
                   it) or soft (it depends on choices that the paper does not publish).";
        let text = std::iter::once(how).chain(notes.iter().copied()).map(str::to_owned).collect();
        let table = Table {
            head: self.head(&["claim", "gate"], if bars.is_empty() { &CLAIM_HEAD } else { &CLAIM_AND_BAR_HEAD }),
            rows: self.claimed().map(row).collect(),
        };
        Section { title: "Claims".into(), text, elements: vec![Element::Words(table)] }
    }

    /// One line a part.
    pub fn parts(&self) -> Section {
        let row = |findings: &[&Finding], nth: usize| {
            let part = &findings[0].parts[nth];
            let measurements = findings.iter().map(|finding| measured(&finding.parts[nth]));
            let cells = [part.what.clone(), part.wanted.to_string()].into_iter().chain(measurements).collect();
            Row { subject: findings[0].claim.id.into(), tone: None, cells }
        };
        let rows = self.claimed().flat_map(|findings| {
            let of_claim: Vec<Row> = (0..findings[0].parts.len()).map(|nth| row(&findings, nth)).collect();
            of_claim
        });
        let text = vec!["The parts of the claims: mean over the seeds, and half the 95 % interval.".into()];
        let table = Table { head: self.head(&["claim", "what was measured", "wanted"], &[]), rows: rows.collect() };
        Section { title: "What was measured".into(), text, elements: vec![Element::Words(table)] }
    }
}

/// The number of claims that hold and are not counted, if there are any.
fn qualified(count: usize) -> String {
    if count == 0 { String::new() } else { format!(", {count} not counted") }
}

/// The verb of a sentence about `count` subjects.
fn verb(count: usize, of_one: &'static str, of_many: &'static str) -> &'static str {
    if count == 1 { of_one } else { of_many }
}

fn measured(part: &Part) -> String {
    match part.measured.mean.is_nan() {
        true => "not run".into(),
        false => format!("{}: {}", interval(&part.measured), part.verdict().word()),
    }
}

#[cfg(test)]
mod tests {
    use crate::claim::{Qualification, Statement};
    use crate::part::Wanted;
    use thalweg_lab::statistics::Estimate;

    use super::*;

    fn finding(id: &'static str, gate: Gate, mean: f64) -> Finding {
        let measured = Estimate { mean, half_width: 0.5, count: 5 };
        let part = Part { what: id.into(), measured, wanted: Wanted::Above(0.0) };
        Finding {
            claim: Statement { id, gate, source: "§1", text: "it is so" },
            parts: vec![part],
            qualification: None,
        }
    }

    #[test]
    fn topics_are_summarized_by_their_verdicts() {
        let first = vec![finding("A", Gate::Hard, 1.0), finding("B", Gate::Soft, -1.0), finding("C", Gate::Hard, 0.0)];
        let second = vec![finding("A", Gate::Hard, 1.0), finding("B", Gate::Soft, 1.0), finding("C", Gate::Hard, 1.0)];
        let evidence = Evidence::new(vec![("whole", first), ("real", second)]);
        let topics = [
            Remark { text: "Everything", claims: &["A", "B", "C"] },
            Remark { text: "The first", claims: &["A"] },
            Remark { text: "The rest", claims: &["B", "C"] },
            Remark { text: "The last", claims: &["C"] },
        ];
        let section = evidence.how_far(&topics);
        assert_eq!(
            section.text,
            [
                "Everything: holds in part. Claims that hold: whole 1 of 3 (contradicted: B; undecided: C), real 3.",
                "The first: holds. Claims that hold: whole 1 of 1, real 1.",
                "The rest: does not hold. Claims that hold: whole 0 of 2 (contradicted: B; undecided: C), real 2.",
                "The last: is undecided. Claims that hold: whole 0 of 1 (undecided: C), real 1.",
            ]
        );
        let [Element::Words(table)] = &section.elements[..] else { panic!("a table of counts") };
        let hard = &table.rows[1];
        assert_eq!(hard.subject, "hard");
        assert_eq!(hard.cells[0], "1 holds, 0 contradicted, 1 undecided");
        assert_eq!(evidence.verdict_counts(0), "1 of 3 claims holds, 1 is contradicted, 1 undecided");
        let both = "whole: 1 holds, 1 is contradicted, 1 undecided; real: 3 hold, 0 are contradicted, 0 undecided";
        assert_eq!(evidence.all_verdict_counts(), format!("3 claims under each reading. {both}"));
        assert_eq!(evidence.best(), "The reading under which most claims hold, 3 of 3: real.");
    }

    #[test]
    fn qualified_claims_are_shown_but_not_counted() {
        let qualified =
            |id, qualification| Finding { qualification: Some(qualification), ..finding(id, Gate::Hard, 1.0) };
        let not_held = Finding { qualification: Some(Qualification::StandIn), ..finding("C", Gate::Hard, -1.0) };
        let findings = vec![qualified("A", Qualification::Vacuous), qualified("B", Qualification::StandIn), not_held];
        let evidence = Evidence::new(vec![("whole", findings)]);
        let expected = "3 claims under each reading. whole: 0 hold, 1 is contradicted, 0 undecided, 2 not counted";
        assert_eq!(evidence.all_verdict_counts(), expected);
        let section = evidence.claims(&[], &[]);
        let Some(Element::Words(table)) = section.elements.first() else { panic!("a table of claims") };
        let words: Vec<&str> = table.rows.iter().map(|row| row.cells[1].as_str()).collect();
        assert_eq!(words, ["holds, vacuous", "holds, by a stand-in", "contradicted"]);
    }

    #[test]
    fn unexplained_claims_are_listed_first() {
        const UNEXPLAINED: &[Remark] = &[Remark { claims: &["B"], text: "tried" }];
        const CAUSES: &[Remark] = &[Remark { claims: &["A", "D"], text: "measured" }];
        let open = |id| finding(id, Gate::Hard, -1.0);
        let evidence =
            Evidence::new(vec![("whole", vec![open("A"), open("B"), open("C"), finding("D", Gate::Hard, 1.0)])]);
        let section = evidence.causes(UNEXPLAINED, CAUSES);
        let seen: Vec<(&str, &str)> = section
            .elements
            .iter()
            .flat_map(|element| match element {
                Element::Words(table) => table.rows.iter().map(|row| (row.subject.as_str(), row.cells[0].as_str())),
                _ => panic!("tables of words"),
            })
            .collect();
        assert_eq!(seen, [("B", "tried"), ("C", "Nothing beside what is on this page."), ("A", "measured")]);
        let all_hold = Evidence::new(vec![("whole", vec![finding("D", Gate::Hard, 1.0)])]);
        assert!(all_hold.causes(UNEXPLAINED, CAUSES).elements.is_empty());
    }

    #[test]
    fn claim_row_shows_its_bar() {
        let evidence = Evidence::new(vec![("whole", vec![finding("A", Gate::Hard, 1.0)])]);
        let bars = [Remark { claims: &["A"], text: "above zero: ours" }];
        let section = evidence.claims(&bars, &[]);
        let Some(Element::Words(table)) = section.elements.first() else { panic!("a table of claims") };
        assert_eq!(table.head.last().map(String::as_str), Some("bar, and whose"));
        assert_eq!(table.rows[0].cells.last().map(String::as_str), Some("above zero: ours"));
    }
}

//! The evaluation as a whole: the readings of its claims, and the sections of its page.

use super::claims::{CLAIMS, Claim, Reading};
use super::{Cell, Contender, Job, Plan, Results, causes, errata, figures, tables};
use crate::drawing;
use crate::evaluation::{Evaluation, Paper, judge};
use crate::evidence::Evidence;
use crate::page::Section;

const ABOUT: &str = "With this page you can check each claim of the paper against runs of the lab, and run them again. \
                     E. Casey, G.-M. Muntean: TCP Compatible Greediness Control Algorithm for Wireless Multimedia \
                     Streaming. The paper used ns-2. Here Thalweg's lab runs the law of thalweg-core over its model of an \
                     802.11g cell. The same seeds give the same bytes on every machine, with any number of threads. This \
                     command writes the page:";
const READINGS: &str = "The paper gives neither the slots of its cell nor the alpha and beta of Table III. Therefore every \
                        claim is judged in two cells: with slots of 20 us, which carries about as much as the paper's, and of \
                        9 us. GCA has three settings. \"Squares\" gives three times, twice and once the rate at equal loss \
                        event rates (alpha = 2.25, 1, .25; beta = .5). \"Diagonal\" lies on the line of the paper's \
                        examples, beta = alpha / 2, and fits Table III (alpha = 1.4, 1.2, .6). \"Measured\" is ours: both \
                        are solved anew each second from each stream's own round trip and loss event rate.";

impl Evaluation for Plan {
    type Reading = Reading;

    const PAPER: Paper = Paper {
        title: "GCA's evaluation, run again",
        about: ABOUT,
        notes: &[READINGS],
        topics: &[],
        bars: &[],
        causes: causes::CAUSES,
        unexplained: &[],
        errata: errata::ERRATA,
        errata_note: drawing::AS_PRINTED,
    };
    const CLAIMS: &'static [Claim] = CLAIMS;

    /// In both cells under each setting.
    fn evidence(results: &Results) -> Evidence {
        let readings = Cell::ALL.into_iter().flat_map(|cell| Contender::OURS.map(|gca| Reading { cell, gca }));
        Evidence::new(readings.map(|reading| (reading.name(), judge(results, reading))).collect())
    }

    fn summary(results: &Results, evidence: &Evidence) -> String {
        let Plan { seconds, seeds } = results.plan();
        let measured = Cell::ALL.map(|cell| tables::measured(results, cell)).join("; ");
        format!(
            "{}. With measured parameters, {measured}. Runs of {seconds} s, {seeds} seeds; the paper states neither.",
            evidence.all_verdict_counts()
        )
    }

    fn measurements(results: &Results) -> Vec<Section> {
        let mut sections = vec![tables::couplings(results), tables::loss_events(results)];
        let tables = [tables::table_2(results), tables::table_3(results)];
        sections.extend(tables.iter().map(|it| drawing::table(it, "The lab's value is the mean over the seeds.")));
        sections.extend(figures::all(results).iter().map(drawing::figure));
        sections
    }

    fn options(&self) -> Section {
        let parameters = |contender| {
            let job = Job { cell: Cell::LongSlots, contender, seed: 1 };
            (job.to_string(), self.parameters(&job).unwrap_or_default())
        };
        drawing::options(&OPTIONS, Contender::ALL.into_iter().map(parameters))
    }
}

const OPTIONS: [&str; 2] = [
    "Where the paper is silent: 100 Mb/s and 2 ms from the server to the access point, a queue of 50 packets there, all \
     stations at 54 Mb/s. A stream has its average bit rate to send (client 3 of Table II stays at it). The bulk transfer is \
     NewReno with SACK, as ns-2 has TCP: an initial window of two, at most 20 packets in flight, an acknowledgement for each \
     segment. The first ten seconds are not measured.",
    "One line for each control in the cell with slots of 20 us; the other cell differs in the slot alone.",
];

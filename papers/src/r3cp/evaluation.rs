//! The evaluation as a whole: the settings under which claims are judged, and the sections of its page.

use super::claims::{CLAIMS, Claim};
use super::{Condition, Job, Plan, Results, Setting, Subject, causes, errata, figures};
use crate::drawing;
use crate::evaluation::{Evaluation, Paper, judge};
use crate::evidence::Evidence;
use crate::jobs::Jobs;
use crate::page::Section;

const ABOUT: &str = "With this page you can check each claim of the paper against runs of the lab, and run them again. \
                     Y. S. Sun, F.-M. Tsou, M. C. Chen: Predictive flow control for TCP-friendly end-to-end real-time \
                     video on the Internet. The paper used a simulator of its own, and paths of the Internet. Here \
                     Thalweg's lab runs the session of thalweg-core over packets, with modeled videos in place of the \
                     paper's MPEG-1 video. The same seeds give the same bytes on every machine, with any number of \
                     threads. This command writes the page:";
const SETTINGS: &str = "The paper gives neither the thresholds of loss nor more of the buffer than its minimum. \
                        Therefore every claim is judged with three pairs of thresholds, with and without two seconds \
                        of store in the target of Eq. (9), and with a gate that is ours: loss counts only while the \
                        round trip is 30 ms above its minimum.";
const ERRATA: &str = "Table 3 shows the paper's numbers as they are printed; the figures are missing from the text that \
                      is available.";

impl Evaluation for Plan {
    type Reading = Setting;

    const PAPER: Paper = Paper {
        title: "R3CP+'s evaluation, run again",
        about: ABOUT,
        notes: &[SETTINGS],
        topics: &[],
        bars: &[],
        causes: causes::CAUSES,
        unexplained: &[],
        errata: errata::ERRATA,
        errata_note: ERRATA,
    };
    const CLAIMS: &'static [Claim] = CLAIMS;

    fn evidence(results: &Results) -> Evidence {
        let settings = results.plan().settings.iter();
        Evidence::new(settings.map(|setting| (setting.name(), judge(results, *setting))).collect())
    }

    fn summary(results: &Results, evidence: &Evidence) -> String {
        let Plan { seconds, seeds, .. } = results.plan();
        format!(
            "{}. Runs of {seconds} s, {seeds} seeds; the paper has a video of 600 s, and does not state its runs.",
            evidence.all_verdict_counts()
        )
    }

    fn measurements(results: &Results) -> Vec<Section> {
        let mut sections: Vec<Section> = figures::all(results).iter().map(drawing::figure).collect();
        sections.push(drawing::table(&figures::table_3(results), "The lab's value is the mean over the seeds."));
        sections
    }

    fn options(&self) -> Section {
        let setting = self.settings.first().copied().unwrap_or_default();
        let conditions = [
            Condition::Load { videos: 1, tcp: 0 },
            Condition::Crowded,
            Condition::Congested,
            Condition::Pair,
            Condition::Beside { tcp: 1 },
            Condition::Internet(super::Path::Ntu),
        ];
        let parameters = |condition: Condition| {
            let job: Job = Plan::job(condition, Subject::R3cpPlus, &setting, 1);
            (condition.to_string(), self.parameters(&job).unwrap_or_default())
        };
        drawing::options(&OPTIONS, conditions.into_iter().map(parameters))
    }
}

const OPTIONS: [&str; 2] = [
    "Where the paper is silent: the link has a round trip of 60 ms and a queue of 50 packets; TCP is NewReno with SACK; \
     increases, the peak rate and the least rate scale with the video (docs/controls.md). Values are means over the \
     videos, from the start of playback to the end of the run.",
    "One line for each kind of run; the others differ in the number of videos and TCP flows, control and setting.",
];

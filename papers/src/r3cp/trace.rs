//! The evaluation over a real video: the sizes of its frames in place of the model.

use std::sync::Arc;

use super::{Plan, Results, figures};
use crate::drawing;
use crate::evaluation::Evaluation;
use crate::page::Section;

/// The frames of a video.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The name of its file.
    pub name: String,
    /// Its text: a line for each frame in decoding order, with columns `type`, `bytes` and `dts_ms`.
    pub text: Arc<str>,
}

impl Trace {
    /// The file that stands in for the paper's video, which is not published: the same codec, order of frames, frame rate
    /// and mean rate.
    pub const STAND_IN: &'static str = "sintel_trailer_mpeg1_ibbp12_24fps_480x272.csv";

    /// A remark on the rate of the stand-in.
    fn remark(&self) -> &'static str {
        if self.name != Trace::STAND_IN {
            return "";
        }
        " The video has 246 kb/s from 50 to 60 s, where R-7c expects its mean of 378, and 107 to 390 kb/s over three seconds \
         of its beginning."
    }
}

/// The chapter of a plan whose videos have the frames of a trace: the claims, Table 3, and the parts of the claims.
pub fn chapter(results: &Results, trace: &Trace) -> Vec<Section> {
    let evidence = Plan::evidence(results);
    let titled = |section: Section, title: &str| Section { title: title.into(), ..section };
    let claims = Section {
        text: vec![format!(
            "All runs again with the frames of {} in place of the modeled video. {}. All videos play the same frames, \
             within a second of each other, so that their large pictures meet; the modeled ones differ.{}",
            trace.name,
            evidence.all_verdict_counts(),
            trace.remark()
        )],
        ..titled(evidence.claims(&[], &[]), "Claims over an MPEG-1 trace")
    };
    let table = drawing::table(&figures::table_3(results), "The lab's value is the mean over the seeds.");
    vec![
        claims,
        titled(table, "Table 3 over an MPEG-1 trace"),
        titled(evidence.parts(), "What was measured over an MPEG-1 trace"),
    ]
}

//! Claims about Fig. 9 and Table 3: TCP beside a video, and paths of the Internet.

use super::{Condition, Evaluator, Part, Record, Subject, Wanted, difference};
use crate::figure::Subject as _;
use crate::r3cp::Path;

const TCP: fn(&Record) -> f64 = |record| record.tcp_mbps * 1e3;
const VIDEO: fn(&Record) -> f64 = |record| record.received_kbps;

pub(super) fn tcp_is_not_starved(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let beside = &evaluator.results.plan().beside;
    let mean = |tcp: u32, subject| {
        let condition = Condition::Beside { tcp };
        evaluator.values(condition, subject, move |record| TCP(record) / f64::from(tcp))
    };
    let falls = beside.windows(2).flat_map(|pair| {
        [Subject::R3cpPlus, Subject::NoVideo].map(|subject| {
            let fall = difference(&mean(pair[0], subject), &mean(pair[1], subject));
            let what = format!("a TCP flow, {} - {} flows, {}, kb/s", pair[0], pair[1], subject.name());
            Part::new(what, fall, Wanted::Above(0.0))
        })
    });
    let halves = beside.iter().map(|&tcp| {
        let ratio = mean(tcp, Subject::R3cpPlus).into_iter().zip(mean(tcp, Subject::NoVideo));
        let ratio = ratio.map(|(with, without)| with / without).collect();
        Part::new(format!("{tcp} flows: TCP with / without R3CP+"), ratio, Wanted::Above(0.5))
    });
    falls.chain(halves).collect()
}

pub(super) fn takes_its_need(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let beside = &evaluator.results.plan().beside;
    let (Some(&least), Some(&most)) = (beside.first(), beside.last()) else { return Vec::new() };
    let rate = |tcp| evaluator.values(Condition::Beside { tcp }, Subject::R3cpPlus, VIDEO);
    vec![
        Part::new(format!("{least} flows: received by R3CP+, kb/s"), rate(least), Wanted::Within(330.0, 430.0)),
        Part::new(
            format!("received by R3CP+, {least} - {most} flows, kb/s"),
            difference(&rate(least), &rate(most)),
            Wanted::Above(0.0),
        ),
    ]
}

pub(super) fn tfcc_takes_more(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let parts = evaluator.results.plan().beside.iter().flat_map(|&tcp| {
        let condition = Condition::Beside { tcp };
        let (tfcc, ours) = (Subject::Tfcc, Subject::R3cpPlus);
        [
            evaluator.above(condition, [tfcc, ours], "video, kb/s", VIDEO, Wanted::Above(0.0)),
            evaluator.above(condition, [ours, tfcc], "TCP, kb/s", TCP, Wanted::Above(0.0)),
        ]
    });
    parts.collect()
}

pub(super) fn retransmission_pays(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |path, control| {
        let pair = [control, Subject::NoControl];
        evaluator.above(Condition::Internet(path), pair, "playable", |record| record.playback, Wanted::Above(0.1))
    };
    Path::ALL.into_iter().flat_map(|path| [Subject::R3cpPlus, Subject::R3cp].map(|it| part(path, it))).collect()
}

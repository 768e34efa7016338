//! Claims about Figs. 3 to 6: videos beside videos and TCP.

use super::{Condition, Evaluator, Part, Record, Subject, Wanted};

/// The difference in a share of the frames that counts as none: one frame in fifty.
const ALIKE: f64 = 0.02;

pub(super) fn plays_most(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |condition, rival| {
        let of = |record: &Record| record.playback;
        evaluator.above(condition, [Subject::R3cpPlus, rival], "playable", of, Wanted::Above(-ALIKE))
    };
    evaluator.loads().into_iter().flat_map(|load| Subject::RIVALS.map(|rival| part(load, rival))).collect()
}

pub(super) fn plays_the_references(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |condition: Condition| {
        let values = evaluator.values(condition, Subject::R3cpPlus, |record| record.by_kind[0]);
        Part::new(format!("{condition}: playable I frames, R3CP+"), values, Wanted::Above(0.8))
    };
    evaluator.high_loads().into_iter().map(part).collect()
}

pub(super) fn keeps_the_order_of_kinds(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |condition: Condition, (what, more, less): (&str, usize, usize)| {
        let of = |record: &Record| record.by_kind[more] - record.by_kind[less];
        let values = evaluator.values(condition, Subject::R3cpPlus, of);
        Part::new(format!("{condition}: playable, {what}, R3CP+"), values, Wanted::Above(-ALIKE))
    };
    let kinds = [("I - P", 0, 1), ("P - B", 1, 2)];
    evaluator.loads().into_iter().flat_map(|load| kinds.map(|kind| part(load, kind))).collect()
}

pub(super) fn loses_less(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let pair = [Subject::Tfcc, Subject::R3cpPlus];
    let most = evaluator.values(Condition::Crowded, Subject::Tfcc, |record| record.p_max);
    vec![
        evaluator.above(Condition::Crowded, pair, "mean p_n", |record| record.p_mean, Wanted::Above(0.0)),
        Part::new(format!("{}: greatest p_n, TFCC", Condition::Crowded), most, Wanted::Above(0.2)),
    ]
}

pub(super) fn is_steadier(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let pair = [Subject::Tfcc, Subject::R3cpPlus];
    let close = |record: &Record| record.received_kbps / record.requested_kbps;
    let ratio = evaluator.values(Condition::Crowded, Subject::R3cpPlus, close);
    vec![
        evaluator.above(Condition::Crowded, pair, "variation of rho", |record| record.rate_cv, Wanted::Above(0.0)),
        Part::new(format!("{}: received / requested, R3CP+", Condition::Crowded), ratio, Wanted::Within(0.9, 1.1)),
    ]
}

pub(super) fn breaks_fewest(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |condition, pair| {
        evaluator.above(condition, pair, "broken", |record: &Record| record.broken, Wanted::Above(0.0))
    };
    let rivals = Subject::RIVALS.map(|rival| [rival, Subject::R3cpPlus]);
    let most = [Subject::R3cp, Subject::Tfcc].map(|other| [Subject::NoControl, other]);
    let pairs: Vec<[Subject; 2]> = rivals.into_iter().chain(most).collect();
    evaluator.high_loads().into_iter().flat_map(|load| pairs.iter().map(move |pair| part(load, *pair))).collect()
}

pub(super) fn orphans_fewer(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |condition, control| {
        let pair = [Subject::NoControl, control];
        evaluator.above(condition, pair, "orphan", |record: &Record| record.orphan, Wanted::Above(0.0))
    };
    let controls = [Subject::R3cpPlus, Subject::R3cp, Subject::Tfcc];
    evaluator.high_loads().into_iter().flat_map(|load| controls.map(|control| part(load, control))).collect()
}

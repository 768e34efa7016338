//! Any text of a scenario, a trace or a recording is either accepted or refused with an error of one line.

use std::path::Path as FilePath;

use proptest::prelude::*;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::node::Node;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::recorded::{Columns, Index, Recorded, Recording};
use thalweg_lab::node::trace_link::{Trace, TraceLink};
use thalweg_lab::packet::Packet;
use thalweg_lab::scenario::Scenario;

fn load(name: &str) -> Result<String, String> {
    let file = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(name);
    std::fs::read_to_string(file).map_err(|_| "it is not here".to_owned())
}

/// Words of scenarios, and text that has no place in them.
fn word() -> impl Strategy<Value = String> {
    let words =
        ["kind", "=", "[[forward.element]]", "[reverse]", "seed = -1", "\"wire\"", "1e308", "{", "]", "\n", "\"", "0"];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), r"\PC{0,8}"]
}

/// The last character boundary of `text` up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_is_complained_of_in_one_line(
        text in r"\PC*", cut in any::<[prop::sample::Index; 2]>(), words in prop::collection::vec(word(), 0..4),
    ) {
        let whole = load("emulate-example.toml").expect("it is shipped");
        let [from, to] = cut.map(|cut| cut.index(whole.len() + 1)).map(|at| boundary(&whole, at));
        let spoilt = [&whole[..from.min(to)], &words.join(" "), &whole[from.max(to)..]].concat();
        let short = [&whole[..from], &words.join(" "), &whole[from..]].concat();
        for text in [text, spoilt, short] {
            let mut files = |name: &str| load(name);
            if let Err(error) = Scenario::parse("path.toml", &text, None, &mut files) {
                prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
            }
        }
    }

    #[test]
    fn any_trace_and_any_recording_is_played_or_complained_of_in_one_line(
        trace in r"([0-9]{0,4}\n){0,20}|([0-9]{0,12}\n|\PC{0,8}\n){0,9}",
        rows in r"(([0-9]{0,4}|-?[0-9.e]{0,9}),[0-9]{1,3},[01]\n){0,20}|(\PC{0,9},\PC{0,9},\PC{0,3}\n){0,9}",
        text in r"\PC*",
    ) {
        let titled = format!("sent,delay,lost\n{rows}");
        let columns = Columns { sent: "sent".into(), delay: "delay".into(), lost: Some("lost".into()), least: None };
        let mut nodes: Vec<Box<dyn Node>> = Vec::new();
        let mut complaints = Vec::new();
        for text in [&trace, &text] {
            match Trace::parse(text) {
                Ok(trace) => nodes.push(Box::new(TraceLink::new(trace, Limit::Packets(4)))),
                Err(why) => complaints.push(why),
            }
        }
        for text in [&titled, &text] {
            match Recording::parse(text, &columns) {
                Ok(recording) => {
                    for index in [Index::Packet, Index::Time] {
                        nodes.push(Box::new(Recorded::new(recording.clone(), index, true)));
                    }
                }
                Err(why) => complaints.push(why),
            }
        }
        for node in &mut nodes {
            let mut now = Time::ZERO;
            for packet in 0..20 {
                now += Span::from_millis(37);
                node.accept(now, Packet::length(packet, Bytes(1400)));
                if let Some(next) = node.next() {
                    now = now.max(next);
                    prop_assert!(node.poll(now).is_some());
                }
            }
        }
        for why in complaints {
            prop_assert_eq!(why.lines().count(), 1, "{}", why);
        }
    }
}

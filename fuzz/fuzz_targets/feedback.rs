//! Congestion control feedback: a parsed report can be written and parsed again, with the same contents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::feedback::{Builder, FORMAT, Feedback, KIND};
use thalweg_core::wire::rtcp::{Compound, Frame, Writer};

fuzz_target!(|body: &[u8]| {
    let Ok(feedback) = Feedback::parse(Frame { count: FORMAT, kind: KIND, body }) else { return };
    let mut buf = vec![0; body.len() + Writer::HEADER_LEN];
    let mut writer = Writer::new(&mut buf);
    let mut builder = Builder::new(&mut writer, feedback.sender_ssrc).expect("there is room");
    for stream in feedback.streams() {
        let arrivals = stream.reports().map(|(_, arrival)| arrival);
        builder.stream(stream.ssrc, stream.begin, arrivals).expect("there is room");
    }
    builder.finish(feedback.timestamp);
    let compound = Compound::parse(&buf).expect("own packets can be read");
    let again = Feedback::parse(compound.frames().next().expect("there is one")).expect("own feedback can be read");
    let reports = |feedback: Feedback<'_>| -> Vec<_> {
        feedback.streams().flat_map(|stream| stream.reports().map(move |report| (stream.ssrc, report))).collect()
    };
    assert_eq!(reports(again), reports(feedback));
});

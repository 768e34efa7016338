//! RTCP datagrams: a parsed packet can be written and parsed again, with the same contents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::rtcp::{Compound, Emit, Frame, Packet, Writer};

fuzz_target!(|data: &[u8]| {
    let Ok(compound) = Compound::parse(data) else { return };
    compound.is_reduced();
    compound.frames().for_each(read);
});

fn read(frame: Frame<'_>) {
    match Packet::parse(frame) {
        Ok(Packet::Report(report)) => there_and_back(&report, Packet::Report(report)),
        Ok(Packet::Goodbye(goodbye)) => there_and_back(&goodbye, Packet::Goodbye(goodbye)),
        Ok(Packet::App(app)) => there_and_back(&app, Packet::App(app)),
        Ok(Packet::Extended(extended)) => {
            there_and_back(&extended, Packet::Extended(extended));
            extended.post_repair_losses().count();
        }
        Ok(Packet::Descriptions(all)) => assert_eq!(all.sources().count(), frame.count.into()),
        Ok(Packet::Nack(nack)) => nack.sequences().for_each(drop),
        Ok(Packet::Feedback(feedback)) => feedback.streams().for_each(|stream| stream.reports().for_each(drop)),
        Ok(Packet::Other(_)) | Err(_) => {}
    }
}

fn there_and_back(packet: &impl Emit, expected: Packet<'_>) {
    let mut buf = vec![0; packet.body_len() + Writer::HEADER_LEN];
    Writer::new(&mut buf).push(packet).expect("there is room");
    let compound = Compound::parse(&buf).expect("own packets can be read");
    assert_eq!(compound.frames().map(Packet::parse).collect::<Vec<_>>(), [Ok(expected)]);
}

//! The bytes of an RTSP connection: messages are within their bounds and can be written and parsed again, in whatever
//! pieces they arrive; the headers `Transport` and `R3CP` likewise.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_rtsp::decoder::{Decoder, Item};
use thalweg_rtsp::r3cp::Play;
use thalweg_rtsp::transport::Transport;

/// The items of bytes that arrive in pieces of at most `piece`, up to the first that is none.
fn items(bytes: &[u8], piece: usize) -> Vec<Item> {
    let mut decoder = Decoder::default();
    let mut items = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.push(piece);
        while let Some(item) = decoder.poll() {
            items.push(item);
            if matches!(items.last(), Some(Item::Fault(..))) {
                return items;
            }
        }
    }
    items
}

fuzz_target!(|data: &[u8]| {
    let whole = items(data, 4096);
    assert_eq!(whole, items(data, 7));
    for item in &whole {
        let (bytes, transport, r3cp) = match item {
            Item::Request(request) => (request.to_bytes(), request.field("Transport"), request.field("R3CP")),
            Item::Response(response) => (response.to_bytes(), response.field("Transport"), response.field("R3CP")),
            Item::Packet { .. } | Item::Fault(..) => continue,
        };
        assert_eq!(items(&bytes, 4096).len(), 1);
        for transport in transport.into_iter().flat_map(Transport::list).flatten() {
            let again = Transport::parse(&transport.to_string()).expect("a transport");
            assert_eq!(again.to_string(), transport.to_string());
        }
        if let Some(play) = r3cp.and_then(|header| Play::parse(header).ok()) {
            assert!(Play::parse(&play.to_string()).is_ok_and(|again| again.key == play.key) || play.mu < 0.0005);
        }
    }
});

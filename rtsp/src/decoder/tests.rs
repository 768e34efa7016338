use proptest::prelude::*;

use super::*;

fn items(pieces: &[&[u8]]) -> Vec<Item> {
    let mut decoder = Decoder::default();
    let mut items = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(item) = decoder.poll() {
            let is_fault = matches!(item, Item::Fault(..));
            items.push(item);
            if is_fault {
                return items;
            }
        }
    }
    items
}

/// Requests, a packet and the response of RFC 2326 §10.2, whose content is shortened.
const TALK: &[u8] = b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n$\x01\x00\x03abc\r\nGET_PARAMETER rtsp://a/b RTSP/1.0\r\n\
    CSeq: 2\r\nContent-Length: 4\r\n\r\nxyz\nPLAY rtsp://a/b RTSP/1.0\r\nCSeq:3\r\n\r\n\
    RTSP/1.0 200 OK\r\nCSeq: 312\r\nContent-Type: application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n";

#[test]
fn messages_and_packets_are_separated() {
    let items = items(&[TALK]);
    let [
        Item::Request(options),
        Item::Packet { channel: 1, bytes },
        Item::Request(get),
        Item::Request(play),
        Item::Response(response),
    ] = &items[..]
    else {
        panic!("{items:?}")
    };
    assert_eq!((&options.method, options.field("cseq")), (&Method::Options, Some("1")));
    assert_eq!(bytes, b"abc");
    assert_eq!((&get.method, &get.body[..]), (&Method::GetParameter, &b"xyz\n"[..]));
    assert_eq!((play.url.as_str(), play.field("CSeq")), ("rtsp://a/b", Some("3")));
    assert_eq!((response.status, &response.body[..]), (Status(200), &b"v=0\r\n"[..]));
}

#[test]
fn bytes_that_are_no_message_get_a_status() {
    let status = |text: &str| match &items(&[text.as_bytes()])[..] {
        [Item::Fault(Status(status), _)] => *status,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(status("PLAY rtsp://a\r\n\r\n"), 400);
    assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status("\0$PLAY rtsp://a RTSP/1.0\r\n\r\n"), 400);
    assert_eq!(status("PLAY rtsp://a\0 RTSP/1.0\r\n\r\n"), 400);
    assert_eq!(status("HTTP/1.1 400 Bad Request\r\n\r\n"), 400);
    assert_eq!(status("PLAY rtsp://a RTSP/2.0\r\nCSeq: 1\r\n\r\n"), 505);
    assert_eq!(status("RTSP/2.0 200 OK\r\nCSeq: 1\r\n\r\n"), 505);
    assert_eq!(status("RTSP/1.0 20 OK\r\n\r\n"), 400);
    assert_eq!(status("RTSP/1.0 099 OK\r\n\r\n"), 400);
    assert_eq!(status("PLAY rtsp://a RTSP/1.0\r\nno colon\r\n\r\n"), 400);
    assert_eq!(status("PLAY rtsp://a RTSP/1.0\r\nContent-Length: x\r\n\r\n"), 400);
    assert_eq!(status("PLAY rtsp://a RTSP/1.0\r\nContent-Length: 99999\r\n\r\n"), 413);
    assert_eq!(status(&format!("PLAY rtsp://a RTSP/1.0\r\n{}\r\n", "A: b\r\n".repeat(65))), 400);
    assert_eq!(status(&"x".repeat(17 << 10)), 413);
}

#[test]
fn line_breaks_in_a_value_do_not_begin_a_field() {
    let response =
        Response::new(200).with("Session", "1\r\nLocation: rtsp://b").with_body("text/plain", "x".to_owned());
    let expected = "RTSP/1.0 200 OK\r\nSession: 1Location: rtsp://b\r\nContent-Type: text/plain\r\n\
        Content-Length: 1\r\n\r\nx";
    assert_eq!(String::from_utf8(response.to_bytes()).as_deref(), Ok(expected));
}

proptest! {
    #[test]
    fn items_do_not_depend_on_the_cuts(cut in 0..TALK.len()) {
        prop_assert_eq!(items(&[&TALK[..cut], &TALK[cut..]]), items(&[TALK]));
    }

    #[test]
    fn arbitrary_bytes_are_parsed_or_refused(bytes: Vec<u8>) {
        items(&[&bytes, b"\r\n\r\n"]);
    }

    #[test]
    fn written_messages_are_parsed_as_they_were(
        method in "[A-Z_]{1,12}", url in "[!-~]{1,40}", status in 100u16..1000, body: Vec<u8>,
        fields in prop::collection::vec(("X-[A-Za-z-]{1,12}", "([!-~]([ -~]{0,20}[!-~])?)?"), 0..8),
    ) {
        let mut request = Request { body: body.clone(), ..Request::new(Method::of(&method), &url) };
        let mut response = Response { body, ..Response::new(status) };
        for (name, value) in fields {
            request = request.with(&name, &value);
            response = response.with(&name, &value);
        }
        // The content has a field of its own.
        let found = items(&[&request.to_bytes(), &response.to_bytes()]);
        let [Item::Request(read), Item::Response(answer)] = &found[..] else { panic!("{found:?}") };
        prop_assert_eq!((&read.method, &read.url, &read.body), (&request.method, &request.url, &request.body));
        prop_assert_eq!((answer.status, &answer.body), (response.status, &response.body));
        prop_assert_eq!(read.to_bytes(), request.to_bytes());
        prop_assert_eq!(answer.to_bytes(), response.to_bytes());
    }
}

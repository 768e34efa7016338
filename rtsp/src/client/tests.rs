use proptest::prelude::*;

use super::*;
use crate::message::Status;

const START: Time = Time::ZERO;

/// The description of RFC 2326 §14.2, whose tracks are those of a file on the server.
const DESCRIPTION: &str = "v=0\r\no=- 2890844256 2890842807 IN IP4 172.16.2.93\r\ns=RTSP Session\r\nt=0 0\r\n\
    a=control:rtsp://foo/twister\r\nm=audio 0 RTP/AVP 14\r\na=control:audio\r\nm=video 0 RTP/AVP 32\r\na=control:video\r\n";

fn client() -> Client {
    Client::new(START, "rtsp://foo/twister".parse().expect("a URL"), "test")
}

/// The request that the client sends: its first line, and its fields in one text.
fn request(client: &mut Client) -> Request {
    let bytes = client.poll_transmit().expect("a request");
    let mut decoder = Decoder::default();
    decoder.push(&bytes);
    let (Some(Item::Request(request)), None) = (decoder.poll(), decoder.poll()) else { panic!("{bytes:?}") };
    request
}

/// The requests that the client sends together.
fn requests(client: &mut Client) -> Vec<Request> {
    let mut decoder = Decoder::default();
    decoder.push(&client.poll_transmit().expect("requests"));
    let request = |item| if let Item::Request(request) = item { request } else { panic!("{item:?}") };
    std::iter::from_fn(|| decoder.poll()).map(request).collect()
}

/// Answers the request in flight.
fn answer(client: &mut Client, now: Time, response: Response) {
    let sequence = request(client).field("CSeq").expect("a number").to_owned();
    client.handle_bytes(now, &response.with("CSeq", sequence).to_bytes());
}

fn describe(client: &mut Client, base: &str) {
    let response = Response::new(200).with("Content-Base", base).with_body("application/sdp", DESCRIPTION.to_owned());
    answer(client, START, response);
    assert_eq!(client.poll_event(), Some(Event::Described));
}

/// A client that plays both tracks within the connection.
fn playing() -> Client {
    let mut client = client();
    describe(&mut client, "rtsp://foo/twister/");
    client.set_up(START, &[0, 1], Offer::Interleaved);
    for channels in ["0-1", "2-3"] {
        let transport = format!("RTP/AVP/TCP;unicast;interleaved={channels}");
        answer(
            &mut client,
            START,
            Response::new(200).with("Session", "12345678;timeout=60").with("Transport", transport),
        );
    }
    assert_eq!(client.poll_event(), Some(Event::Ready));
    client.play(START, None);
    answer(&mut client, START, Response::new(200).with("Range", "npt=0-108"));
    assert!(matches!(client.poll_event(), Some(Event::Playing(_))));
    client
}

#[test]
fn requests_are_those_of_rfc_2326() {
    let mut client = client();
    let first = client.outgoing.clone();
    let expected =
        "DESCRIBE rtsp://foo/twister RTSP/1.0\r\nAccept: application/sdp\r\nCSeq: 1\r\nUser-Agent: test\r\n\r\n";
    assert_eq!(String::from_utf8(first).as_deref(), Ok(expected));
    describe(&mut client, "rtsp://foo/twister/");
    client.set_up(START, &[0, 1], Offer::Interleaved);

    let bytes = client.outgoing.clone();
    let expected = "SETUP rtsp://foo/twister/audio RTSP/1.0\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\
        CSeq: 2\r\nUser-Agent: test\r\n\r\n";
    assert_eq!(String::from_utf8(bytes).as_deref(), Ok(expected), "one request at a time");
    let chosen = Response::new(200).with("Transport", "RTP/AVP/TCP;interleaved=0-1").with("Session", "12345678");
    answer(&mut client, START, chosen.clone());
    let second = client.outgoing.clone();
    let expected = "SETUP rtsp://foo/twister/video RTSP/1.0\r\nTransport: RTP/AVP/TCP;unicast;interleaved=2-3\r\n\
        Session: 12345678\r\nCSeq: 3\r\nUser-Agent: test\r\n\r\n";
    assert_eq!(String::from_utf8(second).as_deref(), Ok(expected));
    answer(&mut client, START, chosen);

    client.play(START, Some(Span::from_secs(10)));
    let play = client.outgoing.clone();
    let expected = "PLAY rtsp://foo/twister RTSP/1.0\r\nRange: npt=10.000-\r\nSession: 12345678\r\nCSeq: 4\r\n\
        User-Agent: test\r\n\r\n";
    assert_eq!(String::from_utf8(play).as_deref(), Ok(expected), "the URL of the whole is that of the description");
    let info = "url=rtsp://foo/twister/video;seq=9810092;rtptime=3450012";
    answer(&mut client, START, Response::new(200).with("Range", "npt=10-108").with("RTP-Info", info));
    assert_eq!(client.poll_event(), Some(Event::Ready));
    let Some(Event::Playing(Playing { range, r3cp: None, info })) = client.poll_event() else { panic!("no PLAY") };
    assert_eq!((range.start, range.end), (Some(Span::from_secs(10)), Some(Span::from_secs(108))));
    assert_eq!((info[0].timestamp, info[1].timestamp), (None, Some(3_450_012)));
}

#[test]
fn seek_of_a_plain_session_pauses_first() {
    let mut client = playing();
    client.play(START, Some(Span::from_secs(5)));
    client.play(START, Some(Span::from_secs(15)));
    let pause = request(&mut client);
    assert_eq!(pause.method, Method::Pause);
    client.handle_bytes(START, &Response::new(200).with("CSeq", pause.field("CSeq").unwrap()).to_bytes());
    // The seek that was overtaken is left out.
    let play = request(&mut client);
    assert_eq!((&play.method, play.field("Range")), (&Method::Play, Some("npt=15.000-")));
}

#[test]
fn keep_alive_is_sent_at_half_of_the_timeout() {
    let mut client = playing();
    let at = START + Span::from_secs(30);
    assert_eq!(client.poll_timeout(), Some(at));
    client.handle_timeout(at);
    let sent = request(&mut client);
    assert_eq!((&sent.method, sent.field("Session")), (&Method::GetParameter, Some("12345678")));
    client.handle_bytes(at, &Response::new(501).with("CSeq", sent.field("CSeq").unwrap()).to_bytes());
    assert_eq!(client.poll_event(), None);
    client.handle_timeout(at + Span::from_secs(30));
    assert_eq!(request(&mut client).method, Method::Options, "for servers without GET_PARAMETER");
}

#[test]
fn failures_have_a_line_of_their_own() {
    let failure = |response: Response| {
        let mut client = client();
        answer(&mut client, START, response);
        match client.poll_event() {
            Some(Event::Failed(failure)) => failure.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        failure(Response::new(302).with("Location", "rtsp://b/c")),
        "the server redirects to rtsp://b/c; use that URL"
    );
    assert_eq!(failure(Response::new(401)), "the server asks for a user and a password, which is not implemented");
    assert_eq!(failure(Response::new(200)), "the server sent an empty description");
    let html = Response::new(200).with_body("text/html", "<html>".to_owned());
    assert_eq!(failure(html), "malformed response: SDP: line 1: v=0 is missing");

    let mut client = client();
    client.handle_timeout(START + PATIENCE);
    let silent = Failure::Silent(Method::Describe);
    assert!(silent.to_string().contains("no response to DESCRIBE within 10 s; check the port"), "{silent}");
    let silent = Event::Failed(silent);
    assert_eq!((client.poll_event(), client.poll_timeout()), (Some(silent), None));
}

#[test]
fn refusal_has_the_reason_of_the_server() {
    let mut client = client();
    answer(&mut client, START, Response::refusal(404, "no such file"));
    let refused =
        Event::Refused { method: Method::Describe, status: Status(404), why: Some("no such file".to_owned()) };
    assert_eq!(client.poll_event(), Some(refused));
}

#[test]
fn session_of_r3cp_has_one_port_and_a_key_for_each_play() {
    let mut client = client();
    describe(&mut client, "rtsp://foo/twister/");
    client.set_up(START, &[1], Offer::R3cp { port: 5000 });
    let transport = "RTP/AVP;unicast;client_port=5000-5000;RTCP-mux";
    let setup = request(&mut client);
    assert_eq!((setup.field("R3CP"), setup.field("Transport")), (Some("version=1"), Some(transport)));
    let chosen = Response::new(200).with("Session", "a").with("CSeq", 2);
    let chosen = chosen.with("Transport", format!("{transport};server_port=8554-8554")).with("R3CP", "version=1");
    client.handle_bytes(START, &chosen.to_bytes());
    assert_eq!(client.poll_event(), Some(Event::Ready));
    assert_eq!(client.tracks()[0].1.server_port, Some((8554, 8554)));
    client.play(START, None);
    let header = "version=1;key=0123456789abcdef;first=0;decode=0;display=80000;mu=61.250;size=1180";
    answer(&mut client, START, Response::new(200).with("R3CP", header));
    let Some(Event::Playing(Playing { r3cp: Some(play), .. })) = client.poll_event() else { panic!("no PLAY") };
    assert_eq!((play.key, play.size), (0x0123_4567_89ab_cdef, 1180));
    client.play(START, Some(Span::from_secs(3)));
    assert_eq!(request(&mut client).method, Method::Play, "without PAUSE");
}

/// A client under R3CP+ whose first SETUP of two is answered, with its session.
fn with_session() -> Client {
    let mut client = client();
    describe(&mut client, "rtsp://foo/twister/");
    client.set_up(START, &[0, 1], Offer::R3cp { port: 5000 });
    assert_eq!(client.events.len(), 0);
    answer(&mut client, START, set_up());
    assert_eq!(client.poll_event(), Some(Event::Ready));
    client
}

/// The response to a SETUP under R3CP+.
fn set_up() -> Response {
    let transport = "RTP/AVP;unicast;client_port=5000-5000;server_port=8554-8554;RTCP-mux";
    Response::new(200).with("Session", "a").with("Transport", transport).with("R3CP", "version=1")
}

/// The response to a PLAY under R3CP+.
fn plays() -> Response {
    Response::new(200).with("R3CP", "version=1;key=0123456789abcdef;first=0;decode=0;display=0;mu=61.250;size=1180")
}

/// RFC 2326 §9.1: a client may send requests without waiting for each response, which arrive in the same order.
#[test]
fn requests_after_the_first_setup_of_r3cp_leave_together() {
    let mut client = with_session();
    client.play(START, None);
    let sent = requests(&mut client);
    let lines: Vec<_> = sent.iter().map(|request| (&request.method, request.field("Session"))).collect();
    assert_eq!(lines, [(&Method::Setup, Some("a")), (&Method::Play, Some("a"))]);
    let [setup, play] = [0, 1].map(|nth: usize| sent[nth].field("CSeq").expect("a number").to_owned());
    // A seek waits for the PLAY: of several in a row the last one leaves.
    client.play(START, Some(Span::from_secs(1)));
    client.play(START, Some(Span::from_secs(2)));
    assert_eq!(client.poll_transmit(), None);
    client.handle_bytes(START, &set_up().with("CSeq", setup).to_bytes());
    assert_eq!((client.tracks().len(), client.poll_event(), client.poll_transmit()), (2, None, None));
    client.handle_bytes(START, &plays().with("CSeq", play).to_bytes());
    assert!(matches!(client.poll_event(), Some(Event::Playing(_))));
    assert_eq!(request(&mut client).field("Range"), Some("npt=2.000-"));
}

#[test]
fn response_out_of_order_answers_nothing() {
    let mut client = with_session();
    client.play(START, None);
    let play = requests(&mut client).pop().expect("a PLAY").field("CSeq").expect("a number").to_owned();
    client.handle_bytes(START, &plays().with("CSeq", play).to_bytes());
    assert_eq!(client.poll_event(), None);
    client.handle_timeout(START + PATIENCE);
    assert_eq!(client.poll_event(), Some(Event::Failed(Failure::Silent(Method::Setup))));
}

#[test]
fn refusal_of_a_later_setup_is_seen_before_the_response_to_play() {
    let mut client = with_session();
    client.play(START, None);
    let setup = requests(&mut client)[0].field("CSeq").expect("a number").to_owned();
    client.handle_bytes(START, &Response::refusal(461, "no").with("CSeq", setup).to_bytes());
    let Some(Event::Refused { method, status, .. }) = client.poll_event() else { panic!("no refusal") };
    assert_eq!((method, status), (Method::Setup, Status(461)));
}

#[test]
fn packets_and_requests_of_the_server_are_taken() {
    let mut client = playing();
    client.handle_bytes(START, b"$\x02\x00\x01xSET_PARAMETER rtsp://foo/twister RTSP/1.0\r\nCSeq: 7\r\n\r\n");
    assert_eq!(client.poll_event(), Some(Event::Packet { channel: 2, bytes: b"x".to_vec() }));
    assert_eq!(client.poll_transmit(), Some(b"RTSP/1.0 501 Not Implemented\r\nCSeq: 7\r\n\r\n".to_vec()));
    client.tear_down(START);
    assert_eq!(request(&mut client).method, Method::Teardown);
}

proptest! {
    #[test]
    fn arbitrary_responses_do_not_panic(
        status in 100u16..600, fields in prop::collection::vec(
            (prop::sample::select(vec!["CSeq", "Session", "Transport", "R3CP", "Range", "RTP-Info", "Content-Base"]), "\\PC{0,40}"),
            0..6,
        ), body in "(v=0\r\n)?\\PC{0,60}",
    ) {
        let mut client = client();
        describe(&mut client, "rtsp://foo/twister/");
        client.set_up(START, &[0], Offer::Interleaved);
        for sequence in 1..5 {
            let mut response = Response::new(status).with_body("text/plain", body.clone()).with("CSeq", sequence);
            for (name, value) in &fields {
                response = response.with(name, value);
            }
            client.handle_bytes(START, &response.to_bytes());
            client.play(START, None);
        }
        while client.poll_event().is_some() {}
    }
}

#[test]
fn peer_of_another_protocol_is_known_by_its_first_bytes() {
    let failure = |bytes: &[u8]| {
        let mut client = client();
        client.handle_bytes(START, bytes);
        match client.poll_event() {
            Some(Event::Failed(failure)) => Some(failure.to_string()),
            None => None,
            other => panic!("{other:?}"),
        }
    };
    let of = |protocol| Some(format!("foo:554 {protocol}; use the port of serve --rtsp"));
    // RFC 9112 §4, RFC 4253 §4.2, RFC 5321 §4.2, RFC 8446 §5.1 and §6.
    assert_eq!(failure(b"HTTP/1.1 400 Bad Request\r\n\r\n"), of("speaks HTTP, not RTSP"));
    assert_eq!(failure(b"SSH-2.0-OpenSSH_9.6\r\n"), of("speaks SSH, not RTSP"));
    assert_eq!(failure(b"220 mail.example ESMTP\r\n"), of("speaks SMTP or FTP, not RTSP"));
    assert_eq!(failure(&[21, 3, 3, 0, 2, 2, 10]), of("speaks TLS, not RTSP"));
    assert_eq!([failure(b"\0"), failure(b"* OK IMAP4rev1")], [of("does not speak RTSP"), of("does not speak RTSP")]);
    for undecided in ["R", "RTSP/", "HTTP", "SSH", "22"] {
        assert_eq!(failure(undecided.as_bytes()), None, "{undecided}");
    }
}

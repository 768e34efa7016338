//! The bytes of a client: requests, and interleaved packets between them (RFC 2326 §10.12).
//!
//! | offset | field of an interleaved packet |
//! |---|---|
//! | 0 | `$` |
//! | 1 | channel |
//! | 2 | length (16 bits) |
//! | 4 | an RTP or RTCP packet |

use super::message::{Method, Request, Status};

/// Limit in bytes on the head of a request.
const MAX_HEAD: usize = 16 << 10;
/// Limit in bytes on the content of a request, which no method needs.
const MAX_BODY: usize = 16 << 10;
/// Limit on the fields of a request.
const MAX_FIELDS: usize = 64;

/// The bytes of a client that are not parsed yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    /// Bytes of a request's content that are still to be skipped.
    skip: usize,
}

/// A unit that a client sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    Request(Request),
    /// An interleaved packet.
    Packet {
        channel: u8,
        bytes: Vec<u8>,
    },
    /// Bytes that are no request: they get this status and the connection ends, since its next request cannot be found.
    Fault(Status, &'static str),
}

impl Decoder {
    /// Adds received bytes. The caller takes all items before more.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next item, if it has arrived whole.
    pub(crate) fn poll(&mut self) -> Option<Item> {
        let skipped = self.skip.min(self.bytes.len());
        self.bytes.drain(..skipped);
        self.skip -= skipped;
        // Empty lines between requests are ignored, as in HTTP (RFC 9112 §2.2).
        let empty = self.bytes.iter().take_while(|&&byte| byte == b'\r' || byte == b'\n').count();
        self.bytes.drain(..empty);
        match self.bytes.first()? {
            b'$' => self.packet(),
            _ => self.request(),
        }
    }

    fn packet(&mut self) -> Option<Item> {
        let &[_, channel, l0, l1] = self.bytes.first_chunk()?;
        let end = 4 + usize::from(u16::from_be_bytes([l0, l1]));
        let bytes = self.bytes.get(4..end)?.to_vec();
        self.bytes.drain(..end);
        Some(Item::Packet { channel, bytes })
    }

    fn request(&mut self) -> Option<Item> {
        let Some(end) = self.bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4) else {
            return (self.bytes.len() > MAX_HEAD).then_some(Item::Fault(Status(413), "the request is too long"));
        };
        if end > MAX_HEAD {
            return Some(Item::Fault(Status(413), "the request is too long"));
        }
        let head: Vec<u8> = self.bytes.drain(..end).collect();
        match parse(&head) {
            Ok((request, body)) => {
                self.skip = body;
                Some(Item::Request(request))
            }
            Err((status, why)) => Some(Item::Fault(Status(status), why)),
        }
    }
}

/// The request of a head, and the length of its content.
fn parse(head: &[u8]) -> Result<(Request, usize), (u16, &'static str)> {
    let bad = |why| (400, why);
    let end = head.windows(2).position(|window| window == b"\r\n").ok_or(bad("no request"))?;
    let line = str::from_utf8(&head[..end]).map_err(|_| bad("the request is not UTF-8"))?;
    let mut words = line.split(' ');
    let (Some(method), Some(url), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad("the first line is not METHOD URL RTSP/1.0"));
    };
    match version {
        "RTSP/1.0" => {}
        version if version.starts_with("RTSP/") => return Err((505, "the version is not RTSP/1.0")),
        _ => return Err(bad("the first line is not METHOD URL RTSP/1.0")),
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let headers = match httparse::parse_headers(&head[end + 2..], &mut headers) {
        Ok(httparse::Status::Complete((_, headers))) => headers,
        Err(httparse::Error::TooManyHeaders) => return Err(bad("too many fields")),
        Ok(httparse::Status::Partial) | Err(_) => return Err(bad("a field is malformed")),
    };
    let mut fields = Vec::with_capacity(headers.len());
    for header in headers {
        let value = str::from_utf8(header.value).map_err(|_| bad("a field is not UTF-8"))?;
        fields.push((header.name.to_owned(), value.trim().to_owned()));
    }
    let request = Request { method: Method::of(method), url: url.to_owned(), fields, has_body: false };
    let body = request.field("Content-Length").map_or(Ok(0), str::parse);
    let body: usize = body.map_err(|_| bad("Content-Length is not a number"))?;
    if body > MAX_BODY {
        return Err((413, "the content is too long"));
    }
    Ok((Request { has_body: body > 0, ..request }, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    const TALK: &[u8] =
        b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n$\x01\x00\x03abc\r\nGET_PARAMETER rtsp://a/b RTSP/1.0\r\n\
        CSeq: 2\r\nContent-Length: 4\r\n\r\nxyz\nPLAY rtsp://a/b RTSP/1.0\r\nCSeq:3\r\n\r\n";

    #[test]
    fn requests_and_packets_are_separated() {
        let items = items(&[TALK]);
        let [Item::Request(options), Item::Packet { channel: 1, bytes }, Item::Request(get), Item::Request(play)] =
            &items[..]
        else {
            panic!("{items:?}")
        };
        assert_eq!((options.method, options.field("cseq")), (Method::Options, Some("1")));
        assert_eq!(bytes, b"abc");
        assert!(get.has_body && get.method == Method::GetParameter);
        assert_eq!((play.url.as_str(), play.field("CSeq")), ("rtsp://a/b", Some("3")));
    }

    #[test]
    fn what_is_no_request_gets_a_status() {
        let status = |text: &str| match &items(&[text.as_bytes()])[..] {
            [Item::Fault(Status(status), _)] => *status,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(status("PLAY rtsp://a\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("PLAY rtsp://a RTSP/2.0\r\nCSeq: 1\r\n\r\n"), 505);
        assert_eq!(status("PLAY rtsp://a RTSP/1.0\r\nno colon\r\n\r\n"), 400);
        assert_eq!(status("PLAY rtsp://a RTSP/1.0\r\nContent-Length: x\r\n\r\n"), 400);
        assert_eq!(status("PLAY rtsp://a RTSP/1.0\r\nContent-Length: 99999\r\n\r\n"), 413);
        assert_eq!(status(&format!("PLAY rtsp://a RTSP/1.0\r\n{}\r\n", "A: b\r\n".repeat(65))), 400);
        assert_eq!(status(&"x".repeat(17 << 10)), 413);
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
    }
}

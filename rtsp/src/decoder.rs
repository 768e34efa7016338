//! Received bytes: requests, responses, and interleaved packets between them (RFC 2326 §10.12).
//!
//! | offset | field of an interleaved packet |
//! |---|---|
//! | 0 | `$` |
//! | 1 | channel |
//! | 2 | length (16 bits) |
//! | 4 | an RTP or RTCP packet |

#[cfg(test)]
mod tests;

use crate::message::{Fields, Method, Request, Response, Status};

/// Limit in bytes on the head of a message.
const MAX_HEAD: usize = 16 << 10;
/// Limit in bytes on the content of a message: a description of a few tracks has some 2 kB.
const MAX_BODY: usize = 64 << 10;
/// Limit on the fields of a message.
const MAX_FIELDS: usize = 64;

/// The bytes of a peer that are not parsed yet: at most one message or packet after [`Decoder::poll`] has returned none.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// The bytes before this place are parsed.
    at: usize,
    /// A message whose content is incomplete, and the length of its content.
    begun: Option<(Item, usize)>,
}

/// A unit that a peer sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A request.
    Request(Request),
    /// A response.
    Response(Response),
    /// An interleaved packet.
    Packet {
        /// The channel.
        channel: u8,
        /// The RTP or RTCP packet.
        bytes: Vec<u8>,
    },
    /// Bytes that are no message. A server answers with this status and ends the connection, since the next message cannot
    /// be found.
    Fault(Status, &'static str),
}

/// The status and the reason of bytes that are no message.
type Fault = (u16, &'static str);

impl Decoder {
    /// Adds received bytes. The caller takes all items before more.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.at));
        self.bytes.extend_from_slice(bytes);
    }

    /// The next item, if it has arrived whole. No item follows [`Item::Fault`].
    pub fn poll(&mut self) -> Option<Item> {
        if self.begun.is_none() {
            // Empty lines between messages are ignored, as in HTTP (RFC 9112 §2.2).
            self.at += self.rest().iter().take_while(|&&byte| byte == b'\r' || byte == b'\n').count();
            match self.rest().first()? {
                b'$' => return self.packet(),
                _ => match self.head().transpose()? {
                    Ok(head) => self.begun = Some(head),
                    Err((status, why)) => return Some(Item::Fault(Status(status), why)),
                },
            }
        }
        let (_, len) = self.begun.as_ref()?;
        let content = self.rest().get(..*len)?.to_vec();
        self.at += content.len();
        let (mut item, _) = self.begun.take()?;
        if let Item::Request(Request { body, .. }) | Item::Response(Response { body, .. }) = &mut item {
            *body = content;
        }
        Some(item)
    }

    /// The bytes that are not parsed yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn packet(&mut self) -> Option<Item> {
        let &[_, channel, l0, l1] = self.rest().first_chunk()?;
        let end = 4 + usize::from(u16::from_be_bytes([l0, l1]));
        let bytes = self.rest().get(4..end)?.to_vec();
        self.at += end;
        Some(Item::Packet { channel, bytes })
    }

    /// The next message without its content, and the length of that, once its head has arrived whole.
    fn head(&mut self) -> Result<Option<(Item, usize)>, Fault> {
        let end = self.rest().windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        if end.unwrap_or(self.rest().len()) > MAX_HEAD {
            return Err((413, "the header is too long"));
        }
        let Some(end) = end else { return Ok(None) };
        let head = &self.bytes[self.at..self.at + end];
        self.at += end;
        parse(head).map(Some)
    }
}

/// The message of a head, and the length of its content.
fn parse(head: &[u8]) -> Result<(Item, usize), Fault> {
    let bad = |why| (400, why);
    let end = head.windows(2).position(|window| window == b"\r\n").ok_or(bad("no message"))?;
    let line = str::from_utf8(&head[..end]).map_err(|_| bad("the first line is not UTF-8"))?;
    let fields = fields(&head[end + 2..]).map_err(bad)?;
    let len = fields.get("Content-Length").map_or(Ok(0), str::parse);
    let len: usize = len.map_err(|_| bad("Content-Length is not a number"))?;
    if len > MAX_BODY {
        return Err((413, "the content is too long"));
    }
    let body = Vec::new();
    let item = if line.starts_with("RTSP/") {
        let status = status(line)?;
        Item::Response(Response { status, fields, body })
    } else {
        let (method, url) = request(line)?;
        Item::Request(Request { method, url, fields, body })
    };
    Ok((item, len))
}

/// The method and the URL of a request's first line (RFC 2326 §6.1).
fn request(line: &str) -> Result<(Method, String), Fault> {
    let malformed = (400, "the first line is not METHOD URL RTSP/1.0");
    let mut words = line.split(' ');
    let (Some(method), Some(url), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(malformed);
    };
    // A `$` at the start would be that of an interleaved packet.
    let is_method = !method.is_empty() && method.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let is_url = !url.is_empty() && !url.contains(char::is_control);
    if !is_method || !is_url || !version.starts_with("RTSP/") {
        return Err(malformed);
    }
    check(version)?;
    Ok((Method::of(method), url.to_owned()))
}

/// The status of a response's first line (§7.1). Its reason phrase has no meaning.
fn status(line: &str) -> Result<Status, Fault> {
    let mut words = line.split(' ');
    check(words.next().unwrap_or_default())?;
    let status = words.next().filter(|word| word.len() == 3).and_then(|word| word.parse().ok());
    status.filter(|status| *status >= 100).map(Status).ok_or((400, "the first line is not RTSP/1.0 STATUS REASON"))
}

fn check(version: &str) -> Result<(), Fault> {
    if version == "RTSP/1.0" { Ok(()) } else { Err((505, "the version is not RTSP/1.0")) }
}

/// The fields below the first line.
fn fields(lines: &[u8]) -> Result<Fields, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let headers = match httparse::parse_headers(lines, &mut headers) {
        Ok(httparse::Status::Complete((_, headers))) => headers,
        Err(httparse::Error::TooManyHeaders) => return Err("too many fields"),
        Ok(httparse::Status::Partial) | Err(_) => return Err("a field is malformed"),
    };
    let mut fields = Fields::default();
    for header in headers {
        let value = str::from_utf8(header.value).map_err(|_| "a field is not UTF-8")?;
        fields.push(header.name, value.trim());
    }
    Ok(fields)
}

/// Appends an interleaved packet. A packet that is longer than 65 535 bytes cannot be sent, and is left out.
pub fn interleave(channel: u8, packet: &[u8], to: &mut Vec<u8>) {
    let Ok(len) = u16::try_from(packet.len()) else { return };
    let [l0, l1] = len.to_be_bytes();
    to.extend([b'$', channel, l0, l1]);
    to.extend_from_slice(packet);
}

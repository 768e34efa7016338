//! Requests and responses (RFC 2326 §4 to §7).

use std::fmt::{self, Write};

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The URL, or `*`.
    pub url: String,
    /// The fields of the header.
    pub fields: Fields,
    /// The content.
    pub body: Vec<u8>,
}

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// The status code.
    pub status: Status,
    /// The fields of the header.
    pub fields: Fields,
    /// The content.
    pub body: Vec<u8>,
}

/// A method of RTSP (§10).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// The methods that a server implements.
    Options,
    /// The description of a presentation.
    Describe,
    /// The transport of a track.
    Setup,
    /// Delivery begins, or continues elsewhere.
    Play,
    /// Delivery stops; the session remains.
    Pause,
    /// The session ends.
    Teardown,
    /// The values of parameters; without content, a keep-alive (§10.8).
    GetParameter,
    /// Any other, by its name.
    Other(String),
}

/// The methods by their names.
const METHODS: [(&str, Method); 7] = [
    ("OPTIONS", Method::Options),
    ("DESCRIBE", Method::Describe),
    ("SETUP", Method::Setup),
    ("PLAY", Method::Play),
    ("PAUSE", Method::Pause),
    ("TEARDOWN", Method::Teardown),
    ("GET_PARAMETER", Method::GetParameter),
];

/// A status code (§7.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub u16);

/// The fields of a header, in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// The first field of a name, in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Adds a field behind the others.
    pub fn push(&mut self, name: &str, value: impl fmt::Display) {
        self.0.push((name.to_owned(), value.to_string()));
    }

    /// The header below the first line, and the content. Control characters are left out of values.
    fn write(&self, first: &str, body: &[u8]) -> Vec<u8> {
        let mut text = String::with_capacity(256);
        printable(first, &mut text);
        text += "\r\n";
        for (name, value) in self.0.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("Content-Length")) {
            printable(name, &mut text);
            text += ": ";
            printable(value, &mut text);
            text += "\r\n";
        }
        if !body.is_empty() {
            let _ = write!(text, "Content-Length: {}\r\n", body.len());
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }
}

/// Appends `from` without control characters, which would end a line.
fn printable(from: &str, to: &mut String) {
    to.extend(from.chars().filter(|c| !c.is_control()));
}

impl Request {
    /// A request without fields and content.
    pub fn new(method: Method, url: &str) -> Request {
        Request { method, url: url.to_owned(), fields: Fields::default(), body: Vec::new() }
    }

    /// The first field of a name, in any case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)
    }

    /// The request with one more field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Request {
        self.fields.push(name, value);
        self
    }

    /// The bytes of the request; `Content-Length` is that of its content.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.fields.write(&format!("{} {} RTSP/1.0", self.method, self.url), &self.body)
    }
}

impl Response {
    /// A response without fields and content.
    pub fn new(status: u16) -> Response {
        Response { status: Status(status), fields: Fields::default(), body: Vec::new() }
    }

    /// A refusal with its reason in one line.
    pub fn refusal(status: u16, why: impl fmt::Display) -> Response {
        Response::new(status).with_body("text/plain; charset=utf-8", format!("{why}\n"))
    }

    /// The first field of a name, in any case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)
    }

    /// The response with one more field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Response {
        self.fields.push(name, value);
        self
    }

    /// The response with content of a media type.
    #[must_use]
    pub fn with_body(self, kind: &str, text: String) -> Response {
        Response { body: text.into_bytes(), ..self }.with("Content-Type", kind)
    }

    /// The bytes of the response; `Content-Length` is that of its content.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.fields.write(&format!("RTSP/1.0 {}", self.status), &self.body)
    }
}

impl Method {
    /// The method of a name, which is sensitive to case (§6.1).
    pub fn of(name: &str) -> Method {
        let known = METHODS.into_iter().find(|(other, _)| *other == name);
        known.map_or_else(|| Method::Other(name.to_owned()), |(_, method)| method)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Other(name) => f.write_str(name),
            known => METHODS.iter().find(|(_, method)| method == known).map_or(Ok(()), |(name, _)| f.write_str(name)),
        }
    }
}

impl Status {
    /// True if the request was carried out.
    pub fn is_success(self) -> bool {
        (200..300).contains(&self.0)
    }

    /// The reason phrase of the RFC.
    fn reason(self) -> &'static str {
        match self.0 {
            200 => "OK",
            301 => "Moved Permanently",
            302 => "Moved Temporarily",
            303 => "See Other",
            305 => "Use Proxy",
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            406 => "Not Acceptable",
            408 => "Request Time-out",
            413 => "Request Entity Too Large",
            415 => "Unsupported Media Type",
            451 => "Parameter Not Understood",
            453 => "Not Enough Bandwidth",
            454 => "Session Not Found",
            455 => "Method Not Valid In This State",
            457 => "Invalid Range",
            459 => "Aggregate Operation Not Allowed",
            460 => "Only Aggregate Operation Allowed",
            461 => "Unsupported Transport",
            500 => "Internal Server Error",
            501 => "Not Implemented",
            503 => "Service Unavailable",
            505 => "RTSP Version Not Supported",
            551 => "Option Not Supported",
            _ => "Error",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.reason())
    }
}

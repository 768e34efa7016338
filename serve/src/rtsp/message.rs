//! Requests and responses (RFC 2326 §4 to §7).

use std::fmt::{self, Write};

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    /// The fields of the header in their order.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) has_body: bool,
}

/// A method of RTSP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Options,
    Describe,
    Setup,
    Play,
    Pause,
    Teardown,
    GetParameter,
    /// Any other, which is not implemented.
    Other,
}

/// The methods that are implemented, for the header `Public`.
pub(crate) const METHODS: &str = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER";

/// A status code (RFC 2326 §7.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Status(pub(crate) u16);

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Response {
    pub(crate) status: Status,
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The media type and the content.
    pub(crate) body: Option<(&'static str, String)>,
}

impl Request {
    /// The first field of a name.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Method {
    pub(crate) fn of(name: &str) -> Method {
        match name {
            "OPTIONS" => Method::Options,
            "DESCRIBE" => Method::Describe,
            "SETUP" => Method::Setup,
            "PLAY" => Method::Play,
            "PAUSE" => Method::Pause,
            "TEARDOWN" => Method::Teardown,
            "GET_PARAMETER" => Method::GetParameter,
            _ => Method::Other,
        }
    }
}

impl Status {
    fn reason(self) -> &'static str {
        match self.0 {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            406 => "Not Acceptable",
            413 => "Request Entity Too Large",
            415 => "Unsupported Media Type",
            451 => "Parameter Not Understood",
            454 => "Session Not Found",
            455 => "Method Not Valid In This State",
            457 => "Invalid Range",
            459 => "Aggregate Operation Not Allowed",
            460 => "Only Aggregate Operation Allowed",
            461 => "Unsupported Transport",
            500 => "Internal Server Error",
            501 => "Not Implemented",
            505 => "RTSP Version Not Supported",
            551 => "Option Not Supported",
            _ => "Error",
        }
    }
}

impl Response {
    pub(crate) fn new(status: u16) -> Response {
        Response { status: Status(status), fields: Vec::new(), body: None }
    }

    /// A refusal with its reason in one line.
    pub(crate) fn refusal(status: u16, why: impl fmt::Display) -> Response {
        Response { body: Some(("text/plain; charset=utf-8", format!("{why}\n"))), ..Response::new(status) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl fmt::Display) -> Response {
        self.fields.push((name, value.to_string()));
        self
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RTSP/1.0 {} {}\r\n", self.status.0, self.status.reason())?;
        for (name, value) in &self.fields {
            write!(f, "{name}: ")?;
            value.chars().filter(|c| !c.is_control()).try_for_each(|c| f.write_char(c))?;
            f.write_str("\r\n")?;
        }
        match &self.body {
            Some((kind, body)) => write!(f, "Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
            None => f.write_str("\r\n"),
        }
    }
}

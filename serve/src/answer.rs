//! Answers to requests: status, header fields and content, independent of the version of HTTP and of the transport.

use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use thalweg_core::units::Rate;

use crate::content::{Opened, Piece};

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// Status and header fields, the length among them.
    pub head: Response<()>,
    /// The content that follows.
    pub content: Content,
    /// The name of the video, or of the segment of one, and its playback rate; none if it is not to be played.
    pub video: Option<(String, Rate)>,
    /// True if the file is to be saved: no player waits for its bytes.
    pub download: bool,
}

/// The bytes of an answer.
#[derive(Debug)]
pub enum Content {
    /// Bytes in memory, or none.
    Whole(Bytes),
    /// A range of a file.
    Piece(Piece),
}

impl Answer {
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Answer {
        self.head.headers_mut().insert(name, value);
        self
    }

    /// Adds the fields that identify the content of a file (RFC 9110 §8.8).
    pub(crate) fn of(self, file: &Opened) -> Answer {
        let answer = self
            .with(header::ETAG, text(&file.tag()))
            .with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))
            // A replaced video is noticed at once; revalidation of an unchanged one takes a few bytes.
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        match file.modified() {
            Ok(time) => answer.with(header::LAST_MODIFIED, text(&httpdate::fmt_http_date(time))),
            Err(_) => answer,
        }
    }

    pub(crate) fn at(mut self, status: StatusCode) -> Answer {
        *self.head.status_mut() = status;
        self
    }

    /// Adds a policy that lets the page run this server's scripts and no others.
    pub(crate) fn guarded(self) -> Answer {
        const POLICY: &str = "default-src 'self'; media-src 'self' blob:; worker-src 'self' blob:; \
                              connect-src 'self' blob: data:; img-src 'self' data:; style-src 'self' 'unsafe-inline'";
        self.with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
    }
}

/// An answer without content.
pub(crate) fn empty(status: StatusCode) -> Answer {
    let mut head = Response::new(());
    *head.status_mut() = status;
    Answer { head, content: Content::Whole(Bytes::new()), video: None, download: false }
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

/// An answer with a line of text.
pub(crate) fn refusal(status: StatusCode, line: &'static str) -> Answer {
    whole("text/plain; charset=utf-8", Bytes::from_static(line.as_bytes())).at(status)
}

/// The answer to plain HTTP on a TLS port.
pub(crate) fn tls_required() -> Answer {
    refusal(StatusCode::BAD_REQUEST, "this port uses TLS; use https://\n")
        .with(header::CONNECTION, HeaderValue::from_static("close"))
}

/// The answer to a request that does not name one valid host.
pub(crate) fn invalid_host() -> Answer {
    refusal(StatusCode::BAD_REQUEST, "a request needs exactly one valid Host field\n")
}

/// An answer with content from memory.
pub(crate) fn whole(media_type: &'static str, bytes: Bytes) -> Answer {
    let answer = empty(StatusCode::OK)
        .with(header::CONTENT_TYPE, HeaderValue::from_static(media_type))
        .with(header::CONTENT_LENGTH, bytes.len().into());
    Answer { content: Content::Whole(bytes), ..answer }
}

pub(crate) fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

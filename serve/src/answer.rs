//! From a request to its answer, for any version of HTTP: who carries them is not known here.

mod conditions;

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rustix::io::Errno;
use thalweg_core::units::Rate;

use self::conditions::Verdict;
use crate::catalog::Catalog;
use crate::content::{Opened, Piece};
use crate::range::Wanted;
use crate::root::Root;
use crate::{kind, page};

/// Characters that a value of a field keeps as they are (RFC 8187 §3.2.1, `attr-char`), of what file names have.
const IN_EXTENDED_VALUES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is served: a folder, and the page that lists what is in it.
#[derive(Debug)]
pub struct Site {
    root: Root,
    catalog: RwLock<Arc<Catalog>>,
    /// The rate of films that do not tell theirs.
    rate: Rate,
    /// True if files may be had as downloads.
    downloads: bool,
}

/// What a request gets.
#[derive(Debug)]
pub struct Answer {
    /// Status and fields; the length is among them.
    pub head: Response<()>,
    /// What follows.
    pub content: Content,
    /// The name of the film, or of the piece of one, and how fast it is played; none if it is not to be played.
    pub film: Option<(String, Rate)>,
    /// True for a file to be kept: nothing waits for its bytes to be played.
    pub download: bool,
}

/// The bytes of an answer.
#[derive(Debug)]
pub enum Content {
    /// What is in memory, or nothing.
    Whole(Bytes),
    /// A range of a file.
    Piece(Piece),
}

impl Site {
    /// Opens a folder and looks through it.
    ///
    /// # Errors
    /// It is no folder, or cannot be read.
    pub fn open(folder: &Path, rate: Rate, downloads: bool) -> io::Result<Site> {
        let root = Root::open(folder)?;
        let catalog = Catalog::scan(&root)?;
        Ok(Site { root, catalog: RwLock::new(Arc::new(catalog)), rate, downloads })
    }

    /// What was found in the folder.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks through the folder again; what is wrong there that was not before.
    ///
    /// # Errors
    /// It cannot be read any more.
    pub fn look_again(&self) -> io::Result<Vec<(String, String)>> {
        let before = self.catalog();
        let Some(catalog) = before.again(&self.root)? else { return Ok(Vec::new()) };
        // Not one by one: there may be as many as files.
        let known: HashSet<_> = before.faults.iter().collect();
        let new = catalog.faults.iter().filter(|fault| !known.contains(fault)).cloned().collect();
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
        Ok(new)
    }

    /// Answers a request. It may wait for a disk.
    pub fn answer(&self, request: &Parts) -> Answer {
        if request.method != Method::GET && request.method != Method::HEAD {
            return told(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are served\n")
                .with(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        let Some(name) = name(request.uri.path()) else {
            return told(StatusCode::BAD_REQUEST, "this path leads nowhere\n");
        };
        let answer = match name.as_str() {
            "" => page::answer(&self.catalog(), self.rate, self.downloads),
            name => page::asset(name).unwrap_or_else(|| self.file(name, request)),
        };
        if request.method == Method::HEAD { Answer { content: Content::Whole(Bytes::new()), ..answer } } else { answer }
    }

    fn file(&self, name: &str, request: &Parts) -> Answer {
        // What is hidden is nobody's business.
        let hidden = name.split('/').any(|part| part.starts_with('.'));
        let opened = match hidden {
            true => Err(ErrorKind::NotFound.into()),
            false => self.root.file(Path::new(name)).and_then(Opened::new),
        };
        match opened {
            Ok(opened) => self.part(name, Arc::new(opened), request),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                told(StatusCode::FORBIDDEN, "this file may not be read\n")
            }
            Err(error) if is_absent(&error) => told(StatusCode::NOT_FOUND, "there is no such file\n"),
            Err(_) => told(StatusCode::INTERNAL_SERVER_ERROR, "this file cannot be read\n"),
        }
    }

    /// A file, or the range of it that is asked for, if it is to be sent at all.
    fn part(&self, name: &str, file: Arc<Opened>, request: &Parts) -> Answer {
        let len = file.len();
        let (status, range) = match conditions::judge(&request.headers, &file) {
            Verdict::Failed => return told(StatusCode::PRECONDITION_FAILED, "it is another file by now\n").of(&file),
            Verdict::Known => return empty(StatusCode::NOT_MODIFIED).of(&file),
            Verdict::Whole => (StatusCode::OK, 0..len),
            // Ranges are for GET alone (§14.2).
            Verdict::Range(_) if request.method == Method::HEAD => (StatusCode::OK, 0..len),
            Verdict::Range(field) => match Wanted::of(field, len) {
                Wanted::Whole => (StatusCode::OK, 0..len),
                Wanted::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
                Wanted::Nothing => {
                    return told(StatusCode::RANGE_NOT_SATISFIABLE, "it ends before this range\n")
                        .with(header::CONTENT_RANGE, text(&format!("bytes */{len}")));
                }
            },
        };
        let played = self.catalog().rate(name).or_else(|| is_film(name).then_some(self.rate));
        let mut answer = empty(status)
            .with(header::CONTENT_TYPE, HeaderValue::from_static(kind::of(name)))
            .with(header::CONTENT_LENGTH, (range.end - range.start).into())
            .of(&file);
        if status == StatusCode::PARTIAL_CONTENT {
            let (first, last) = (range.start, range.end - 1);
            answer = answer.with(header::CONTENT_RANGE, text(&format!("bytes {first}-{last}/{len}")));
        }
        answer.content = Content::Piece(Piece::new(file, range));
        if self.downloads && asks_to_keep(request.uri.query()) {
            answer.download = true;
            return answer.with(header::CONTENT_DISPOSITION, attachment(name));
        }
        answer.film = played.map(|rate| (name.to_owned(), rate));
        answer
    }
}

impl Answer {
    fn with(mut self, name: HeaderName, value: HeaderValue) -> Answer {
        self.head.headers_mut().insert(name, value);
        self
    }

    /// With what identifies the content of a file (RFC 9110 §8.8).
    fn of(self, file: &Opened) -> Answer {
        let answer = self
            .with(header::ETAG, text(&file.tag()))
            .with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))
            // A film that is replaced is noticed at once; what has not changed is asked for in vain, in a few bytes.
            .with(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        match file.modified() {
            Ok(time) => answer.with(header::LAST_MODIFIED, text(&httpdate::fmt_http_date(time))),
            Err(_) => answer,
        }
    }
}

/// An answer without content.
fn empty(status: StatusCode) -> Answer {
    let mut head = Response::new(());
    *head.status_mut() = status;
    Answer { head, content: Content::Whole(Bytes::new()), film: None, download: false }
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}

/// An answer in words.
fn told(status: StatusCode, line: &'static str) -> Answer {
    whole("text/plain; charset=utf-8", Bytes::from_static(line.as_bytes())).at(status)
}

/// To whoever speaks HTTP to a port of TLS.
pub(crate) fn speaks_tls() -> Answer {
    told(StatusCode::BAD_REQUEST, "this port speaks TLS: ask with https://\n")
        .with(header::CONNECTION, HeaderValue::from_static("close"))
}

/// To whoever does not say which host he asks.
pub(crate) fn names_no_host() -> Answer {
    told(StatusCode::BAD_REQUEST, "a request names one host\n")
}

/// An answer from memory.
pub(crate) fn whole(media_type: &'static str, bytes: Bytes) -> Answer {
    let answer = empty(StatusCode::OK)
        .with(header::CONTENT_TYPE, HeaderValue::from_static(media_type))
        .with(header::CONTENT_LENGTH, bytes.len().into());
    Answer { content: Content::Whole(bytes), ..answer }
}

impl Answer {
    fn at(mut self, status: StatusCode) -> Answer {
        *self.head.status_mut() = status;
        self
    }

    /// An answer that a page of ours may run scripts of ours and nothing else.
    pub(crate) fn guarded(self) -> Answer {
        const POLICY: &str = "default-src 'self'; media-src 'self' blob:; worker-src 'self' blob:; \
                              connect-src 'self' blob: data:; img-src 'self' data:; style-src 'self' 'unsafe-inline'";
        self.with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
    }
}

fn text(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// The file that a path names; none if it leads up, or is none.
fn name(path: &str) -> Option<String> {
    let path = percent_decode_str(path.strip_prefix('/')?).decode_utf8().ok()?;
    let leads_up = path.split('/').any(|part| part == "..");
    (!leads_up && !path.starts_with('/') && !path.contains('\0')).then(|| path.into_owned())
}

/// Returns whether a query has the parameter `download`, with a value or without.
fn asks_to_keep(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|one| one.split('=').next() == Some("download")))
}

/// Field that has a browser keep a file under its own name (RFC 6266 §4): in ASCII, and for those who know it as it is
/// (RFC 8187).
fn attachment(name: &str) -> HeaderValue {
    let name = name.rsplit('/').next().unwrap_or(name);
    let plain = |c: char| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' };
    let ascii: String = name.chars().map(plain).collect();
    text(&format!(
        "attachment; filename=\"{ascii}\"; filename*=UTF-8''{}",
        utf8_percent_encode(name, IN_EXTENDED_VALUES)
    ))
}

/// Everything that is heard or seen; the rest is small, and paced by nobody.
fn is_film(name: &str) -> bool {
    let kind = kind::of(name);
    kind.starts_with("video/") || kind.starts_with("audio/")
}

fn is_absent(error: &io::Error) -> bool {
    // What the kernel says of links in circles, and of sockets.
    let odd = [Errno::LOOP, Errno::NXIO].map(|errno| Some(errno.raw_os_error()));
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
        || odd.contains(&error.raw_os_error())
}

#[cfg(test)]
mod tests;

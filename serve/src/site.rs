//! The served content, and the answers to requests for it, independent of the version of HTTP and of the transport.

mod conditions;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rustix::io::Errno;
use thalweg_core::units::Rate;

use self::conditions::Verdict;
use crate::answer::{Answer, Content, empty, refusal, text};
use crate::catalog::Catalog;
use crate::catalog::frames::Indexes;
use crate::content::{Opened, Piece};
use crate::page::OverRtsp;
use crate::range::Wanted;
use crate::root::Root;
use crate::{kind, page};

/// Characters that an extended value keeps unencoded (RFC 8187 §3.2.1, `attr-char`), of those that file names have.
const IN_EXTENDED_VALUES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The served content: a folder, and the page that lists its videos.
#[derive(Debug)]
pub struct Site {
    root: Arc<Root>,
    catalog: RwLock<Arc<Catalog>>,
    /// The rate of videos that do not state theirs.
    rate: Rate,
    /// True if files may be downloaded.
    downloads: bool,
    /// The port of RTSP and the frames of its videos, if it is served.
    rtsp: Option<(u16, Arc<Indexes>)>,
}

impl Site {
    /// Opens a folder and scans it.
    ///
    /// # Errors
    /// The path is not a folder, or cannot be read.
    pub fn open(folder: &Path, rate: Rate, downloads: bool) -> io::Result<Site> {
        let root = Arc::new(Root::open(folder)?);
        let catalog = Catalog::scan(&root)?;
        Ok(Site { root, catalog: RwLock::new(Arc::new(catalog)), rate, downloads, rtsp: None })
    }

    /// The same content, which is also served over RTSP at this port: the page links there, and transport streams are videos.
    pub fn with_rtsp(self, port: u16, indexes: Arc<Indexes>) -> Site {
        Site { rtsp: Some((port, indexes)), ..self }
    }

    /// The result of the last scan of the folder.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of videos in the folder.
    pub fn videos(&self) -> usize {
        let catalog = self.catalog();
        catalog.videos.len() + if self.rtsp.is_some() { catalog.streams.len() } else { 0 }
    }

    /// Scans the folder again, and returns the faults that are new.
    ///
    /// # Errors
    /// The folder cannot be read any more.
    pub fn rescan(&self) -> io::Result<Vec<(String, String)>> {
        let before = self.catalog();
        let Some(catalog) = before.rescan(&self.root)? else { return Ok(Vec::new()) };
        // A set, since there may be as many faults as files.
        let known: HashSet<_> = before.faults.iter().collect();
        let new = catalog.faults.iter().filter(|fault| !known.contains(fault)).cloned().collect();
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
        Ok(new)
    }

    /// Answers a request. May block on a disk.
    pub fn answer(&self, request: &Parts) -> Answer {
        if request.method != Method::GET && request.method != Method::HEAD {
            return refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n")
                .with(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        let Some(name) = name(request.uri.path()) else {
            return refusal(StatusCode::BAD_REQUEST, "invalid path\n");
        };
        let answer = match name.as_str() {
            "" => page::answer(&self.catalog(), self.rate, self.downloads, self.over_rtsp(request).as_ref()),
            name => page::asset(name).unwrap_or_else(|| self.response(name, request)),
        };
        if request.method == Method::HEAD { Answer { content: Content::Whole(Bytes::new()), ..answer } } else { answer }
    }

    /// The links of the page to RTSP, at the host by which the client knows this machine.
    fn over_rtsp(&self, request: &Parts) -> Option<OverRtsp> {
        let (port, indexes) = self.rtsp.as_ref()?;
        let named = request.headers.get(header::HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
        let authority = named.or_else(|| request.uri.authority().cloned())?;
        Some(OverRtsp { base: format!("rtsp://{}:{port}", authority.host()), refusals: indexes.refusals() })
    }

    /// The folder.
    pub(crate) fn root(&self) -> Arc<Root> {
        self.root.clone()
    }

    /// Opens a file of the folder. Hidden files are not served.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        match name.split('/').any(|part| part.starts_with('.')) {
            true => Err(ErrorKind::NotFound.into()),
            false => self.root.file(Path::new(name)),
        }
    }

    fn response(&self, name: &str, request: &Parts) -> Answer {
        match self.file(name).and_then(Opened::new) {
            Ok(opened) => self.part(name, Arc::new(opened), request),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                refusal(StatusCode::FORBIDDEN, "permission denied\n")
            }
            Err(error) if is_absent(&error) => refusal(StatusCode::NOT_FOUND, "no such file\n"),
            Err(_) => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read\n"),
        }
    }

    /// A file or the requested range of it, if its conditions permit.
    fn part(&self, name: &str, file: Arc<Opened>, request: &Parts) -> Answer {
        let len = file.len();
        let (status, range) = match conditions::judge(&request.headers, &file) {
            Verdict::Failed => return refusal(StatusCode::PRECONDITION_FAILED, "the file has changed\n").of(&file),
            Verdict::Known => return empty(StatusCode::NOT_MODIFIED).of(&file),
            Verdict::Whole => (StatusCode::OK, 0..len),
            // Ranges are for GET alone (§14.2).
            Verdict::Range(_) if request.method == Method::HEAD => (StatusCode::OK, 0..len),
            Verdict::Range(field) => match Wanted::of(field, len) {
                Wanted::Whole => (StatusCode::OK, 0..len),
                Wanted::Part(part) => (StatusCode::PARTIAL_CONTENT, part),
                Wanted::Nothing => {
                    return refusal(StatusCode::RANGE_NOT_SATISFIABLE, "the file ends before this range\n")
                        .with(header::CONTENT_RANGE, text(&format!("bytes */{len}")));
                }
            },
        };
        let played = self.catalog().rate(name).or_else(|| is_media(name).then_some(self.rate));
        let mut answer = empty(status)
            .with(header::CONTENT_TYPE, HeaderValue::from_static(kind::of(name)))
            .with(header::CONTENT_LENGTH, (range.end - range.start).into())
            .of(&file);
        if status == StatusCode::PARTIAL_CONTENT {
            let (first, last) = (range.start, range.end - 1);
            answer = answer.with(header::CONTENT_RANGE, text(&format!("bytes {first}-{last}/{len}")));
        }
        answer.content = Content::Piece(Piece::new(file, range));
        if self.downloads && is_download(request.uri.query()) {
            answer.download = true;
            return answer.with(header::CONTENT_DISPOSITION, attachment(name));
        }
        answer.video = played.map(|rate| (name.to_owned(), rate));
        answer
    }
}

/// The file that a path names; none if the path leads up, or is invalid.
fn name(path: &str) -> Option<String> {
    let path = percent_decode_str(path.strip_prefix('/')?).decode_utf8().ok()?;
    let leads_up = path.split('/').any(|part| part == "..");
    (!leads_up && !path.starts_with('/') && !path.contains('\0')).then(|| path.into_owned())
}

/// True if a query has the parameter `download`, with a value or without.
fn is_download(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|one| one.split('=').next() == Some("download")))
}

/// The field that makes a browser save a file under its own name (RFC 6266 §4): in ASCII, and unchanged for clients
/// that support RFC 8187.
fn attachment(name: &str) -> HeaderValue {
    let name = name.rsplit('/').next().unwrap_or(name);
    let plain = |c: char| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' };
    let ascii: String = name.chars().map(plain).collect();
    text(&format!(
        "attachment; filename=\"{ascii}\"; filename*=UTF-8''{}",
        utf8_percent_encode(name, IN_EXTENDED_VALUES)
    ))
}

/// True if a file is video or audio; others are small, and not paced.
fn is_media(name: &str) -> bool {
    let kind = kind::of(name);
    kind.starts_with("video/") || kind.starts_with("audio/")
}

/// True if an error means that there is no such file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    // The kernel's errors for loops of symbolic links, and for sockets.
    let odd = [Errno::LOOP, Errno::NXIO].map(|errno| Some(errno.raw_os_error()));
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
        || odd.contains(&error.raw_os_error())
}

#[cfg(test)]
mod tests;

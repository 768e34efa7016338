//! The content of an answer as it leaves, over any version of HTTP: paced where it must be, and counted.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use thalweg_core::time::Span;
use thalweg_core::units::{self, Rate};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Sleep, sleep_until};

use crate::answer::Content;
use crate::content::Piece;
use crate::http3::WAITING;
use crate::law::{Download, Lane};
use crate::ledger::{Ledger, While};
use crate::places::Busy;
use crate::server::{Event, Shared};

/// What is read of a file at a time.
const PIECE: u64 = 128 << 10;

/// Longer than this a film is not thought to wait in QUIC.
const LONGEST: Span = Span::from_secs(10);

/// An answer of a connection, and whether it is a download.
pub(crate) type UnderWay = (Busy, Option<Download>);

/// What came of a disk, and what is left.
type Read = (Piece, io::Result<Bytes>);

/// An answer under way.
pub(crate) struct Flow {
    content: Content,
    shared: Arc<Shared>,
    film: Option<Playing>,
    /// As long as it lasts.
    under_way: Option<UnderWay>,
    wait: Option<Pin<Box<Sleep>>>,
    /// What is waited for of a disk, and how much of it may leave.
    reading: Option<(JoinHandle<Read>, usize)>,
}

/// A film under way.
pub(crate) struct Playing {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) lane: Arc<Lane>,
    /// How long its end may still wait to be sent.
    pub(crate) waits: Span,
    /// As long as it lasts.
    pub(crate) _counted: [While; 2],
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.lane.end(self.rate, self.waits);
    }
}

impl Flow {
    pub(crate) fn new(
        content: Content,
        shared: Arc<Shared>,
        film: Option<Playing>,
        under_way: Option<UnderWay>,
    ) -> Flow {
        Flow { content, shared, film, under_way, wait: None, reading: None }
    }

    /// All of it has been handed to QUIC, which may keep its end for a while.
    pub(crate) fn linger(self: Pin<&mut Self>) {
        if let Some(film) = &mut self.get_mut().film {
            film.waits = film.rate.time_for(units::Bytes(WAITING)).min(LONGEST);
        }
    }

    /// How much may leave now.
    fn allowed(&mut self, wanted: u64, cx: &mut Context<'_>) -> Poll<u64> {
        let Some(Playing { lane, .. }) = &self.film else { return Poll::Ready(wanted) };
        loop {
            if let Some(wait) = &mut self.wait {
                ready!(wait.as_mut().poll(cx));
                self.wait = None;
            }
            match lane.take(wanted) {
                Ok(allowed) => return Poll::Ready(allowed),
                Err(later) => self.wait = Some(Box::pin(sleep_until(later.into()))),
            }
        }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if let Some((reading, most)) = &mut self.reading {
            let (done, most) = (ready!(Pin::new(reading).poll(cx)), *most);
            self.reading = None;
            let (piece, read) = done.map_err(io::Error::other)?;
            self.content = Content::Piece(piece);
            return Poll::Ready(Some(self.settle(read, most)));
        }
        let left = match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => return Poll::Ready(None),
            Content::Whole(bytes) => return Poll::Ready(Some(Ok(std::mem::take(bytes)))),
            Content::Piece(piece) if piece.left() == 0 => return Poll::Ready(None),
            Content::Piece(piece) => piece.left(),
        };
        let most = ready!(self.allowed(left.min(PIECE), cx)) as usize;
        let Content::Piece(piece) = &mut self.content else { return Poll::Ready(None) };
        match piece.at_once(most).transpose() {
            Some(read) => Poll::Ready(Some(self.settle(read, most))),
            None => {
                let mut piece = piece.clone();
                let reading = spawn_blocking(move || {
                    let read = piece.wait(most);
                    (piece, read)
                });
                self.reading = Some((reading, most));
                self.next(cx)
            }
        }
    }

    /// What was allowed and not there to be read may leave later.
    fn settle(&self, read: io::Result<Bytes>, most: usize) -> io::Result<Bytes> {
        if let (Ok(bytes), Some(film)) = (&read, &self.film) {
            film.lane.give_back((most - bytes.len()) as u64);
        }
        read
    }
}

impl Body for Flow {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = ready!(self.next(cx));
        match &next {
            Some(Ok(bytes)) => {
                Ledger::add(&self.shared.ledger.sent, bytes.len() as u64);
                if let Some((busy, _)) = &self.under_way {
                    busy.goes_on();
                }
            }
            Some(Err(error)) => {
                Ledger::add(&self.shared.ledger.changed, 1);
                let name = self.film.as_ref().map_or_else(String::new, |film| film.name.clone());
                self.shared.tell(Event::Broken { name, why: error.to_string() });
            }
            None => {}
        }
        Poll::Ready(next.map(|read| read.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.size_hint().exact() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Piece(piece) => SizeHint::with_exact(piece.left()),
        }
    }
}

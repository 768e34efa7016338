//! The content of an answer as it is sent, over any version of HTTP: paced if necessary, and counted.

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
use crate::event::Event;
use crate::law::{ConnectionRate, Download};
use crate::ledger::{GaugeGuard, Ledger};
use crate::places::Busy;
use crate::shared::Shared;

/// Bytes read from a file at a time.
const PIECE: u64 = 128 << 10;

/// Limit in bytes on a QUIC connection's data that waits for the network or for acknowledgement: 100 ms of 168 Mb/s.
pub(crate) const QUIC_SEND_WINDOW: u64 = 2 << 20;

/// The longest time for which a video is assumed to wait in QUIC.
const LONGEST: Span = Span::from_secs(10);

/// Markers of an answer in progress on its connection and, if it is one, of a download.
pub(crate) type InProgress = (Busy, Option<Download>);

/// The unread rest of a piece, and the result of a disk read.
type Read = (Piece, io::Result<Bytes>);

/// An answer in progress.
pub(crate) struct Flow {
    content: Content,
    shared: Arc<Shared>,
    video: Option<Playing>,
    /// Held for as long as the answer lasts.
    in_progress: Option<InProgress>,
    wait: Option<Pin<Box<Sleep>>>,
    /// The pending disk read, and the number of its bytes that may be sent.
    reading: Option<(JoinHandle<Read>, usize)>,
}

/// A video in progress.
pub(crate) struct Playing {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) control: Arc<ConnectionRate>,
    /// Time for which its end may still wait to be sent.
    pub(crate) waits: Span,
    /// Held for as long as the video lasts.
    pub(crate) _counted: [GaugeGuard; 2],
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.control.end(self.rate, self.waits);
    }
}

impl Flow {
    pub(crate) fn new(
        content: Content,
        shared: Arc<Shared>,
        video: Option<Playing>,
        in_progress: Option<InProgress>,
    ) -> Flow {
        Flow { content, shared, video, in_progress, wait: None, reading: None }
    }

    /// Notes that all content was passed to QUIC, which may keep the end of it for a while.
    pub(crate) fn linger(self: Pin<&mut Self>) {
        if let Some(video) = &mut self.get_mut().video {
            video.waits = video.rate.time_for(units::Bytes(QUIC_SEND_WINDOW)).min(LONGEST);
        }
    }

    /// The number of bytes that may be sent now.
    fn allowed(&mut self, wanted: u64, cx: &mut Context<'_>) -> Poll<u64> {
        let Some(Playing { control, .. }) = &self.video else { return Poll::Ready(wanted) };
        loop {
            if let Some(wait) = &mut self.wait {
                ready!(wait.as_mut().poll(cx));
                self.wait = None;
            }
            match control.take(wanted) {
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

    /// Gives back the allowance for bytes that the read did not yield, so that they may be sent later.
    fn settle(&self, read: io::Result<Bytes>, most: usize) -> io::Result<Bytes> {
        if let (Ok(bytes), Some(video)) = (&read, &self.video) {
            video.control.give_back((most - bytes.len()) as u64);
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
                if let Some((busy, _)) = &self.in_progress {
                    busy.mark_progress();
                }
            }
            Some(Err(error)) => {
                Ledger::add(&self.shared.ledger.changed, 1);
                let name = self.video.as_ref().map_or_else(String::new, |video| video.name.clone());
                self.shared.report(Event::Broken { name, why: error.to_string() });
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

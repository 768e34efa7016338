//! Limits on the bytes read from a stream: h3 keeps a frame until it is complete, whatever length it claims.

use std::task::{Context, Poll, ready};

use h3::error::Code;
use h3::quic::{
    BidiStream, Connection, ConnectionErrorIncoming, OpenStreams, RecvStream, SendStream, StreamErrorIncoming,
    StreamId, WriteBuf,
};
use hyper::body::Buf;

/// Limit in bytes on a request, all its frames together.
const REQUEST: usize = 80 << 10;
/// Limit in bytes on a control stream. Browsers send a line or two on it per request; beyond it, a new connection is
/// needed.
const CONTROL: usize = 1 << 20;

/// A connection, or a stream of one, with the number of bytes that may still be read from it.
pub(crate) struct Bounded<T> {
    inner: T,
    left: usize,
}

impl<T> Bounded<T> {
    /// A connection whose streams are limited.
    pub(crate) fn new(connection: T) -> Bounded<T> {
        Bounded { inner: connection, left: 0 }
    }
}

impl<B: Buf, T: Connection<B>> Connection<B> for Bounded<T>
where
    T::BidiStream: BidiStream<B>,
{
    type RecvStream = Bounded<T::RecvStream>;
    type OpenStreams = Bounded<T::OpenStreams>;

    fn poll_accept_recv(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::RecvStream, ConnectionErrorIncoming>> {
        self.inner.poll_accept_recv(cx).map_ok(|inner| Bounded { inner, left: CONTROL })
    }

    fn poll_accept_bidi(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::BidiStream, ConnectionErrorIncoming>> {
        self.inner.poll_accept_bidi(cx).map_ok(|inner| Bounded { inner, left: REQUEST })
    }

    fn opener(&self) -> Self::OpenStreams {
        Bounded::new(self.inner.opener())
    }
}

impl<B: Buf, T: OpenStreams<B>> OpenStreams<B> for Bounded<T> {
    type BidiStream = Bounded<T::BidiStream>;
    type SendStream = T::SendStream;

    fn poll_open_bidi(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::BidiStream, StreamErrorIncoming>> {
        self.inner.poll_open_bidi(cx).map_ok(|inner| Bounded { inner, left: REQUEST })
    }

    fn poll_open_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<Self::SendStream, StreamErrorIncoming>> {
        self.inner.poll_open_send(cx)
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        self.inner.close(code, reason);
    }
}

impl<T: RecvStream> RecvStream for Bounded<T> {
    type Buf = T::Buf;

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<T::Buf>, StreamErrorIncoming>> {
        let data = ready!(self.inner.poll_data(cx))?;
        let len = data.as_ref().map_or(0, Buf::remaining);
        match self.left.checked_sub(len) {
            Some(left) => {
                self.left = left;
                Poll::Ready(Ok(data))
            }
            None => Poll::Ready(Err(StreamErrorIncoming::Unknown("more than a stream may say".into()))),
        }
    }

    fn stop_sending(&mut self, error_code: u64) {
        self.inner.stop_sending(error_code);
    }

    fn recv_id(&self) -> StreamId {
        self.inner.recv_id()
    }
}

impl<B: Buf, T: SendStream<B>> SendStream<B> for Bounded<T> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.inner.poll_ready(cx)
    }

    fn send_data<D: Into<WriteBuf<B>>>(&mut self, data: D) -> Result<(), StreamErrorIncoming> {
        self.inner.send_data(data)
    }

    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.inner.poll_finish(cx)
    }

    fn reset(&mut self, reset_code: u64) {
        self.inner.reset(reset_code);
    }

    fn send_id(&self) -> StreamId {
        self.inner.send_id()
    }
}

impl<B: Buf, T: BidiStream<B>> BidiStream<B> for Bounded<T> {
    type SendStream = T::SendStream;
    type RecvStream = Bounded<T::RecvStream>;

    fn split(self) -> (Self::SendStream, Self::RecvStream) {
        let (send, receive) = self.inner.split();
        (send, Bounded { inner: receive, left: self.left })
    }
}

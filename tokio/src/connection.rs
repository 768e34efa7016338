//! One connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use thalweg_net::in_process::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A lossless stream of bytes each way, through a tunnel.
///
/// Each direction ends by itself: [`AsyncWrite::poll_shutdown`] ends the stream that the peer reads. Dropping a
/// connection ends the direction in which it writes; data of the peer that has not been read, or is written later, is
/// answered with a reset, as in TCP.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
}

impl Connection {
    pub(crate) fn new(stream: Stream) -> Connection {
        Connection { stream }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let count = ready!(self.stream.poll_read(context, buf.initialize_unfilled()))?;
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.poll_write(context, bytes)
    }

    /// Waits until the tunnel has taken all written bytes.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_shutdown(context)
    }
}

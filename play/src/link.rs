//! The link to the server: a connection, or the time until the next attempt.

use std::net::SocketAddr;

use thalweg_core::time::{Span, Time};
use thalweg_net::error::plain;
use thalweg_net::poll::{Interests, Ready};
use thalweg_rtsp::client::{Client, Event};
use thalweg_rtsp::url::Url;

use crate::connection::Connection;

/// Times between attempts: twice the one before, up to the last.
const BACKOFF: (Span, Span) = (Span::from_secs(1), Span::from_secs(30));

/// The link to a server.
#[derive(Debug)]
pub struct Link {
    pub(crate) url: Url,
    pub(crate) server: SocketAddr,
    connection: Option<Connection>,
    /// The next attempt; none while a connection is open, and at the end.
    retry_at: Option<Time>,
    backoff: Span,
}

impl Link {
    /// A link that connects at `now` to the server of `url`, which has the address `server`.
    pub fn new(now: Time, url: Url, server: SocketAddr) -> Link {
        Link { url, server, connection: None, retry_at: Some(now), backoff: BACKOFF.0 }
    }

    /// The client, if a connection is open.
    pub(crate) fn client(&mut self) -> Option<&mut Client> {
        self.connection.as_mut().map(|connection| &mut connection.client)
    }

    /// Registers the descriptor, if there is one.
    pub(crate) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        if let Some(connection) = &self.connection {
            connection.interests(interests);
        }
    }

    /// The time of the next timeout.
    pub(crate) fn next(&self) -> Option<Time> {
        self.retry_at.or_else(|| self.connection.as_ref()?.next())
    }

    /// Reads, writes and connects. Returns true if more may be waiting.
    ///
    /// # Errors
    /// The connection has ended, with the reason. [`Link::retry`] opens another.
    pub(crate) fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, String> {
        if let Some(connection) = &mut self.connection {
            return connection.exchange(now, ready);
        }
        if self.retry_at.is_some_and(|at| now >= at) {
            self.retry_at = None;
            let opened = Connection::open(now, &self.url, self.server);
            self.connection = Some(opened.map_err(|error| plain(&error))?);
        }
        Ok(false)
    }

    /// Sends what the client has written. An error is returned by the next [`Link::exchange`].
    pub(crate) fn flush(&mut self) {
        if let Some(connection) = &mut self.connection {
            let _ = connection.flush();
        }
    }

    /// The next event of the client.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.connection.as_mut()?.poll_event()
    }

    /// Drops the connection, and opens another after the time that is returned, each time later.
    pub(crate) fn retry(&mut self, now: Time) -> Span {
        let after = self.backoff;
        self.backoff = (self.backoff * 2).min(BACKOFF.1);
        self.connection = None;
        self.retry_at = Some(now + after);
        after
    }

    /// Drops the connection, and opens another at once.
    pub(crate) fn renew(&mut self, now: Time) {
        self.connection = None;
        self.retry_at = Some(now);
    }

    /// Takes note that the server plays.
    pub(crate) fn succeeded(&mut self) {
        self.backoff = BACKOFF.0;
    }

    /// Drops the connection for good.
    pub(crate) fn close(&mut self) {
        (self.connection, self.retry_at) = (None, None);
    }
}

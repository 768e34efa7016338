//! The state that all connections of a server share.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::task::Poll;

use hyper::header::HeaderValue;
use rustls::ServerConfig;
use tokio::sync::Semaphore;

use crate::event::Event;
use crate::law::Law;
use crate::ledger::{GaugeGuard, Ledger};
use crate::limits::Limits;
use crate::places::{Place, Places};
use crate::site::Site;

/// The state shared by all connections.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) site: Site,
    pub(crate) law: Arc<Law>,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// The alternative service HTTP/3, for clients over TLS on TCP (RFC 7838).
    pub(crate) alt_svc: Option<HeaderValue>,
    pub(crate) limits: Limits,
    /// Places of connections, over TCP or QUIC.
    pub(crate) places: Arc<Places>,
    /// Permits for answers over QUIC.
    pub(crate) files: Semaphore,
    pub(crate) ledger: Arc<Ledger>,
    /// True if a client has requested TLS on a port without it.
    pub(crate) asked_for_tls: AtomicBool,
    pub(crate) events: SyncSender<Event>,
}

impl Shared {
    pub(crate) fn report(&self, event: Event) {
        // Serving does not wait for the reader of events.
        let _ = self.events.try_send(event);
    }

    /// Reports the number and the faults of the videos.
    pub(crate) fn report_catalog(&self) {
        self.count_videos();
        for (name, why) in self.site.catalog().faults.clone() {
            self.report(Event::Fault { name, why });
        }
    }

    pub(crate) fn count_videos(&self) {
        self.ledger.videos.store(self.site.videos() as u64, Ordering::Relaxed);
    }

    /// Serves a connection, which is counted and has its place until it has ended, or has given its place up.
    pub(crate) fn admit(&self, mut place: Place, serving: impl Future<Output = ()> + Send + 'static) {
        Ledger::add(&self.ledger.accepted, 1);
        let counted = GaugeGuard::new(&self.ledger, 1, |ledger| &ledger.connections);
        let ledger = self.ledger.clone();
        tokio::spawn(async move {
            let mut serving = Box::pin(serving);
            let ended = poll_fn(|cx| match place.poll_given_up(cx) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => serving.as_mut().poll(cx).map(|()| true),
            });
            if !ended.await {
                Ledger::add(&ledger.displaced, 1);
            }
            // Its descriptors are closed before another connection has its place.
            drop(serving);
            drop((counted, place));
        });
    }
}

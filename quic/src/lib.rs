//! TCP Stream over QUIC: the window control of `thalweg_core::law::window::tcp_stream` as a congestion controller of quinn.
//!
//! Only the sender changes. A controller exists before its connection's first request, and so before anybody knows which film
//! it will carry: it begins with a rate for all, and is told the film's own when that is known.
//!
//! ```
//! use std::sync::Arc;
//!
//! use quinn_proto::TransportConfig;
//! use quinn_proto::congestion::Controller;
//! use thalweg_core::units::Rate;
//! use thalweg_quic::{TcpStream, TcpStreamConfig};
//!
//! // Before there are connections: for the server's configuration.
//! let mut transport = TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(TcpStreamConfig::default()));
//!
//! // Once a request came: `state` is what `Connection::congestion_state` gives.
//! fn requested(state: &dyn Controller, film: Rate) {
//!     if let Some(control) = TcpStream::of(state) {
//!         control.play(film);
//!     }
//! }
//! ```
//!
//! A path to another address of the peer gets a new controller from quinn, at the rate that all begin with: whoever told a
//! connection its film tells it again when `Connection::remote_address` has changed.

mod batch;
mod control;
mod film;

pub use self::control::{TcpStream, TcpStreamConfig};

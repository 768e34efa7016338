//! TCP Stream over QUIC: the window control of `thalweg_core::law::window::tcp_stream` as a congestion controller of
//! quinn.
//!
//! Only the sender changes. A controller exists before its connection's first request, and so before the video is
//! known: it begins with a rate common to all connections, and [`TcpStream::play`] sets the video's own once that is
//! known.
//!
//! This crate is for quinn 0.11, and the crates above it, such as h3-quinn 0.0.10. There is no release on crates.io
//! yet; from a checkout beside yours, in Cargo.toml:
//!
//! ```toml
//! quinn = "0.11"
//! thalweg-quic = { path = "../thalweg/quic" }
//! ```
//!
//! A server that sends a video to each client that opens a stream and asks for one:
//!
//! ```
//! use std::error::Error;
//! use std::sync::Arc;
//!
//! use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer};
//! use quinn::{Connection, Endpoint, ServerConfig, TransportConfig};
//! use thalweg_quic::{Rate, TcpStream, TcpStreamConfig};
//!
//! async fn serve(certificate: CertificateDer<'static>, key: PrivateKeyDer<'static>) -> Result<(), Box<dyn Error>> {
//!     // The controller of all connections, from their start.
//!     let mut transport = TransportConfig::default();
//!     transport.congestion_controller_factory(Arc::new(TcpStreamConfig::default()));
//!     let mut config = ServerConfig::with_single_cert(vec![certificate], key)?;
//!     config.transport_config(Arc::new(transport));
//!     let endpoint = Endpoint::server(config, "[::]:4433".parse()?)?;
//!     while let Some(incoming) = endpoint.accept().await {
//!         tokio::spawn(async move { send_video(incoming.await?).await });
//!     }
//!     Ok(())
//! }
//!
//! async fn send_video(connection: Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
//!     let (mut answer, mut request) = connection.accept_bi().await?;
//!     let _wanted = request.read_to_end(1000).await?;
//!     // The video is known now: one of 8 Mb/s, with a quarter more to make up for losses.
//!     if let Some(control) = TcpStream::of(&*connection.congestion_state()) {
//!         control.play(Rate::from_mbps(10));
//!     }
//!     answer.write_all(&std::fs::read("video.mp4")?).await?;
//!     answer.finish()?;
//!     connection.closed().await;
//!     Ok(())
//! }
//! ```
//!
//! When the peer's address changes, quinn builds a new controller, which begins with the rate of the configuration:
//! call [`TcpStream::play`] again when `Connection::remote_address` has changed.

mod batch;
mod control;
mod video_rate;

pub use self::control::{TcpStream, TcpStreamConfig};
pub use thalweg_core::law::window::tcp_stream::{OnLoss, Thresholds, Variant};
pub use thalweg_core::units::Rate;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! TCP Stream over QUIC: the window control of `thalweg_core::law::window::tcp_stream` as a congestion controller of quinn.
//!
//! Only the sender changes. A controller exists before its connection's first request, and so before anybody knows which film
//! it will carry: it begins with a rate for all, and is told the film's own when that is known.
//!
//! It is for quinn 0.11, and the crates above it, such as h3-quinn 0.0.10. There is no release on crates.io yet; from a checkout
//! beside yours, in Cargo.toml:
//!
//! ```toml
//! quinn = "0.11"
//! thalweg-quic = { path = "../thalweg/quic" }
//! ```
//!
//! A server that sends a film to whoever opens a stream and asks for one:
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
//!     // Before there are connections: all begin with this.
//!     let mut transport = TransportConfig::default();
//!     transport.congestion_controller_factory(Arc::new(TcpStreamConfig::default()));
//!     let mut config = ServerConfig::with_single_cert(vec![certificate], key)?;
//!     config.transport_config(Arc::new(transport));
//!     let endpoint = Endpoint::server(config, "[::]:4433".parse()?)?;
//!     while let Some(incoming) = endpoint.accept().await {
//!         tokio::spawn(async move { film(incoming.await?).await });
//!     }
//!     Ok(())
//! }
//!
//! async fn film(connection: Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
//!     let (mut answer, mut request) = connection.accept_bi().await?;
//!     let _wanted = request.read_to_end(1000).await?;
//!     // Now it is known which film will be played: one of 8 Mb/s, which has a quarter more to make good what losses cost.
//!     if let Some(control) = TcpStream::of(&*connection.congestion_state()) {
//!         control.play(Rate::from_mbps(10));
//!     }
//!     answer.write_all(&std::fs::read("film.mp4")?).await?;
//!     answer.finish()?;
//!     connection.closed().await;
//!     Ok(())
//! }
//! ```
//!
//! A path to another address of the peer gets a new controller from quinn, at the rate that all begin with: whoever told a
//! connection its film tells it again when `Connection::remote_address` has changed.

mod batch;
mod control;
mod film;

pub use self::control::{TcpStream, TcpStreamConfig};
pub use thalweg_core::law::window::tcp_stream::{OnLoss, Thresholds, Variant};
pub use thalweg_core::units::Rate;

//! A server of stored videos for unmodified players, which gives each connection the rate of the videos that it
//! carries.
//!
//! [`Catalog`] scans a folder: MP4 and WebM files, HLS playlists and DASH manifests, each with its playback rate, and
//! for each file that a manifest names the rate of its rendition. [`Site`] answers requests from that folder,
//! independent of their transport; [`Server`] carries them over HTTP/1.1 and, if it has an [`Identity`], under TLS and
//! over HTTP/3, too. [`Law`] controls the rate of a connection: TCP Stream in the kernel or over QUIC, or a
//! [`pace::Bucket`].

mod accept;
pub mod answer;
mod body;
pub mod catalog;
pub mod content;
mod error;
mod event;
mod exchange;
mod http1;
mod http3;
mod kind;
pub mod law;
mod ledger;
mod limits;
mod link;
pub mod machine;
mod mp4;
pub mod pace;
mod page;
mod places;
pub mod range;
pub mod rate;
mod rescan;
mod root;
mod rtsp;
mod server;
mod shared;
mod site;
mod tls;
mod user;
mod write_timeout;

pub use catalog::{Catalog, Form, Video, Work};
pub use event::Event;
pub use law::Law;
pub use ledger::Ledger;
pub use limits::Limits;
pub use root::Root;
pub use server::{Config, Server};
pub use site::Site;
pub use tls::Identity;
pub use user::User;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

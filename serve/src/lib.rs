//! A server of stored films for unmodified players, which gives each connection the rate of what it plays.
//!
//! [`Catalog`] looks through a folder: MP4 files, HLS playlists and DASH manifests, each with the rate at which it is played,
//! and for each file that a manifest names the rate of its rendition. [`Site`] answers requests from that folder, and knows
//! nothing of who carries them; [`Server`] carries them over HTTP/1.1, and if it has an [`Identity`] under TLS and over HTTP/3,
//! too. How fast a connection is sent to is its [`Law`]'s business: TCP Stream in the kernel or over QUIC, or a
//! [`pace::Bucket`].

pub mod answer;
mod body;
pub mod catalog;
pub mod content;
mod exchange;
mod http1;
mod http3;
mod kind;
pub mod law;
mod ledger;
mod line;
mod link;
mod look;
pub mod machine;
pub mod pace;
mod page;
mod places;
pub mod range;
pub mod rate;
mod root;
mod server;
mod tls;
mod user;

pub use answer::Site;
pub use catalog::{Catalog, Film, Form, Work};
pub use law::Law;
pub use ledger::Ledger;
pub use root::Root;
pub use server::{Config, Event, Limits, Server};
pub use tls::Identity;
pub use user::User;

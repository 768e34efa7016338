//! A server of stored films: it reads from each film how fast it is played.
//!
//! [`Catalog`] looks through a folder: MP4 files, HLS playlists and DASH manifests, each with the rate at which it is played,
//! and for each file that a manifest names the rate of its rendition. What is no film, or a broken one, is told in a line.

pub mod catalog;
mod link;
pub mod rate;
mod root;

pub use catalog::{Catalog, Film, Form};
pub use root::Root;

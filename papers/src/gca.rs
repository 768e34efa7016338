//! GCA's evaluation (E. Casey, G.-M. Muntean, "TCP Compatible Greediness Control Algorithm for Wireless Multimedia
//! Streaming", §§IV and V).
//!
//! | paper | here |
//! |---|---|
//! | Figs. 3 to 5 | [`equation`] |
//! | Fig. 6 and Table II, Fig. 7 and Table III | [`figures`], [`tables`] |
//! | the wireless cell | [`Cell`], twice, since the paper does not give its slots |
//! | TFRC and GCA, and the rivals of both | [`Contender`] |
//!
//! A [`Plan`] lists jobs and begins them, and [`Results`] hold their records. [`claims`] reads results; [`causes`] lists
//! the reasons that some claims do not hold. [`pictures`] has PSNR and SSIM beside the paper's. [`tables`] also compares
//! the sources of alpha and beta that `thalweg share` has. With the feature `real`, `real` runs `thalweg share` itself.

pub mod causes;
mod cell;
pub mod claims;
mod contender;
mod device;
pub mod equation;
pub mod errata;
mod evaluation;
pub mod figures;
pub mod pictures;
mod plan;
#[cfg(feature = "real")]
pub mod real;
mod record;
pub mod tables;
mod watch;

pub use self::cell::Cell;
pub use self::contender::Contender;
pub use self::device::Device;
pub use self::plan::{Job, Plan};
pub use self::record::{Client, Record};

/// Records of those jobs of a plan that have been run; missing ones prove nothing.
pub type Results = crate::results::Results<Plan>;

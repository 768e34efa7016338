//! Sessions and formats from outside.

#[cfg(feature = "secure")]
mod secure;
#[cfg(feature = "secure")]
mod tunnel;
#[cfg(feature = "media")]
mod wire;

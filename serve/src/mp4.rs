//! The boxes of MP4 (ISO/IEC 14496-12) that a playback rate and an index of frames both need.

pub(crate) mod boxes;
pub(crate) mod fragment;
#[cfg(test)]
pub(crate) mod synthetic;
pub(crate) mod tables;
pub(crate) mod track;

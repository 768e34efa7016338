//! The verbs, one a file.

pub(crate) mod advise;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod emulate;
pub(crate) mod encode;
pub(crate) mod kernel;
pub(crate) mod keygen;
pub(crate) mod lab;
pub(crate) mod pipe;
pub(crate) mod play;
pub(crate) mod recv;
pub(crate) mod replay;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod share;
pub(crate) mod tunnel;

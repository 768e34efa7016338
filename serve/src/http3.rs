//! HTTP/3 over QUIC, by h3 and quinn, on the same port number as TLS.

mod bounded;
mod connection;
mod listen;
mod request;

pub(crate) use self::listen::{bind, listen, open};

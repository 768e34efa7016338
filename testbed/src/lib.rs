//! Two hosts on one machine: network namespaces with an emulated path between them, for the kernel's own TCP.
//!
//! Needs root and TUN devices, and is removed on drop. Both hosts have the kernel's own TCP without anything that a
//! textbook's lacks: no offloads, no metrics kept from one connection to the next.

mod cable;
mod flow;
mod hosts;
mod namespace;
mod transfer;

pub use self::cable::Cable;
pub use self::flow::Flow;
pub use self::hosts::{FAR, Hosts, NEAR, Tcp, missing};
pub use self::namespace::Namespace;
pub use self::transfer::Transfer;

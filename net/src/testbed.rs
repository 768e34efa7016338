//! Two computers on one: network namespaces with an emulated path between them, for the kernel's own TCP.
//!
//! It needs root and TUN devices, and is gone when it is dropped. Both computers have the kernel's own TCP with nothing that
//! a textbook's does not have: no offloads, no metrics kept from one connection to the next.

mod cable;
mod flow;
mod namespace;

pub use self::cable::{Cable, FAR, NEAR, missing, plug};
pub use self::flow::Flow;
pub use self::namespace::{Namespace, ip};

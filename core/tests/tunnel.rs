//! Tunnels without a path between them: memory of idle ends, identity of peers, attacks, and refusals.

mod budget;
mod flood;
mod forge;
mod half_open;
mod identity;
mod memory;
mod pair;
mod refusals;
mod restart;
mod violations;

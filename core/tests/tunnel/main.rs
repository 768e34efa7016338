//! Tunnels without a path between them: what they hold when idle, and who cannot harm them.

mod memory;
mod pair;
mod peers;
mod strangers;

//! Tunnels without a path between them: what they hold when idle, who is there, and who cannot harm them; what they refuse.

mod budget;
mod doubt;
mod forge;
mod known;
mod lobby;
mod memory;
mod pair;
mod peers;
mod refusals;
mod strangers;

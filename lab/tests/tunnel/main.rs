//! Tunnels over the lab's paths: connections live through what happens to packets, addresses and programs.

mod app;
mod bounds;
mod ends;
mod faults;
mod freeze;
mod heavy;
mod resumption;
mod sharing;
mod story;

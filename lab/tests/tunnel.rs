//! Tunnels over the lab's paths: connections survive faults of packets, addresses and programs.

mod app;
mod bounds;
mod ends;
mod faults;
mod flow;
mod freeze;
mod heavy;
mod resumption;
mod sharing;
mod story;

//! Stored videos over RTSP: players that others wrote, and requests by hand. Players are skipped where they are not installed.

mod players;
mod r3cp;
mod requests;
mod stage;

//! The simulator: its parts, and the sessions and laws in it.

mod any_text;
mod blueprint;
mod copa;
mod live;
mod lossless;
mod own;
mod path;
mod recordings;
mod reference;
mod rmcat;
mod scenario;
mod sharing;
mod stored;
mod stream;
mod tcp;
mod truth;
mod tunnel;
mod videos;
mod wifi;

//! Interaction of a live sender and a live receiver over virtual time: one fault per story.

mod auto;
mod blocks;
mod calls;
mod damage;
mod dense;
mod faults;
mod guards;
mod keys;
mod latency;
mod leaps;
mod outsider;
mod peers;
mod props;
mod quiet;
mod repaired;
mod sealed;
mod seats;
mod second;
mod shares;
mod story;
mod takeover;
mod tap;
mod variant;
mod waits;
mod words;

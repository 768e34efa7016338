//! What a live sender and a live receiver tell each other over virtual time: one fault a story.

mod blocks;
mod damage;
mod dense;
mod faults;
mod guards;
mod leaps;
mod outsider;
mod peers;
mod props;
mod quiet;
mod seats;
mod second;
mod story;
mod takeover;
mod tap;
mod waits;
mod words;

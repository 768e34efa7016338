//! Copa over virtual time, compared with its paper (V. Arun, H. Balakrishnan, NSDI 2018).

mod competition;
mod dumbbell;
mod equilibrium;
mod loss;

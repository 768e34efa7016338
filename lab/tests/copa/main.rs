//! Copa over virtual time, beside what its paper says (V. Arun, H. Balakrishnan, NSDI 2018).

mod competition;
mod dumbbell;
mod equilibrium;
mod loss;

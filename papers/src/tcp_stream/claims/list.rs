//! Every claim, in the order of the paper, with its judge.

use super::{Claim, Gate, simulation, testbed};

/// The paper's claims about numbers; "accept" gives the tolerance that the project allows.
pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "T-M1",
        gate: Gate::Exact,
        source: "Eq. (1)",
        text: "the ceiling at 3.6 Mb/s and 1500 bytes: 30 packets at 100 ms, 36 at 120 ms",
        judge: super::ceilings,
    },
    Claim {
        id: "T-M2",
        gate: Gate::Exact,
        source: "§5.1",
        text: "270 MB at 3.6 Mb/s last 600 s",
        judge: super::playing_time,
    },
    Claim {
        id: "T-3a1",
        gate: Gate::Hard,
        source: "Fig. 3a",
        text: "without FTP a video under TCP Stream gets more than its playback rate",
        judge: simulation::more_than_it_plays,
    },
    Claim {
        id: "T-3a2",
        gate: Gate::Hard,
        source: "Fig. 3a",
        text: "it gets less once there is FTP, and no more than under NewReno (N = 1 to 8; accept 10 % above, where the fair \
               share is below the playback rate and the two are one)",
        judge: simulation::gives_way,
    },
    Claim {
        id: "T-3b",
        gate: Gate::Hard,
        source: "Fig. 3b",
        text: "FTP gets more in all beside TCP Stream than beside NewReno (N = 1 to 8), and no less above (accept 10 %)",
        judge: simulation::leaves_more,
    },
    Claim {
        id: "T-3c",
        gate: Gate::Hard,
        source: "Fig. 3c",
        text: "less is lost with TCP Stream than with NewReno (N = 0 to 8), and no more above (accept 10 %)",
        judge: simulation::loses_less,
    },
    Claim {
        id: "T-3d",
        gate: Gate::Soft,
        source: "§4",
        text: "dwnd is near zero in competition with NewReno (accept a tenth of swnd; N = 1 to 8)",
        judge: simulation::delay_window_closes,
    },
    Claim {
        id: "T-5a1",
        gate: Gate::Hard,
        source: "Fig. 5a",
        text: "alone, TCP Stream fills the link, as CUBIC does (at least 90 % of it from 20 to 30 s)",
        judge: testbed::fills_the_link,
    },
    Claim {
        id: "T-5a2",
        gate: Gate::Soft,
        source: "Fig. 5a",
        text: "beside CUBIC, from 30 to 60 s, it gets less than a video under CUBIC, and about what it plays (accept up to a quarter more)",
        judge: testbed::adjusts,
    },
    Claim {
        id: "T-5b",
        gate: Gate::Hard,
        source: "Fig. 5b",
        text: "the background gets more beside it than beside a video under CUBIC, from 30 to 60 s",
        judge: testbed::leaves_more,
    },
];

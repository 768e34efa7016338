//! `thalweg lab reproduce gca --real` with one short run of each kind.

use std::path::Path;

use thalweg_papers::gca::real::{Way, watch};

use crate::cable::Yard;

/// The length of a run; the first 20 s are not measured.
const SECONDS: u64 = 60;

/// 18 Mb/s, a round trip of 25 ms, and a queue of one bandwidth-delay product: three encoders that need 9, 6 and 3 Mb/s, and a
/// download. The bars are those of the page, which has five runs of 120 s of each kind.
#[test]
fn encoders_that_share_by_need_are_satisfied_alike_and_leave_cubic_its_part() {
    let Some(_yard) = Yard::enter() else { return };
    let program = Path::new(env!("CARGO_BIN_EXE_thalweg"));
    let records = watch(&Way::ALL, SECONDS, program).expect("two runs");
    for (way, record) in Way::ALL.iter().zip(&records) {
        let (satisfactions, spread, download) = (record.satisfactions(), record.spread(), record.download());
        println!("{way:?}: satisfied {satisfactions:.3?}, spread {spread:.3}, CUBIC {download:.2} Mb/s");
    }
    let [tfrc, shared] = &records[..] else { panic!("two runs") };
    assert!(shared.spread() < 0.15);
    assert!(shared.download() >= 0.7 * tfrc.download());
}

//! A sweep that is killed at random moments and started again.

use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};

use crate::{python, run, shown};

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let (runs, kills) = settings.pick(("200", "10"), ("60", "2"));
    let job = run(python(&["killed", runs, kills]))?;
    let count = |name| job.number(name).map(|value| (value, Unit::Count.write(value)));
    let (differs, _) = count("differs")?;
    let ((most, batches), (_, twice)) = (count("most")?, count("twice")?);
    let target = |what: &str, most| Target { what: what.into(), bound: Bound::AtMost(most), unit: Unit::Count };
    Ok(Part {
        commands: vec![shown("killed.py RUNS KILLS")],
        text: "**Kills**: a sweep in two processes, of a law in Python, that SIGKILL ends at random moments, and that the same \
               call continues."
            .into(),
        table: grid(["runs", "kills", "runs begun again after all kills", "batches of a worker begun again after one, the most"], &[[
            runs.into(),
            kills.into(),
            twice,
            batches,
        ]]),
        results: vec![
            (target("killed sweeps whose digest is not that of an undisturbed one", 0.0), differs),
            (target("batches that a worker loses to a kill, the most", 1.0), most),
        ],
    })
}

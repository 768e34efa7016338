//! Experiments in TOML: any text gives an experiment or an error, and an experiment that is small enough runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::Run;
use thalweg_lab::scenario::Blueprint;

fuzz_target!(|text: &str| {
    let mut files = |name: &str| match name {
        "../data/steps.trace" => Ok("1\n2\n2\n".to_owned()),
        "../data/frames.csv" => Ok("size\n100\n5000\n0\n".to_owned()),
        name => Err(format!("no file {name}")),
    };
    let blueprint = match Blueprint::parse("lab.toml", text, &[], &mut files) {
        Err(error) => {
            let error = error.to_string();
            assert!(!error.is_empty());
            return;
        }
        Ok(blueprint) => blueprint,
    };
    let experiment = blueprint.experiment(1).expect("what was read once can be read again");
    if experiment.groups.iter().map(|group| group.count).sum::<usize>() > 20 {
        return;
    }
    if let Ok(mut run) = Run::new(&experiment, 1) {
        run.until(Time::ZERO + Span::from_micros(200));
        run.network().conservation().expect("in = out + dropped + queued");
    }
});

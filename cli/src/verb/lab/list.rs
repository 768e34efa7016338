//! `thalweg lab list`: the scenarios that come with Thalweg.

use std::fmt::Write as _;

use super::print;
use super::source::{BUILT_IN, Source, short};
use crate::Failure;

/// List the scenarios that come with Thalweg, and their parameters.
#[derive(clap::Args)]
#[command(after_help = "Example:
  thalweg lab list")]
pub(super) struct Args {}

pub(super) fn run(_: Args) -> Result<(), Failure> {
    let mut text = String::new();
    for (file, _) in BUILT_IN {
        let blueprint = Source::built_in(short(file)).expect("listed").blueprint(&[])?;
        let _ = writeln!(text, "{}: {}", short(file), blueprint.about());
        let parameters = blueprint.parameters().iter();
        let parameters: Vec<String> =
            parameters.map(|parameter| format!("{}={}", parameter.name, parameter.value)).collect();
        let _ =
            writeln!(text, "    {}", if parameters.is_empty() { "no parameters".into() } else { parameters.join(" ") });
    }
    print(&text)
}

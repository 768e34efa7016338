//! `thalweg lab list`: the scenarios that come with Thalweg, or the text of one, to start from.

use std::fmt::Write as _;

use thalweg_workbench::source::{BUILT_IN, Source, known, short};

use super::{failed, print, refused};
use crate::failure::Failure;

/// List the built-in scenarios and their parameters, or print one of them.
///
/// Comments in a scenario describe its parameters; docs/lab.md documents everything that a file can have.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab list
  thalweg lab list dumbbell > my.toml")]
pub(super) struct Args {
    /// Built-in scenario whose file is printed.
    #[arg(value_name = "SCENARIO")]
    scenario: Option<String>,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    match args.scenario {
        Some(name) => {
            let source = Source::built_in(&name)
                .ok_or_else(|| failed(format!("unknown scenario '{name}'; expected one of {}", known())))?;
            print(source.text())
        }
        None => print(&all()?),
    }
}

/// Every scenario with its parameters and their values.
fn all() -> Result<String, Failure> {
    let mut text = String::new();
    for (file, _) in BUILT_IN {
        let blueprint = Source::built_in(short(file)).expect("listed").blueprint(&[]).map_err(refused)?;
        let _ = writeln!(text, "{}: {}", short(file), blueprint.about());
        let parameters = blueprint.parameters().iter();
        let parameters: Vec<String> =
            parameters.map(|parameter| format!("{}={}", parameter.name, parameter.value)).collect();
        let _ =
            writeln!(text, "    {}", if parameters.is_empty() { "no parameters".into() } else { parameters.join(" ") });
    }
    Ok(text)
}

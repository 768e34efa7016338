//! `thalweg doctor`: what this machine offers, and what to change.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::{Map, Value};
use thalweg_net::doctor::{Finding, Grade, examine};

use crate::failure::Failure;

/// Check how well this machine is set up for streams, and show commands that improve it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg doctor
  thalweg doctor --json | jq '.checks[] | select(.grade == \"poor\")'")]
pub(crate) struct Args {
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let mut findings = examine();
    if !cfg!(feature = "kernel") {
        findings.iter_mut().for_each(build_first);
    }
    let mut output = io::stdout().lock();
    let written = if args.json { write_json(&findings, &mut output) } else { write_text(&findings, &mut output) };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("doctor: cannot write standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The command that builds the feature `kernel`, with the page that lists its requirements.
const BUILDING: &str = "cargo install --locked --path cli --features kernel    # requirements: docs/kernel.md";

/// Puts [`BUILDING`] before `kernel load`, which needs a feature that this binary lacks.
fn build_first(finding: &mut Finding) {
    if let Some(at) = finding.fix.iter().position(|fix| fix.starts_with("sudo ") && fix.ends_with(" kernel load")) {
        finding.fix.insert(at, BUILDING.to_owned());
    }
}

#[derive(Serialize)]
struct Check<'a> {
    name: &'a str,
    grade: &'a str,
    found: &'a str,
    measures: Map<String, Value>,
    meaning: &'a str,
    fix: &'a [String],
}

fn write_json(findings: &[Finding], output: &mut impl Write) -> io::Result<()> {
    let checks: Vec<Check<'_>> = findings
        .iter()
        .map(|finding| Check {
            name: finding.name,
            grade: word(finding.grade),
            found: &finding.found,
            measures: finding.measures.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect(),
            meaning: &finding.meaning,
            fix: &finding.fix,
        })
        .collect();
    serde_json::to_writer(&mut *output, &serde_json::json!({ "checks": checks }))?;
    writeln!(output)
}

fn write_text(findings: &[Finding], output: &mut impl Write) -> io::Result<()> {
    let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    for finding in findings {
        let Finding { name, grade, found, meaning, .. } = finding;
        let name = name.replace('_', " ");
        let mark = format!("{:7}", word(*grade));
        let mark = match grade {
            Grade::Good if colour => format!("\x1b[32m{mark}\x1b[0m"),
            Grade::Poor if colour => format!("\x1b[33m{mark}\x1b[0m"),
            _ => mark,
        };
        writeln!(output, "{mark} {name:15} {found}")?;
        if !meaning.is_empty() {
            writeln!(output, "{:23} {meaning}", "")?;
        }
    }
    let fixes: Vec<&String> = findings.iter().flat_map(|finding| &finding.fix).collect();
    if !fixes.is_empty() {
        writeln!(output, "\nTo improve what is poor:")?;
        for fix in &fixes {
            writeln!(output, "  {fix}")?;
        }
    }
    let settings = fixes.iter().filter_map(|fix| fix.strip_prefix("sudo sysctl -w "));
    let settings: Vec<String> = settings.map(|setting| format!("'{setting}'")).collect();
    if !settings.is_empty() {
        let settings = settings.join(" ");
        writeln!(output, "To keep these settings after a restart:")?;
        writeln!(output, "  printf '%s\\n' {settings} | sudo tee /etc/sysctl.d/60-thalweg.conf")?;
    }
    Ok(())
}

fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "good",
        Grade::Poor => "poor",
        Grade::Unknown => "unknown",
    }
}

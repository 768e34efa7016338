//! `[[hop]]`: a link in short form, the elements of both directions, a path file of `thalweg emulate`, or a Wi-Fi cell.

use std::path::Path;

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use toml::Spanned;

use crate::network::Hop;
use crate::node::wire::Wire;
use crate::path::Element;
use crate::scenario::element;
use crate::scenario::fault::Fault;
use crate::scenario::quantity::{Quantity, Queue};
use crate::scenario::section::Section;
use crate::scenario::wifi;
use crate::scenario::{Files, Scenario};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkText {
    rate: Quantity<Rate>,
    queue: Queue,
    delay: Quantity<Span>,
}

pub(super) fn read(mut section: Section<'_>, rng: &Rng, files: &mut Files<'_>) -> Result<Hop, Fault> {
    let span = section.span.clone();
    if let Some(kind) = section.optional::<Spanned<String>>("kind")? {
        return match kind.get_ref().as_str() {
            "wifi" => wifi::hop(section, rng),
            other => Err(Fault::at(&kind.span(), format!("no hop of kind '{other}', expected wifi, or no 'kind'"))),
        };
    }
    if let Some(file) = section.optional::<Spanned<String>>("path")? {
        section.finish("'path' alone")?;
        return path(&file, rng, files);
    }
    let (forward, backward) = (section.sections("forward")?, section.sections("backward")?);
    if forward.is_empty() && backward.is_empty() {
        let LinkText { rate, queue, delay } = section.rest()?;
        if rate.0.as_bps() == 0 {
            return Err(Fault::at(&span, "the rate of a link must be above zero"));
        }
        return Ok(Hop::link(rate.0, queue.0, delay.0));
    }
    section.finish(
        "[[hop.forward]] and [[hop.backward]], or 'rate', 'queue' and 'delay' instead of them, or 'path', or kind = \"wifi\"",
    )?;
    let mut lane = |name: &str, elements: Vec<Section<'_>>| match elements.len() {
        0 => Err(Fault::at(&span, format!("missing [[hop.{name}]]: a hop has elements in both directions"))),
        _ => lane(elements, &rng.fork(name), files),
    };
    Ok(Hop::Lanes { forward: lane("forward", forward)?, backward: lane("backward", backward)? })
}

/// The elements of a path file, which names its own files beside it.
fn path(file: &Spanned<String>, rng: &Rng, files: &mut Files<'_>) -> Result<Hop, Fault> {
    let (name, refused) = (file.get_ref(), |why: String| Fault::at(&file.span(), why));
    let text = files(name).map_err(|why| refused(format!("'{name}' {why}")))?;
    let beside = Path::new(name).parent().unwrap_or(Path::new(""));
    let seed = rng.fork("path").u64();
    let read = Scenario::parse(name, &text, Some(seed), &mut |named| files(&beside.join(named).to_string_lossy()));
    let scenario = read.map_err(|error| refused(error.to_string()))?;
    let crowded = || refused(format!("'{name}' has cross traffic, which is a [[flow]] of an experiment"));
    match scenario.cell {
        Some(_) => Err(refused(format!("'{name}' has a Wi-Fi cell, which is a hop of its own"))),
        None => Ok(Hop::Lanes {
            forward: lone(scenario.forward).ok_or_else(crowded)?,
            backward: lone(scenario.reverse).ok_or_else(crowded)?,
        }),
    }
}

/// The elements of a path without cross traffic; a path without elements delivers everything at once.
fn lone(path: crate::path::Path) -> Option<Vec<Element>> {
    let mut elements = path.into_elements()?;
    if elements.is_empty() {
        elements.push(Wire::new(Span::ZERO).into());
    }
    Some(elements)
}

fn lane(sections: Vec<Section<'_>>, rng: &Rng, files: &mut Files<'_>) -> Result<Vec<Element>, Fault> {
    let mut names = Vec::new();
    let mut elements = Vec::new();
    for mut section in sections {
        let (kind, name) = section.kind_and_name()?;
        if names.contains(&name) {
            let why = format!("a second element named '{name}': give one of them another 'name'");
            return Err(Fault::at(&section.span, why));
        }
        elements.push(element::read(&kind, section, rng.fork(&name), files)?);
        names.push(name);
    }
    Ok(elements)
}

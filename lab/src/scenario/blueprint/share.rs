//! `[share]`: the coupling of the flows that have a need.

use serde::Deserialize;
use thalweg_core::law::rate::share::{Coupling, Norm};
use toml::Spanned;

use crate::experiment::{Group, Kind, Share};
use crate::scenario::fault::Fault;
use crate::scenario::section::Section;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareText {
    coupling: Spanned<String>,
    norm: Option<Spanned<String>>,
}

/// The coupling; none if it is `none`.
pub(super) fn read(section: Section<'_>) -> Result<Option<Share>, Fault> {
    let ShareText { coupling, norm } = section.rest()?;
    let norm = match norm {
        Some(norm) => norm.get_ref().parse().map_err(|why| Fault::at(&norm.span(), format!("norm: {why}")))?,
        None => Norm::default(),
    };
    if coupling.get_ref() == "none" {
        return Ok(None);
    }
    let named = coupling.get_ref().parse::<Coupling>();
    let coupling = named.map_err(|why| Fault::at(&coupling.span(), format!("coupling: {why}, or none")))?;
    Ok(Some(Share { coupling, norm }))
}

/// Gives streams under TFRC that have a need the law that can be set.
pub(super) fn make_gca(groups: &mut [Group]) {
    for group in groups.iter_mut().filter(|group| group.need.is_some()) {
        if let Kind::Tfrc(_, greediness) = &mut group.kind {
            greediness.get_or_insert_default();
        }
    }
}

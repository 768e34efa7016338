//! Cross traffic as scenarios write it.

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use toml::Spanned;

use super::quantity::Quantity;
use super::{Fault, Section};
use crate::path::Traffic;
use crate::traffic::cbr::Cbr;
use crate::traffic::on_off::{Bursts, OnOff};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CbrText {
    rate: Quantity<Rate>,
    packet: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnOffText {
    rate: Quantity<Rate>,
    packet: u16,
    on: Quantity<Span>,
    off: Quantity<Span>,
}

/// The source that `section` describes as one of `kind`.
pub(super) fn read(kind: &Spanned<String>, section: Section<'_>, rng: Rng) -> Result<Traffic, Fault> {
    let span = section.span.clone();
    let refuse = |why: &str| Fault::at(&span, why);
    match kind.get_ref().as_str() {
        "cbr" => {
            let CbrText { rate, packet } = section.rest()?;
            spaced(rate.0, packet).map_err(refuse)?;
            Ok(Cbr::new(rate.0, Bytes(packet.into())).into())
        }
        "on_off" => {
            let OnOffText { rate, packet, on, off } = section.rest()?;
            let gap = spaced(rate.0, packet).map_err(refuse)?;
            if on.0 < gap {
                return Err(refuse("'on' is shorter than the time of one packet at 'rate'"));
            }
            Ok(OnOff::new(Bursts { rate: rate.0, on: on.0, off: off.0, packet: Bytes(packet.into()) }, rng).into())
        }
        other => Err(Fault::at(&kind.span(), format!("no traffic of kind '{other}', expected on_off or cbr"))),
    }
}

/// The time of one packet, which must be long enough for a computer to keep up with.
fn spaced(rate: Rate, packet: u16) -> Result<Span, &'static str> {
    match rate.time_for(Bytes(packet.into())) {
        Span::MAX => Err("traffic of rate zero sends nothing"),
        gap if gap < Span::from_micros(1) => {
            Err("more than a million packets a second: lower 'rate' or raise 'packet'")
        }
        gap => Ok(gap),
    }
}

//! An 802.11g cell and its stations: `kind = "wifi"` of a hop, or `[wifi]` of a path.

use std::net::IpAddr;

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use toml::Spanned;

use super::fault::Fault;
use super::quantity::Quantity;
use super::section::Section;
use crate::network::Hop;
use crate::node::wifi::{Cell, Config, PhyRate, Slot, Station};

/// The maximum number of stations: the association IDs of IEEE Std 802.11-2016, 9.4.1.8.
const MOST_STATIONS: usize = 2007;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CellText {
    slot: Spanned<Quantity<Span>>,
    queue: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StationText {
    name: Spanned<String>,
    rate: Spanned<Quantity<Rate>>,
    #[serde(default = "one")]
    count: Spanned<usize>,
    address: Option<Spanned<String>>,
}

/// A cell, and the addresses of all of its stations or of none.
pub(super) struct Wifi {
    pub(super) cell: Cell,
    pub(super) addresses: Vec<IpAddr>,
}

fn one() -> Spanned<usize> {
    Spanned::new(0..0, 1)
}

/// Reads a hop of kind `wifi`, whose stations have no addresses.
pub(super) fn hop(section: Section<'_>, rng: &Rng) -> Result<Hop, Fault> {
    let span = section.span.clone();
    let Wifi { cell, addresses } = read(section, rng)?;
    match addresses.is_empty() {
        true => Ok(Hop::Cell(Box::new(cell))),
        false => Err(Fault::at(&span, "a station of a hop has no 'address': flows name their station")),
    }
}

/// Reads a cell, whose random draws derive from `rng`.
pub(super) fn read(mut section: Section<'_>, rng: &Rng) -> Result<Wifi, Fault> {
    let span = section.span.clone();
    let described = section.sections("station")?;
    let CellText { slot, queue } = section.rest()?;
    let slot = slot_of(&slot)?;
    let mut stations: Vec<Station> = Vec::new();
    let mut addresses: Vec<IpAddr> = Vec::new();
    for section in described {
        let StationText { name, rate, count, address } = section.rest()?;
        let rate = rate_of(&rate, slot)?;
        if stations.iter().any(|other| base(&other.name) == name.get_ref()) {
            let why = format!("a second station named '{}': give one of them another 'name'", name.get_ref());
            return Err(Fault::at(&name.span(), why));
        }
        if name.get_ref().contains('/') {
            let why = format!("'{}' has a '/', which precedes the number of a station of several", name.get_ref());
            return Err(Fault::at(&name.span(), why));
        }
        if *count.get_ref() == 0 || stations.len().saturating_add(*count.get_ref()) > MOST_STATIONS {
            let why = format!("{} stations, expected 1 to {MOST_STATIONS} in a cell", count.get_ref());
            return Err(Fault::at(&count.span(), why));
        }
        if let Some(text) = address {
            let address = address_of(&text, &addresses)?;
            if *count.get_ref() > 1 {
                return Err(Fault::at(&text.span(), "several stations have no common 'address': describe each"));
            }
            addresses.push(address);
        }
        let name = name.into_inner();
        stations.extend((1..=*count.get_ref()).map(|number| {
            let name = if *count.get_ref() == 1 { name.clone() } else { format!("{name}/{number}") };
            Station { name, rate }
        }));
    }
    if stations.is_empty() {
        return Err(Fault::at(&span, "missing [[...station]]: a cell has one station or more"));
    }
    if !addresses.is_empty() && addresses.len() < stations.len() {
        return Err(Fault::at(&span, "some stations have an 'address' and others have none: give one to all or none"));
    }
    Ok(Wifi { cell: Cell::new(&Config { slot, queue: queue.into(), stations }, rng), addresses })
}

/// The address of a station, which no other has.
fn address_of(text: &Spanned<String>, others: &[IpAddr]) -> Result<IpAddr, Fault> {
    let address = text
        .get_ref()
        .parse()
        .map_err(|_| Fault::at(&text.span(), format!("'{}' is no IP address such as 10.77.0.2", text.get_ref())))?;
    match others.contains(&address) {
        true => Err(Fault::at(&text.span(), format!("a second station with the address {address}"))),
        false => Ok(address),
    }
}

/// The name of a station in its section, which stations of one `count` have in common.
pub(super) fn base(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn slot_of(text: &Spanned<Quantity<Span>>) -> Result<Slot, Fault> {
    match text.get_ref().0.as_micros() {
        20 => Ok(Slot::Long),
        9 => Ok(Slot::Short),
        _ => Err(Fault::at(&text.span(), "expected a slot of \"20us\" or \"9us\"")),
    }
}

fn rate_of(text: &Spanned<Quantity<Rate>>, slot: Slot) -> Result<PhyRate, Fault> {
    let fault = |why: String| Fault::at(&text.span(), why);
    let rate = text.get_ref().0;
    let found = PhyRate::of(rate).ok_or_else(|| {
        fault(format!("{rate} is no rate of 802.11g, expected 1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48 or 54mbit"))
    })?;
    match (found.is_dsss(), slot) {
        (true, Slot::Short) => Err(fault(format!("a station of {rate} has no slots of 9us: set slot = \"20us\""))),
        _ => Ok(found),
    }
}

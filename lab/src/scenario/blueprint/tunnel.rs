//! `kind = "tunnel"`: bursts, bulk or recorded writes through a tunnel.

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::session::tunnel::Config;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use toml::Spanned;

use crate::end::bytes::{LONGEST, SHORTEST, Writes};
use crate::end::tunnel::{Cipher, Parameters};
use crate::experiment::Kind;
use crate::scenario::Files;
use crate::scenario::element::load;
use crate::scenario::fault::Fault;
use crate::scenario::quantity::{Quantity, bytes};
use crate::scenario::section::Section;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TunnelText {
    rate: Option<Spanned<String>>,
    max_rate: Option<Spanned<Quantity<Rate>>>,
    schedule: Option<Spanned<String>>,
    cipher: Option<Spanned<String>>,
    max_overhead: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BurstsText {
    burst: Spanned<String>,
    every: Spanned<Quantity<Span>>,
    write: Option<Spanned<usize>>,
    waits: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BulkText {
    write: Option<Spanned<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogText {
    file: Spanned<String>,
}

const TRAFFIC: &str = "bursts, bulk or log";
const CIPHERS: &str = "aes or none";

/// The length of a write without `write`, in bytes: that of the FEC-ARQ paper.
const WRITE: usize = 1_000;
/// The maximum length of a burst, in bytes.
const LARGEST_BURST: u64 = 1 << 30;
/// The shortest interval of bursts, that of a write too many for a computer.
const SHORTEST_INTERVAL: Span = Span::from_micros(1);

pub(super) fn read(mut section: Section<'_>, files: &mut Files<'_>) -> Result<Kind, Fault> {
    let span = section.span.clone();
    let traffic = section.section("traffic")?.ok_or_else(|| Fault::at(&span, "missing 'traffic'"))?;
    let writes = writes(traffic, files)?;
    let text: TunnelText = section.rest()?;
    let mut config = Config::default();
    if let Some(rate) = &text.rate {
        config.rate = rate.get_ref().parse().map_err(|why| refused(rate, "rate", &why))?;
    }
    config.max_rate = text.max_rate.as_ref().map(|rate| rate.get_ref().0);
    config.max_overhead = text.max_overhead.unwrap_or(config.max_overhead);
    if let Some(schedule) = &text.schedule {
        config.schedule = schedule.get_ref().parse().map_err(|why| refused(schedule, "schedule", &why))?;
    }
    let cipher = match text.cipher.as_ref().map(|cipher| (cipher, cipher.get_ref().as_str())) {
        None | Some((_, "aes")) => Cipher::Aes,
        Some((_, "none")) => Cipher::None,
        Some((cipher, other)) => {
            return Err(Fault::at(&cipher.span(), format!("no cipher '{other}', expected {CIPHERS}")));
        }
    };
    let tunnel = Parameters { config, cipher, writes };
    let at = text.rate.as_ref().map_or_else(|| span.clone(), Spanned::span);
    tunnel.check().map_err(|why| Fault::at(&at, why))?;
    Ok(Kind::Tunnel(tunnel))
}

fn refused(law: &Spanned<String>, key: &str, why: &ParameterError) -> Fault {
    Fault::at(&law.span(), format!("{key}: {why}"))
}

/// The data that `traffic` describes.
fn writes(mut section: Section<'_>, files: &mut Files<'_>) -> Result<Writes, Fault> {
    let kind: Spanned<String> = section.require("kind")?;
    match kind.get_ref().as_str() {
        "bursts" => {
            let BurstsText { burst, every, write, waits } = section.rest()?;
            let length = bytes(burst.get_ref()).filter(|length| (1..=LARGEST_BURST).contains(&length.0));
            let length = length.ok_or_else(|| {
                let why = format!("'{}', expected 1 to {LARGEST_BURST} bytes such as \"10kB\"", burst.get_ref());
                Fault::at(&burst.span(), why)
            })?;
            if every.get_ref().0 < SHORTEST_INTERVAL {
                let why = format!("bursts every {}, expected at least {SHORTEST_INTERVAL}", every.get_ref().0);
                return Err(Fault::at(&every.span(), why));
            }
            let (every, waits) = (every.into_inner().0, waits.unwrap_or(true));
            Ok(Writes::Bursts { burst: length, every, write: length_of(write)?, waits })
        }
        "bulk" => {
            let BulkText { write } = section.rest()?;
            Ok(Writes::Bulk { write: length_of(write)? })
        }
        "log" => {
            let LogText { file } = section.rest()?;
            load(&file, files, Writes::parse)
        }
        other => Err(Fault::at(&kind.span(), format!("no traffic of kind '{other}', expected {TRAFFIC}"))),
    }
}

/// The length of a write.
fn length_of(write: Option<Spanned<usize>>) -> Result<usize, Fault> {
    let Some(write) = write else { return Ok(WRITE) };
    match *write.get_ref() {
        length if (SHORTEST..=LONGEST).contains(&length) => Ok(length),
        length => {
            let why = format!("writes of {length} bytes, expected {SHORTEST} to {LONGEST}");
            Err(Fault::at(&write.span(), why))
        }
    }
}

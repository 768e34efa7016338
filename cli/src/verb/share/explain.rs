//! `thalweg share --explain`: the parameters and the rates that a model of the path predicts.

use std::collections::BTreeMap;

use thalweg_core::law::rate::fse;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::share::link::{self, Flow};
use thalweg_core::law::rate::share::{Coupling, LEAST, MOST, Need, multipliers};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate, Seconds};
use thalweg_net::endpoint::{Plan, Planned};

use crate::failure::Failure;

/// The size of a packet of seven packets of MPEG-TS, with RTP, UDP and IPv4 headers.
const PACKET: Bytes = Bytes(1316 + 12 + 8 + 20);

/// Prints a table for the streams of each group, alone on a path.
pub(super) fn print(plan: &Plan, capacity: Rate, rtt: Span) -> Result<(), Failure> {
    let mut groups: BTreeMap<&str, Vec<&Planned>> = BTreeMap::new();
    for stream in &plan.streams {
        groups.entry(&stream.group).or_default().push(stream);
    }
    println!(
        "expected on a path of {capacity} and {rtt}, where all streams have the same loss event rate; headers included"
    );
    for (group, streams) in groups {
        if streams.len() < plan.streams.len() {
            println!("\ngroup {group}");
        }
        let refused = |error| Failure::Usage(format!("share: --explain: {error}"));
        print!("{}", table(plan, &streams, capacity, rtt).map_err(refused)?);
    }
    Ok(())
}

fn table(
    plan: &Plan,
    streams: &[&Planned],
    capacity: Rate,
    rtt: Span,
) -> Result<String, thalweg_core::law::ParameterError> {
    let bps = |rate: Rate| rate.as_bps() as f64;
    let needs: Vec<Need> = streams.iter().map(|stream| Need::alone(bps(stream.need))).collect();
    let wanted = multipliers(&needs, plan.norm)?;
    let greediness = |wanted: &f64| match plan.coupling {
        Coupling::Rfc8699 => Ok(Greediness::default()),
        Coupling::Fixed | Coupling::Measured => Greediness::times(wanted.clamp(LEAST, MOST)),
    };
    let greediness = wanted.iter().map(greediness).collect::<Result<Vec<_>, _>>()?;
    let flow = |(stream, greediness): (&&Planned, &Greediness)| Flow {
        segment: PACKET,
        rtt: Seconds::from(rtt),
        greediness: *greediness,
        cap: Some(bps(stream.most) / 8.0),
    };
    let flows: Vec<Flow> = streams.iter().zip(&greediness).map(flow).collect();
    let rates: Vec<f64> = match plan.coupling {
        Coupling::Rfc8699 => {
            let flows: Vec<_> = streams.iter().map(|stream| (bps(stream.need), stream.most)).collect();
            fse::shares(capacity, &flows).into_iter().map(bps).collect()
        }
        Coupling::Fixed | Coupling::Measured => {
            link::share(bps(capacity) / 8.0, &flows)?.x.into_iter().map(|x| 8.0 * x).collect()
        }
    };
    let mut text = format!("{:<16}{:>12}{:>8}{:>12}{:>15}\n", "stream", "need", "alpha", "rate", "satisfaction");
    for (nth, stream) in streams.iter().enumerate() {
        let need = bps(stream.need);
        text += &format!(
            "{:<16}{:>7.2} Mb/s{:>8.2}{:>7.2} Mb/s{:>14.0}%\n",
            stream.name,
            need / 1e6,
            greediness[nth].alpha(),
            rates[nth] / 1e6,
            100.0 * rates[nth] / need
        );
    }
    Ok(text)
}

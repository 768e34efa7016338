//! The constants of the evaluation's streams, and their sources.

use thalweg_core::law::redundancy::Law;
use thalweg_core::law::redundancy::{dp_fec, geneva};
use thalweg_lab::experiment::{Kind, Stream};
use thalweg_lab::scenario::Error;
use thalweg_lab::stream::scheme;

use super::condition::{Condition, Scheme, Setting};
use super::plan::{Job, Plan};

/// A constant in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The name in the paper.
    pub name: &'static str,
    /// The value with its unit.
    pub value: String,
    /// The source of the value.
    pub source: &'static str,
}

/// The constants of the media, of GENEVA and of DP-FEC's stand-in, taken from the experiments of `plan` themselves.
///
/// # Errors
/// As for [`Plan::blueprint`].
pub fn in_use(plan: &Plan) -> Result<Vec<Constant>, Error> {
    let geneva = streams(plan, Scheme::GenevaInteger)?;
    let mut constants = media(&geneva);
    for stream in geneva.iter().chain(&streams(plan, Scheme::DpFec)?) {
        let of_scheme = match &stream.scheme {
            scheme::Scheme::Blocks(Law::Geneva(law)) => of_geneva(law.parameters()),
            scheme::Scheme::Blocks(Law::DpFec(law)) => of_dp_fec(law.parameters()),
            _ => Vec::new(),
        };
        // All streams of a scheme have the same constants.
        constants.extend(of_scheme.into_iter().filter(|it| !constants.contains(it)).collect::<Vec<_>>());
    }
    Ok(constants)
}

/// The streams of the condition that has all media rates.
fn streams(plan: &Plan, scheme: Scheme) -> Result<Vec<Stream>, Error> {
    let job = Job { condition: Condition::MixedRates, setting: Setting::CHOSEN, scheme, seed: 1 };
    let groups = plan.blueprint(&job)?.experiment(job.seed)?.groups.into_iter();
    let streams = groups.filter_map(|group| if let Kind::Stream(stream) = group.kind { Some(stream) } else { None });
    Ok(streams.collect())
}

const fn constant(name: &'static str, value: String, source: &'static str) -> Constant {
    Constant { name, value, source }
}

fn media(streams: &[Stream]) -> Vec<Constant> {
    let all = |of: fn(&Stream) -> String| {
        let mut values: Vec<String> = Vec::new();
        for value in streams.iter().map(of) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.join(", ")
    };
    let k = |stream: &Stream| {
        let packets =
            stream.media.rate.as_bps() as f64 * stream.syn.as_secs_f64() / (8.0 * stream.media.packet.0 as f64);
        format!("{packets} at {}", stream.media.rate)
    };
    vec![
        constant("packet size", all(|stream| format!("{} bytes", stream.media.packet.0)), "§4.1, headers included"),
        constant("SYN, a block and from report to report", all(|stream| stream.syn.to_string()), "§3.2.1"),
        constant("k, source packets of a block", all(k), "§3.2.2: rate x SYN / packet size"),
    ]
}

fn of_geneva(parameters: &geneva::Parameters) -> Vec<Constant> {
    // `k` and `syn` are computed from the stream.
    let geneva::Parameters { k: _, syn: _, a, b, p_max, alpha, fwnd_min, fwnd_max, i_low, state: _, f } = parameters;
    vec![
        constant("a, scale of W", a.to_string(), "§3.2.4, of Eq. (2)"),
        constant("b, off W for each delivery", b.to_string(), "§3.2.4, of Eq. (5)"),
        constant("p_max, the loss that is tolerated", p_max.to_string(), "§3.2.4, of Eq. (2)"),
        constant("alpha, weight of the old ERTT", alpha.to_string(), "§3.2.4, of §3.2.2"),
        constant("ERTT before the first sample", "the first sample".into(), "ours: the paper does not say"),
        constant("least Fwnd", format!("{fwnd_min} packets"), "§3.2.4"),
        constant("largest Fwnd", format!("{fwnd_max} packets"), "§3.2.4"),
        constant("first Fwnd", format!("{f} packets"), "ours: the least, since nothing is known yet"),
        constant("i(W) while W is small", format!("{i_low} packets"), "§3.2.4"),
        constant(
            "W from which Eq. (8) holds",
            format!("{} packets", parameters.w0()),
            "§3.2.4; ceil(a / (p_max - 1.5 b^2))",
        ),
        constant("fraction of Fwnd", "dropped (integer state) or kept (real state)".into(), "the paper does not say"),
    ]
}

fn of_dp_fec(parameters: &dp_fec::Parameters) -> Vec<Constant> {
    let dp_fec::Parameters { fwnd_min, fwnd_max, every, keep, gain, threshold, alpha } = parameters;
    let value = format!(
        "Fwnd {fwnd_min} to {fwnd_max}, one more every {every} reports, half above an impact of {threshold}; {keep} intervals \
         against a mean of gain {gain}; alpha {alpha}"
    );
    vec![constant("DP-FEC's stand-in", value, "ours: the paper only outlines it (§5)")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_in_use_are_those_of_the_paper() {
        let constants = in_use(&Plan::paper()).expect("the paper's plan");
        let value = |name: &str| {
            let found: Vec<_> = constants.iter().filter(|constant| constant.name.starts_with(name)).collect();
            assert_eq!(found.len(), 1, "{name}");
            found[0].value.clone()
        };
        for (name, printed) in [
            ("packet size", "1500 bytes"),
            ("SYN", "10ms"),
            ("k,", "25 at 30mbit, 50 at 60mbit, 75 at 90mbit"),
            ("a,", "2"),
            ("b,", "0.04"),
            ("p_max", "0.03"),
            ("alpha", "0.9"),
            ("least Fwnd", "8 packets"),
            ("largest Fwnd", "60 packets"),
            ("i(W)", "10 packets"),
            ("W from", "73 packets"),
        ] {
            assert_eq!(value(name), printed, "{name}");
        }
    }
}

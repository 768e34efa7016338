//! Lines of JSON.

use serde_json::{Map, Value, json};
use thalweg_lab::experiment::Place;

use crate::campaign::Finished;
use crate::intervals::Reading;

/// The quantities of a run of a scheme.
pub(crate) fn object(scheme: &str, run: &Finished, names: impl Iterator<Item = &'static str>) -> Value {
    let mut object = Map::new();
    object.insert("scheme".to_owned(), scheme.into());
    object.insert("seed".to_owned(), run.seed.into());
    object.extend(names.map(|name| (name.to_owned(), run.value(name).into())));
    Value::Object(object)
}

/// A reading of a flow or of a hop.
pub(crate) fn object_of(reading: &Reading<'_>) -> Value {
    let Reading { at, place, group, probe, value } = *reading;
    let at = at.as_secs_f64();
    match place {
        Place::Flow(flow, end) => {
            json!({ "t_s": at, "flow": flow, "group": group, "end": end.to_string(), "probe": probe, "value": value })
        }
        // Scenarios count hops from 1.
        Place::Hop(hop, direction) => {
            json!({ "t_s": at, "hop": hop + 1, "way": direction.to_string(), "probe": probe, "value": value })
        }
    }
}

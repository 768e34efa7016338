//! Grids of values.

use std::collections::BTreeSet;

use crate::error::Error;

/// All combinations of values, of which the last parameter's vary first.
///
/// # Errors
/// [`Error::Parameter`] if a parameter is given twice, or a value of one, or one has none.
pub fn grid(over: &[(String, Vec<String>)]) -> Result<Vec<Vec<(String, String)>>, Error> {
    let mut points = vec![Vec::new()];
    let mut names = BTreeSet::new();
    for (name, values) in over {
        if !names.insert(name) {
            return Err(Error::Parameter(format!("'{name}' is given twice")));
        }
        let mut distinct = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !distinct.insert(*value)) {
            return Err(Error::Parameter(format!("{name}: '{twice}' is given twice")));
        }
        if values.is_empty() {
            return Err(Error::Parameter(format!("{name}: expected one value or more")));
        }
        let with = |point: &Vec<_>| {
            let point = point.clone();
            values.iter().map(move |value| [&point[..], &[(name.clone(), value.clone())]].concat())
        };
        points = points.iter().flat_map(with).collect();
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(name: &str, values: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let points = grid(&[over("a", &["1", "2"]), over("b", &["x", "y", "z"])]).expect("no value twice");
        let texts: Vec<String> =
            points.iter().map(|point| point.iter().map(|(_, value)| value.as_str()).collect()).collect();
        assert_eq!(texts, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(grid(&[]).expect("a point"), [[]]);
        for wrong in [vec![over("a", &["1", "1"])], vec![over("a", &["1"]), over("a", &["2"])], vec![over("a", &[])]] {
            assert!(matches!(grid(&wrong), Err(Error::Parameter(_))), "{wrong:?}");
        }
    }
}

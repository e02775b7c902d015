//! Selection of the schemes to compare.

use super::ComparisonError;
use crate::{Family, Scheme};

/// The largest number of values in a sweep.
const MOST: usize = 64;

/// Returns the named schemes, or the default ones, and those of the sweeps.
///
/// Names are separated by commas. A sweep varies one setting of the named schemes of a family, or of a scheme
/// with default settings if none is named: `tmbp.entries=64..2048` doubles it each time, `dmtf.mtf2=4,8,16`
/// is a list.
///
/// # Errors
///
/// If there is no such scheme, or if a sweep cannot be understood.
pub fn chosen(names: &[String], sweeps: &[String]) -> Result<Vec<Scheme>, ComparisonError> {
    let named: Vec<Scheme> = names
        .iter()
        .flat_map(|names| split(names))
        .map(|name| match name.split('+').next() {
            Some("ETMv4" | "PTM") => Err(ComparisonError::ArmScheme(name.into())),
            _ => Ok(name.parse()?),
        })
        .collect::<Result<_, ComparisonError>>()?;
    let mut schemes = if named.is_empty() { Scheme::defaults() } else { named.clone() };
    for sweep in sweeps {
        for scheme in swept(sweep, &named)? {
            if !schemes.contains(&scheme) {
                schemes.push(scheme);
            }
        }
    }
    Ok(schemes)
}

/// Splits at commas that are not inside parentheses.
fn split(names: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = names.split(|c: char| {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        c == ',' && depth <= 0
    });
    parts.map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Varies those of the named schemes that belong to the family, or if none is named at all, the family's own choice.
fn swept(sweep: &str, named: &[Scheme]) -> Result<Vec<Scheme>, ComparisonError> {
    let wrong = |what: String| ComparisonError::Sweep { sweep: sweep.into(), what };
    let (path, values) = sweep.split_once('=').ok_or_else(|| wrong("no values".into()))?;
    let (family, key) = path.split_once('.').ok_or_else(|| wrong("no setting".into()))?;
    let values = match values.split_once("..") {
        Some((from, to)) => doubled(from, to).ok_or_else(|| {
            wrong(format!("{values} is not a range from a number above 0 to a larger one"))
        })?,
        None => values.split(',').map(str::to_owned).collect(),
    };
    if values.len() > MOST {
        return Err(wrong(format!("{} values are too many", values.len())));
    }
    let bases: Vec<Scheme> = match Family::named(family) {
        Some(family) if named.is_empty() => family.swept(key).parse().into_iter().collect(),
        _ => named.iter().filter(|scheme| scheme.family().name == family).cloned().collect(),
    };
    if bases.is_empty() {
        return Err(wrong(format!("no scheme belongs to the family `{family}`")));
    }
    let mut schemes = Vec::new();
    for base in bases {
        for value in &values {
            schemes.push(base.with(key, value).map_err(|error| wrong(error.to_string()))?);
        }
    }
    Ok(schemes)
}

/// The values from one number to another, doubled each time.
fn doubled(from: &str, to: &str) -> Option<Vec<String>> {
    let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
    // Doubling zero would never end.
    if from == 0 || from > to {
        return None;
    }
    let values = std::iter::successors(Some(from), |value| value.checked_mul(2));
    Some(values.take_while(|value| *value <= to).map(|value| value.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(schemes: &[&str], sweeps: &[&str]) -> Result<Vec<String>, String> {
        let owned =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let chosen = chosen(&owned(schemes), &owned(sweeps)).map_err(|error| error.to_string())?;
        Ok(chosen.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn commas_within_names_do_not_separate() {
        assert_eq!(
            names(&["eDMTF(192,4), bTMBP[ras=2,ibtb=0],BASE", "NEXS"], &[]).unwrap(),
            ["eDMTF(192,4)", "bTMBP[ras=2,ibtb=0]", "BASE", "NEXS"]
        );
    }

    #[test]
    fn sweeps() {
        assert_eq!(
            names(&["tTMBP", "BASE"], &["tmbp.entries=64..300"]).unwrap(),
            ["tTMBP", "BASE", "tTMBP[entries=64]", "tTMBP[entries=128]", "tTMBP[entries=256]"]
        );
        let all = names(&[], &["dmtf.mtf2=4,16"]).unwrap();
        assert!(all.contains(&"eDMTF(192,4)[mtf2=16]".into()), "{all:?}");
        for wrong in
            ["tmbp", "tmbp=4", "x.y=4", "tmbp.entries=0..4", "tmbp.entries=8..4", "tmbp.x=4"]
        {
            assert!(names(&[], &[wrong]).is_err(), "{wrong}");
        }
    }
}

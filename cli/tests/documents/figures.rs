//! Figures that a document repeats from another, generated one.

use hartrace_encoder_hdl::Config;
use libtest_mimic::Failed;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The README's table of encoders ends with LUT, FF and MHz of `docs/area.md`, for every encoder there. Compressors are not
/// encoders.
pub(crate) fn area(root: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(root.join("docs/area.md"))?;
    let mut measured = BTreeMap::new();
    for cells in rows(&text) {
        if let [name, lut, _, ff, _, _, median, _] = cells[..]
            && let Ok(median) = median.parse::<f64>()
            && Config::named(name).is_some()
        {
            measured.insert(name, format!("{lut} {ff} {median:.1}"));
        }
    }
    let text = fs::read_to_string(root.join("README.md"))?;
    let mut said = BTreeMap::new();
    for cells in rows(&text) {
        if let [name, .., lut, ff, median] = cells[..] {
            let name = name.trim_matches('`');
            if measured.contains_key(name) {
                said.insert(name, format!("{lut} {ff} {median}"));
            }
        }
    }
    if measured.is_empty() || measured != said {
        return Err(format!("docs/area.md has {measured:?}, README.md {said:?}").into());
    }
    Ok(())
}

/// The cells of every table row.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| row.split('|').map(str::trim).collect())
}

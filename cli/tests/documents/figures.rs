//! Figures that a document repeats from another, generated one.

use libtest_mimic::Failed;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The README's table of encoders ends with LUT, FF and MHz of `docs/area.md`, for every encoder that is measured as a whole there:
/// those of `te_top`, then those of its connector.
pub(crate) fn area(root: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(root.join("docs/area.md"))?;
    let mut parts = BTreeMap::new();
    for cells in rows(&text) {
        if let [name, lut, _, ff, _, _, median, _] = cells[..]
            && let Some((module, config)) = name.split_once(" of ")
            && let Ok(median) = median.parse::<f64>()
        {
            parts.insert((config, module), (lut, ff, median));
        }
    }
    let mut measured = BTreeMap::new();
    for (&(config, module), &(lut, ff, median)) in &parts {
        if module == "te_top" {
            let connector = parts.get(&(config, "cva6_te_connector"));
            let &(more_lut, more_ff, other) =
                connector.ok_or_else(|| format!("no connector of {config}"))?;
            let figures = [
                format!("{lut} + {more_lut}"),
                format!("{ff} + {more_ff}"),
                format!("{median:.1}, {other:.1}"),
            ];
            measured.insert(config, figures);
        }
    }
    let text = fs::read_to_string(root.join("README.md"))?;
    let mut said = BTreeMap::new();
    for cells in rows(&text) {
        if let [name, .., lut, ff, median] = cells[..] {
            let name = name.trim_matches('`');
            if measured.contains_key(name) {
                said.insert(name, [lut, ff, median].map(str::to_owned));
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

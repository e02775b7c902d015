//! Differences between two reports.

use crate::{Area, Cells, Report, Timing};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Differences between two reports. Prints as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Reasons why the figures cannot be compared, if there are any.
    pub incomparable: Vec<String>,
    /// Figures that changed, and those that only one of the two has.
    pub changes: Vec<Change>,
}

/// A figure that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its name: `te_core LUT`, `ECP5 median MHz`.
    pub figure: String,
    /// Its old value, if there is one.
    pub old: Option<f64>,
    /// Its new value, if there is one.
    pub new: Option<f64>,
}

/// Compares two reports. A part that one of them does not have (area, timing) is left out.
#[must_use]
pub fn compare(old: &Report, new: &Report) -> Comparison {
    let mut incomparable = Vec::new();
    let mut same = |what: &str, old: Option<&str>, new: Option<&str>| {
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            incomparable.push(format!("{what}: {old}, now {new}"));
        }
    };
    same("module", Some(&old.title()), Some(&new.title()));
    same("yosys", old.tools.yosys.as_deref(), new.tools.yosys.as_deref());
    same("nextpnr", old.tools.nextpnr.as_deref(), new.tools.nextpnr.as_deref());
    let (mut before, mut after) = (Figures::default(), Figures::default());
    if let (Some(old), Some(new)) = (&old.area, &new.area) {
        same("synthesis", Some(&old.synthesis), Some(&new.synthesis));
        before.area(old);
        after.area(new);
    }
    if let (Some(old), Some(new)) = (&old.timing, &new.timing) {
        same("device", Some(&old.device), Some(&new.device));
        let seeds = |timing: &Timing| format!("{} seeds", timing.placements.len());
        same("placements", Some(&seeds(old)), Some(&seeds(new)));
        before.timing(old);
        after.timing(new);
    }
    Comparison { incomparable, changes: before.changes(&after) }
}

/// Compares the reports of two files, which have these names; returns a text, and whether all are the same.
#[must_use]
pub fn compare_all(old: &[Report], new: &[Report], names: &[String; 2]) -> (String, bool) {
    let (mut text, mut same) = (String::new(), true);
    let mut left: Vec<&Report> = new.iter().collect();
    for old in old {
        let title = old.title();
        match left.iter().position(|new| new.title() == title) {
            Some(at) => {
                let changes = compare(old, left.remove(at));
                text += &format!("{title}\n{changes}\n");
                same &= changes.is_empty();
            }
            None => {
                text += &format!("{title}: only in {}\n", names[0]);
                same = false;
            }
        }
    }
    for new in left {
        text += &format!("{}: only in {}\n", new.title(), names[1]);
        same = false;
    }
    (text, same)
}

impl Comparison {
    /// Whether the reports are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.incomparable.is_empty() && self.changes.is_empty()
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for reason in &self.incomparable {
            writeln!(f, "not comparable, {reason}")?;
        }
        if self.changes.is_empty() {
            return writeln!(f, "no figure changed");
        }
        let width = self.changes.iter().map(|change| change.figure.len()).max().unwrap_or(0);
        writeln!(f, "{:width$} {:>9} {:>9}", "figure", "old", "new")?;
        let show = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
        for change in &self.changes {
            let Change { figure, old, new } = change;
            write!(f, "{figure:width$} {:>9} {:>9}", show(*old), show(*new))?;
            match (old, new) {
                (Some(old), Some(new)) if *old != 0.0 => {
                    writeln!(f, " {:>+7.1} %", (new - old) / old * 100.0)?;
                }
                _ => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// The figures of a report by name, in the order in which they print.
#[derive(Debug, Default)]
struct Figures {
    order: Vec<String>,
    values: BTreeMap<String, f64>,
}

impl Figures {
    fn add(&mut self, name: String, value: f64) {
        if self.values.insert(name.clone(), value).is_none() {
            self.order.push(name);
        }
    }

    fn cells(&mut self, of: &str, cells: &Cells) {
        // Counts of cells are far below 2^53.
        for (name, count) in cells.figures() {
            self.add(format!("{of} {name}"), count as f64);
        }
        for (name, count) in &cells.other {
            self.add(format!("{of} {name}"), *count as f64);
        }
    }

    fn area(&mut self, area: &Area) {
        self.cells("flattened", &area.flat);
        if let Some(levels) = area.flat_levels {
            self.add("flattened levels".to_owned(), levels as f64);
        }
        self.cells("sum of modules", &area.hierarchy);
        for module in &area.modules {
            let name = &module.name;
            self.add(format!("{name} instances"), module.instances as f64);
            self.cells(name, &module.cells);
            if let Some(levels) = module.levels {
                self.add(format!("{name} levels"), levels as f64);
            }
        }
    }

    fn timing(&mut self, timing: &Timing) {
        self.add("ECP5 median MHz".to_owned(), timing.median_mhz);
        self.add("ECP5 best MHz".to_owned(), timing.best_mhz);
        for (kind, count) in &timing.cells {
            self.add(format!("ECP5 {kind}"), *count as f64);
        }
    }

    fn changes(&self, new: &Self) -> Vec<Change> {
        let added = new.order.iter().filter(|name| !self.values.contains_key(*name));
        let change = |figure: &String| {
            let (old, new) = (self.values.get(figure).copied(), new.values.get(figure).copied());
            (old != new).then(|| Change { figure: figure.clone(), old, new })
        };
        self.order.iter().chain(added).filter_map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModuleArea, ToolVersions};

    fn report(lut: u64) -> Report {
        let cells = Cells { lut, ..Cells::default() };
        let module = ModuleArea {
            name: "m".to_owned(),
            instances: 1,
            cells: cells.clone(),
            levels: Some(3),
        };
        let area = Area {
            synthesis: "synth".to_owned(),
            flat: Cells { lut: 5, ..Cells::default() },
            flat_levels: None,
            hierarchy: cells,
            modules: vec![module],
        };
        let tools = ToolVersions { yosys: Some("0.70".to_owned()), nextpnr: None };
        let (config, source) = (None, "00000000".to_owned());
        Report { config, top: "m".to_owned(), source, tools, area: Some(area), timing: None }
    }

    #[test]
    fn growth_is_told() {
        assert!(compare(&report(10), &report(10)).is_empty());
        let text = compare(&report(10), &report(12)).to_string();
        assert_eq!(
            text,
            "\
figure                   old       new
sum of modules LUT        10        12   +20.0 %
m LUT                     10        12   +20.0 %
"
        );
    }

    #[test]
    fn modules_come_and_go() {
        let (old, mut new) = (report(10), report(10));
        if let Some(area) = &mut new.area {
            area.modules[0].name = "n".to_owned();
        }
        let comparison = compare(&old, &new);
        let lut = |name: &str| {
            let figure = format!("{name} LUT");
            let change = comparison.changes.iter().find(|change| change.figure == figure).unwrap();
            (change.old, change.new)
        };
        assert_eq!((lut("m"), lut("n")), ((Some(10.0), None), (None, Some(10.0))));
    }

    #[test]
    fn other_versions_do_not_compare() {
        let mut new = report(10);
        new.tools.yosys = Some("0.71".to_owned());
        let comparison = compare(&report(10), &new);
        assert!(!comparison.is_empty());
        assert!(comparison.to_string().contains("not comparable, yosys: 0.70, now 0.71"));
    }

    #[test]
    fn reports_survive_as_json() {
        let report = report(10);
        assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
        assert!(Report::from_json("{}").is_err());
    }
}

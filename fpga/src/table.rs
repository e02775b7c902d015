//! Reports as tables.

use crate::{Area, Cells, Report, Timing};
use std::fmt::{self, Display, Formatter};

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.title())?;
        let versions = [("yosys", &self.tools.yosys), ("nextpnr", &self.tools.nextpnr)];
        for (tool, version) in versions {
            if let Some(version) = version {
                write!(f, ", {tool} {version}")?;
            }
        }
        writeln!(f)?;
        if let Some(area) = &self.area {
            write!(f, "\n{area}")?;
        }
        if let Some(timing) = &self.timing {
            write!(f, "\n{timing}")?;
        }
        Ok(())
    }
}

impl Display for Area {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "UltraScale+, {}", self.synthesis)?;
        let mut rows = Vec::new();
        for module in &self.modules {
            let name = match module.instances {
                1 => module.name.clone(),
                count => format!("{} (each of {count})", module.name),
            };
            rows.push((name, &module.cells, levels(module.levels)));
        }
        rows.push(("sum of modules".to_owned(), &self.hierarchy, String::new()));
        rows.push(("flattened".to_owned(), &self.flat, levels(self.flat_levels)));
        let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        write!(f, "{:width$}", "module")?;
        for (name, _) in self.flat.figures() {
            write!(f, " {name:>6}")?;
        }
        writeln!(f, " levels")?;
        for (name, cells, levels) in rows {
            write!(f, "{name:width$}")?;
            for (_, count) in cells.figures() {
                write!(f, " {count:>6}")?;
            }
            writeln!(f, " {levels:>6}{}", others(cells))?;
        }
        Ok(())
    }
}

fn levels(levels: Option<u64>) -> String {
    levels.map_or_else(|| "loop".to_owned(), |levels| levels.to_string())
}

fn others(cells: &Cells) -> String {
    cells.other.iter().map(|(kind, count)| format!("  {count} {kind}")).collect()
}

impl Display for Timing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "ECP5 ({}), placed and routed", self.device)?;
        let seeds: Vec<String> = self.placements.iter().map(|p| format!("{:.2}", p.mhz)).collect();
        let (median, best) = (self.median_mhz, self.best_mhz);
        writeln!(f, "median {median:.2} MHz, best {best:.2} MHz ({})", seeds.join(", "))?;
        let cells: Vec<String> =
            self.cells.iter().filter(|c| *c.1 > 0).map(|(kind, n)| format!("{n} {kind}")).collect();
        writeln!(f, "without harness: {}", cells.join(", "))?;
        let path = &self.critical_path;
        writeln!(
            f,
            "critical path: {:.2} ns, {:.2} ns of it wires, {} cells",
            path.ns, path.routing_ns, path.cells
        )?;
        writeln!(f, "      ns cells")?;
        writeln!(f, "    0.00     - {}", path.from)?;
        for step in &path.steps {
            writeln!(f, "  {:6.2} {:5} {}", step.ns, step.cells, step.at)?;
        }
        writeln!(f, "  {:6.2}     - {}", path.ns, path.to)
    }
}

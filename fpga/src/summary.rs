//! A summary of several reports.

use crate::{Area, Report, Timing};

/// A column of [`summary`]: its heading, and the entry for a report.
type Column = (&'static str, fn(&Report) -> Option<String>);

const COLUMNS: [Column; 8] = [
    ("", |report| Some(report.config.clone().unwrap_or_else(|| report.top.clone()))),
    ("LUT", |report| area(report, |area| area.flat.lut)),
    ("LUTRAM", |report| area(report, |area| area.flat.lut_ram)),
    ("FF", |report| area(report, |area| area.flat.ff)),
    ("BRAM18", |report| area(report, |area| area.flat.bram18)),
    ("levels", |report| report.area.as_ref()?.flat_levels.map(|levels| levels.to_string())),
    ("MHz, median", |report| mhz(report, |timing| timing.median_mhz)),
    ("MHz, best", |report| mhz(report, |timing| timing.best_mhz)),
];

fn area(report: &Report, figure: fn(&Area) -> u64) -> Option<String> {
    report.area.as_ref().map(|area| figure(area).to_string())
}

fn mhz(report: &Report, figure: fn(&Timing) -> f64) -> Option<String> {
    report.timing.as_ref().map(|timing| format!("{:.2}", figure(timing)))
}

/// A table of reports in Markdown: the flattened area and the clock rates. Figures that were
/// measured for none of them are left out; `-` stands for a figure that was not measured for one.
#[must_use]
pub fn summary(reports: &[Report]) -> String {
    let mut columns = Vec::new();
    for (heading, figure) in COLUMNS {
        let figures: Vec<Option<String>> = reports.iter().map(figure).collect();
        if figures.iter().any(Option::is_some) {
            let cells = figures.into_iter().map(|figure| figure.unwrap_or_else(|| "-".to_owned()));
            columns.push((heading, cells.collect::<Vec<String>>()));
        }
    }
    let mut rows = vec![String::new(); reports.len() + 2];
    for (index, (heading, cells)) in columns.iter().enumerate() {
        let width = cells.iter().map(String::len).chain([heading.len(), 3]).max().unwrap_or(3);
        let rule = "-".repeat(width - 1) + if index == 0 { "-" } else { ":" };
        let lines = [(*heading).to_owned(), rule].into_iter().chain(cells.iter().cloned());
        for (row, cell) in rows.iter_mut().zip(lines) {
            *row += &match index {
                0 => format!("| {cell:width$} |"),
                _ => format!(" {cell:>width$} |"),
            };
        }
    }
    rows.into_iter().map(|row| row + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, ToolVersions};

    #[test]
    fn what_nobody_measured_is_left_out() {
        let area = |lut, flat_levels| Area {
            synthesis: String::new(),
            flat: Cells { lut, ff: 7, ..Cells::default() },
            flat_levels,
            hierarchy: Cells::default(),
            modules: Vec::new(),
        };
        let report = |config: &str, area| Report {
            config: Some(config.to_owned()),
            top: "m".to_owned(),
            source: String::new(),
            tools: ToolVersions::default(),
            area,
            timing: None,
        };
        let reports =
            [report("small", Some(area(1372, Some(21)))), report("full", Some(area(9, None)))];
        assert_eq!(
            summary(&reports),
            "\
|       |  LUT | LUTRAM |  FF | BRAM18 | levels |
| ----- | ---: | -----: | --: | -----: | -----: |
| small | 1372 |      0 |   7 |      0 |     21 |
| full  |    9 |      0 |   7 |      0 |      - |
"
        );
        assert_eq!(summary(&[report("none", None)]), "|      |\n| ---- |\n| none |\n");
    }
}

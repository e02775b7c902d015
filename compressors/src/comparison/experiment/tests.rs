//! Tables on small programs, and figures that are counted in a second way.

use super::*;
use crate::comparison::{Options, Suite, SuiteProgram};

fn measured_of(mut suite: Suite, table: &str) -> Comparison {
    let experiment = Experiment::find(table).unwrap();
    suite.programs.retain(|program| ["sort", "linux"].contains(&&program.name[..]));
    let comparison = Comparison::new(experiment.schemes().unwrap(), Options::default());
    let mut comparison = comparison.of(Some(&suite)).table(Some(experiment));
    let open = |program: &SuiteProgram| program.workload(None, 20_000);
    comparison.measure::<_, ComparisonError>(&suite.programs, open, || ()).unwrap();
    if experiment.is_of_data() {
        let open = |program: &SuiteProgram| Ok(Some((program.program()?, 20_000)));
        comparison.measure_data::<_, ComparisonError>(&suite.programs, open, || ()).unwrap();
    }
    assert!(comparison.is_verified(), "{table}");
    comparison
}

fn measured(table: &str) -> Comparison {
    measured_of(Suite { mean: true, ..Suite::corner_cases() }, table)
}

fn printed(table: &str, format: TableFormat) -> String {
    print(table, &measured(table), format)
}

fn print(table: &str, comparison: &Comparison, format: TableFormat) -> String {
    let mut text = Vec::new();
    Experiment::find(table).unwrap().print(comparison, format, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Every column is a scheme that exists, or needs none, and means that stand in two tables are the same.
#[test]
fn columns_are_schemes() {
    for experiment in all() {
        let columns = (experiment.columns)();
        assert!(!columns.is_empty());
        for Column { name, published: mean, of } in &columns {
            for scheme in of.schemes() {
                assert_eq!(scheme.parse::<Scheme>().unwrap().to_string(), scheme);
            }
            for scheme in of.data_schemes() {
                let scheme = scheme.parse::<DataScheme>().unwrap();
                assert!(scheme.coder(hartrace_isa::Xlen::Rv32).is_ok(), "{name}");
            }
            if let (Some(other), Quantity::Bits(_), Some(mean)) = (published(name), of, mean) {
                // The text and table 4.14 round differently.
                assert!((other - mean).abs() < 0.0011, "{}: {name}", experiment.table);
            }
        }
        assert_eq!(
            experiment.data_schemes().is_empty(),
            columns.iter().all(|column| column.of.data_schemes().is_empty())
        );
    }
}

/// Every table has a figure in every column for every program that is measured: nothing is left out.
#[test]
fn no_cell_is_empty() {
    for experiment in all() {
        let csv = printed(experiment.table, TableFormat::Csv);
        let cells = (experiment.columns)().len();
        for line in csv.lines().skip(1) {
            let (program, rest) = line.split_once(',').unwrap();
            let found = rest.split(',').filter(|cell| !cell.is_empty()).count();
            match program {
                "published" => assert!(found >= 1, "{csv}"),
                // There is no ratio where nothing is sent: the addresses of this program follow from registers.
                "sort" if experiment.unit.starts_with("uncompressed") => {
                    assert!(found > 1, "{csv}")
                }
                // No gates are of a program.
                _ if experiment.unit.starts_with("gates") && program != "all parts" => {}
                _ => assert_eq!(found, cells, "{}: {csv}", experiment.table),
            }
        }
        assert!(csv.lines().count() >= 2, "{csv}");
    }
}

#[test]
fn tables_have_programs_mean_and_published() {
    let text = printed("4.13", TableFormat::Text);
    let heads: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(heads[..6], ["table", "program", "sort", "linux", "mean", "published"]);
    let corner_cases = measured_of(Suite::corner_cases(), "4.13");
    let corner_cases = print("4.13", &corner_cases, TableFormat::Csv);
    assert!(corner_cases.contains("\nsort,") && !corner_cases.contains("\nmean,"));
    let csv = printed("4.3", TableFormat::Csv);
    assert!(csv.ends_with("published,0.176,0.183,0.190,0.428,0.123,0.200,0.250\n"), "{csv}");
    let json = printed("5.10", TableFormat::Json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["page"], &json["rows"][3]["values"][0]), (&138.into(), &3.56.into()));
    let latex = printed("6.8", TableFormat::Latex);
    assert!(
        latex.contains("FAT-8K & FAT-64K & entropy & gzip-1-LV & bzip2-1-LV \\\\ \\hline"),
        "{latex}"
    );
    let latex = printed("4.1", TableFormat::Latex);
    assert!(latex.contains("for 90 \\%"), "{latex}");
    let mut wrong = measured("5.6");
    assert!(!print("5.6", &wrong, TableFormat::Text).contains("NOT"));
    wrong.data.as_mut().unwrap()[0].difference = Some("instruction 7".into());
    let text = print("5.6", &wrong, TableFormat::Text);
    assert!(text.ends_with("NOT recovered: sort in DAF: instruction 7\n"), "{text}");
    let gates = printed("4.16", TableFormat::Text);
    assert!(gates.contains("all parts") && gates.contains("11900"), "{gates}");
}

#[test]
fn what_is_not_measured_is_named() {
    let error = |table: &str| Experiment::find(table).unwrap_err().to_string();
    assert!(error("5.2").contains("Arm"), "{}", error("5.2"));
    assert!(error("buffers").contains("cycle"), "{}", error("buffers"));
    let unknown = error("7.1");
    assert!(unknown.contains("there is no table 7.1") && unknown.contains("4.14"), "{unknown}");
    let list = Experiment::list();
    for (tables, numbers, why) in OTHERS {
        assert!(list.contains(&format!("{tables}: {why}\n")), "{list}");
        assert!(numbers.iter().all(|number| Experiment::find(number).is_err()));
    }
    // Every table of the three chapters is one or the other.
    let chapters = [(4, 14), (5, 10), (6, 8)];
    for (chapter, last) in chapters {
        for number in 1..=last {
            let table = format!("{chapter}.{number}");
            let known = Experiment::find(&table).is_ok();
            let other = OTHERS.iter().any(|(_, tables, _)| tables.contains(&&table[..]));
            assert!(known != other, "{table}");
        }
    }
}

/// Bits of a scheme follow from the rates that tables print: what is found in a cache costs what the record has.
#[test]
fn rates_explain_bits() {
    let comparison = measured("4.7");
    for figures in comparison.figures.iter().filter(|one| one.scheme == "bSDC-64") {
        let streams: u64 = figures.records.iter().map(|one| one.streams).sum();
        let program = comparison.programs.iter().find(|one| one.program == figures.program);
        assert_eq!(program.unwrap().streams, streams);
        let [predicted, cached, miss] = &figures.records[..] else { panic!("three kinds") };
        assert_eq!((predicted.bits, cached.bits), (predicted.streams, 7 * cached.streams));
        assert!(miss.bits >= 15 * miss.streams);
        let of = Quantity::Streams("bSDC-64".into(), &["predicted"]);
        let rate = Quotient::sum(of.of(&comparison, &figures.program)).unwrap();
        assert!((rate - predicted.streams as f64 / streams as f64).abs() < 1e-12);
    }
    // An address that is filtered costs nothing, every other one its width; a value that is found costs its flag.
    let comparison = measured("5.6");
    for one in comparison.data.iter().flatten() {
        let all = one.loads.and(one.stores);
        assert_eq!((all.count, one.bits), (one.references, 64 * (all.count - all.hits)));
    }
    let comparison = measured("6.6");
    for one in comparison.data.iter().flatten() {
        assert_eq!((one.loads.count, one.stores.count), (one.references, 0));
        assert!(one.bits >= one.references + 8 * (one.loads.count - one.loads.hits));
        assert!(one.bits <= one.references + 64 * (one.loads.count - one.loads.hits));
    }
}

/// Of rates the mean is weighted by instructions, of bits and ratios it is that of the sums.
#[test]
fn means_are_weighted() {
    let comparison = measured("4.2");
    let of = Quantity::Program(|one| one.places_for_90_percent as f64);
    let mean = Quotient::sum(["sort", "linux"].iter().filter_map(|name| of.of(&comparison, name)));
    let by_hand = comparison.programs.iter().fold((0.0, 0.0), |(sum, all), one| {
        let weight = one.instructions as f64;
        (sum + weight * one.places_for_90_percent as f64, all + weight)
    });
    assert_eq!(mean, Some(by_hand.0 / by_hand.1));
    let comparison = measured("4.4");
    let of = Quantity::Ratio("eDMTF(64,4)".into());
    let mean = Quotient::sum(["sort", "linux"].iter().filter_map(|name| of.of(&comparison, name)));
    let own = || comparison.figures.iter().filter(|one| one.scheme == "eDMTF(64,4)");
    let raw = own().map(|one| 32 * one.instructions).sum::<u64>() as f64;
    assert_eq!(mean, Some(raw / own().map(|one| one.bits).sum::<u64>() as f64));
    assert_eq!([0.05, 24.26, 8311.0].map(short), ["0.050", "24.3", "8311"]);
}

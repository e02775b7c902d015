//! Means of a suite, beside those of the literature.

use super::Comparison;
use super::experiment::published;
use super::table::programs;
use std::collections::BTreeMap;
use std::io::{self, Write};

impl Comparison {
    /// The mean of all programs' bits per instruction, each program with the same weight, by scheme.
    pub(super) fn equal_weights(&self) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for one in &self.figures {
            let (sum, count) = sums.entry(one.scheme.clone()).or_default();
            *sum += one.bits_per_instruction;
            *count += 1.0;
        }
        sums.into_iter().map(|(scheme, (sum, count))| (scheme, sum / count)).collect()
    }

    /// The mean bits per instruction of those programs that have a weight in the suite, by scheme; nothing if none
    /// has.
    pub(super) fn by_weights(&self) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        let programs = self.suite.iter().flat_map(|suite| &suite.programs);
        for (name, weight) in programs.filter_map(|program| Some((&program.name, program.weight?)))
        {
            for one in self.figures.iter().filter(|one| one.program == *name) {
                let (sum, weights) = sums.entry(one.scheme.clone()).or_default();
                *sum += f64::from(weight) * one.bits_per_instruction;
                *weights += f64::from(weight);
            }
        }
        sums.into_iter().map(|(scheme, (sum, weights))| (scheme, sum / weights)).collect()
    }

    /// Prints the means of the suite, if they say anything.
    pub(super) fn print_means(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(suite) = self.suite.as_ref().filter(|suite| suite.mean) else { return Ok(()) };
        let (equal, count) = (self.equal_weights(), programs(&self.figures).len());
        let weighted = self.by_weights();
        writeln!(out, "\n{}: mean bits per instruction of {count} programs", suite.name)?;
        let width = self.schemes.iter().map(|scheme| scheme.to_string().len()).max().unwrap_or(0);
        write!(out, "{:width$} {:>15} {:>12}", "scheme", "by instructions", "by programs")?;
        let column = |text: &str| match weighted.is_empty() {
            true => String::new(),
            false => format!(" {text:>11}"),
        };
        writeln!(out, "{} {:>10}", column("by weights"), "published")?;
        for sum in self.means() {
            let (by_insns, scheme) = (sum.bits_per_instruction, sum.scheme);
            let by_programs = equal.get(&scheme).copied().unwrap_or_default();
            let published = published(&scheme).map_or("-".into(), |mean| format!("{mean:.3}"));
            let by_weights = weighted.get(&scheme).copied().unwrap_or_default();
            let by_weights = column(&format!("{by_weights:.4}"));
            writeln!(
                out,
                "{scheme:width$} {by_insns:15.4} {by_programs:12.4}{by_weights} {published:>10}"
            )?;
        }
        writeln!(
            out,
            "\npublished: of 17 programs of MiBench for Arm, by instructions (Uzelac 2010, table 4.14); other programs, another \
             instruction set."
        )?;
        if !weighted.is_empty() {
            let weighs = |name: &&str| {
                suite.programs.iter().any(|one| one.name == **name && one.weight.is_some())
            };
            let names: Vec<&str> = programs(&self.figures).into_iter().filter(weighs).collect();
            writeln!(
                out,
                "by weights: of the {} programs that are published as well, with the weights of the source: {}.",
                names.len(),
                names.join(", ")
            )?;
            return Ok(());
        }
        let like = |program: &super::SuiteProgram| {
            Some(format!("{} ({})", program.name, program.like.as_ref()?))
        };
        let like: Vec<String> = suite.programs.iter().filter_map(like).collect();
        if !like.is_empty() {
            writeln!(out, "Programs that do what some of those do: {}.", like.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{ComparisonError, Options, Suite, SuiteProgram, chosen};

    #[test]
    fn means_and_published() {
        let schemes = chosen(&["BASE,bTMBP,E-Trace".into()], &[]).unwrap();
        let mut suite = Suite::corner_cases();
        suite.programs.retain(|program| ["sort", "calls"].contains(&&program.name[..]));
        suite.programs[0].like = Some("qsort".into());
        let options = Options { limit: 20_000, ..Options::default() };
        let measured = |suite: &Suite| {
            let mut comparison = Comparison::new(schemes.clone(), options).of(Some(suite));
            let open = |program: &SuiteProgram| program.workload(None, options.limit);
            comparison.measure::<_, ComparisonError>(&suite.programs, open, || ()).unwrap();
            let mut text = Vec::new();
            comparison.print(&mut text, false).unwrap();
            (comparison, String::from_utf8(text).unwrap())
        };
        // Corner cases have no mean.
        let (_, text) = measured(&suite);
        assert!(text.contains("sort") && text.contains("\nno mean: "), "{text}");
        assert!(!text.contains("\nmean "), "{text}");
        assert!(!text.contains("published"), "{text}");
        suite.mean = true;
        let (comparison, text) = measured(&suite);
        assert!(text.contains("\nmean ") && text.contains("(qsort)"), "{text}");
        let line = text.lines().find(|line| line.starts_with("bTMBP ")).unwrap();
        let cells: Vec<&str> = line.split_whitespace().collect();
        let own: Vec<_> = comparison.figures.iter().filter(|one| one.scheme == "bTMBP").collect();
        let (bits, insns) =
            own.iter().fold((0, 0), |(a, b), one| (a + one.bits, b + one.instructions));
        let equal =
            own.iter().map(|one| one.bits as f64 / one.instructions as f64).sum::<f64>() / 2.0;
        let expected = [bits as f64 / insns as f64, equal].map(|mean| format!("{mean:.4}"));
        assert_eq!(cells[1..], [&expected[0][..], &expected[1], "0.036"]);
        // The second program alone has a weight, then both.
        let bits = |index: usize| own[index].bits_per_instruction;
        for (weights, mean) in
            [([None, Some(7)], bits(1)), ([Some(1), Some(3)], (bits(0) + 3.0 * bits(1)) / 4.0)]
        {
            for (program, weight) in suite.programs.iter_mut().zip(weights) {
                program.weight = weight;
            }
            let (_, text) = measured(&suite);
            let line = text.lines().find(|line| line.starts_with("bTMBP ")).unwrap();
            let cells: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(cells[1..3], [&expected[0][..], &expected[1]]);
            assert_eq!(cells[3..], [&format!("{mean:.4}")[..], "0.036"], "{text}");
        }
        assert!(text.lines().any(|line| line.starts_with("E-Trace ") && line.ends_with(" -")));
    }
}

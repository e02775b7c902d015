//! The source to measure.

use crate::FpgaError;
use crate::netlist::{Netlist, Port};
use crate::tools::Tools;
use hartrace_rtl::Component;
use std::fs;
use std::path::Path;

/// SystemVerilog, and the module in it that is measured.
#[derive(Clone, Debug)]
pub struct Source {
    top: String,
    text: String,
}

/// The file to which all text is written.
const FILE: &str = "source.sv";

impl Source {
    /// Creates a source of the module `top` in a text, which also contains the modules it
    /// instantiates.
    ///
    /// # Errors
    ///
    /// If `top` is not a plain identifier, as it becomes part of commands.
    pub fn new(top: &str, text: &str) -> Result<Self, FpgaError> {
        let plain = !top.is_empty() && top.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain || top.starts_with(|c: char| c.is_ascii_digit()) {
            let problem = "the name of the module is not a plain identifier".to_owned();
            return Err(FpgaError::Ports { top: top.to_owned(), problem });
        }
        Ok(Self { top: top.to_owned(), text: text.to_owned() })
    }

    /// The name of the module.
    #[must_use]
    pub fn top(&self) -> &str {
        &self.top
    }

    /// A checksum of the text without what does not affect the figures: comments, indentation, and what is meant for
    /// simulation and provers.
    #[must_use]
    pub fn checksum(&self) -> String {
        let mut crc = crc32fast::Hasher::new();
        // Conditions that the line is within, from `SYNTHESIS` inwards.
        let mut depth = 0u32;
        for line in self.text.lines() {
            let line = line.split_once("//").map_or(line, |(code, _)| code).trim();
            if line == "`ifndef SYNTHESIS" || depth > 0 && line.starts_with("`if") {
                depth += 1;
            } else if depth > 0 {
                depth -= u32::from(line == "`endif");
            } else if !line.is_empty() {
                crc.update(line.as_bytes());
                crc.update(b"\n");
            }
        }
        format!("{:08x}", crc.finalize())
    }

    /// Writes the text to a folder, for [`Source::read`].
    pub(crate) fn write(&self, folder: &Path) -> Result<(), FpgaError> {
        fs::write(folder.join(FILE), &self.text).map_err(FpgaError::io(FILE))
    }

    /// The command that reads the text.
    pub(crate) fn read(&self) -> String {
        // `SYNTHESIS` excludes what is meant for simulation and provers.
        format!("read_verilog -sv -DSYNTHESIS {FILE}\n")
    }

    /// Commands that read the text and turn the module into logic and registers.
    pub(crate) fn elaborate(&self) -> String {
        format!("{}hierarchy -check -top {}\nproc\n", self.read(), self.top)
    }

    /// The ports of the module, as yosys sees them.
    pub(crate) fn ports(&self, tools: &Tools, folder: &Path) -> Result<Vec<Port>, FpgaError> {
        let file = "ports.json";
        tools.yosys(folder, &format!("{}write_json {file}\n", self.elaborate()))?;
        let netlist = Netlist::read(folder, file)?;
        Ok(netlist.module(&self.top)?.ports())
    }

    /// The text at a position such as `source.sv:12.5-12.9`, and the module it is in.
    pub(crate) fn quote(&self, position: &str) -> Option<String> {
        let range = position.strip_prefix(FILE)?.strip_prefix(':')?;
        let (start, end) = range.split_once('-')?;
        let ((line, from), (last, to)) = (pair(start)?, pair(end)?);
        let lines = || self.text.lines();
        let text = lines().nth(line.checked_sub(1)?)?;
        let to = if last == line { to.checked_sub(1)?.min(text.len()) } else { text.len() };
        let quoted = text.get(from.checked_sub(1)?..to)?.trim();
        let name = |line: &str| {
            let rest = line.trim_start().strip_prefix("module ")?;
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().map(str::to_owned)
        };
        let module = lines().take(line).filter_map(name).last()?;
        Some(format!("{module}: {quoted}"))
    }
}

impl From<&Component> for Source {
    fn from(component: &Component) -> Self {
        let files: Vec<String> = component.files().into_iter().map(|(_, text)| text).collect();
        // The builder has checked the name.
        Self { top: component.name().to_owned(), text: files.join("\n") }
    }
}

/// A position `line.column`.
fn pair(text: &str) -> Option<(usize, usize)> {
    let (line, column) = text.split_once('.')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_quoted_with_their_module() {
        let text = "module a (input x);\nendmodule\nmodule b;\n  assign y = p + q;\nendmodule\n";
        let source = Source::new("b", text).unwrap();
        assert_eq!(source.quote("source.sv:4.14-4.19").unwrap(), "b: p + q");
        assert_eq!(source.quote("source.sv:4.3-5.2").unwrap(), "b: assign y = p + q;");
        assert_eq!(source.quote("source.sv:1.1-1.7").unwrap(), "a: module");
        for outside in
            ["source.sv:9.1-9.2", "source.sv:4.0-4.2", "source.sv:4.90-4.91", "x.v:1.1-1.2"]
        {
            assert_eq!(source.quote(outside), None, "{outside}");
        }
    }

    #[test]
    fn comments_and_assertions_do_not_count() {
        let sum = |text: &str| Source::new("m", text).unwrap().checksum();
        let plain = sum("module m;\nassign y = p;\nendmodule\n");
        assert_eq!(sum("// Of m.\nmodule m; // m\n\n  assign y = p;\nendmodule"), plain);
        assert_ne!(sum("module m;\nassign y = q;\nendmodule\n"), plain);
        assert_ne!(sum("module m;\nassign y = p;endmodule\n"), plain);
        let with = |check| {
            format!("module m;\nassign y = p;\n`ifndef SYNTHESIS\n  {check}\n`endif\nendmodule\n")
        };
        assert_eq!(sum(&with("assert (p);")), plain);
        assert_eq!(sum(&with("`ifdef FORMAL\n  cover (p);\n`endif\n  assert (p);")), plain);
        assert_ne!(sum(&with("assert (p);\n`endif\nassign z = p;")), plain);
    }

    #[test]
    fn names_that_are_no_identifiers_are_refused() {
        for name in ["", "a b", "1a", "a;b", "\\a"] {
            assert!(Source::new(name, "").is_err(), "{name}");
        }
    }
}

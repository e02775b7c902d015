//! Reports.

use crate::FpgaError;
use crate::area::Area;
use crate::source::Source;
use crate::timing::Timing;
use crate::tools::Tools;
use hartrace_rtl::Component;
use serde::{Deserialize, Serialize};

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The area on UltraScale+.
    pub area: bool,
    /// The timing on ECP5: how many placements. None: not measured.
    pub seeds: Option<u32>,
}

impl Default for Options {
    /// Both, with three placements.
    fn default() -> Self {
        Self { area: true, seeds: Some(3) }
    }
}

impl Options {
    /// How many steps a measurement has.
    #[must_use]
    pub fn steps(&self) -> u64 {
        let area = if self.area { 2 } else { 0 };
        area + self.seeds.map_or(0, |seeds| 1 + u64::from(seeds))
    }
}

/// What a design costs. Prints as tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The configuration it is of, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The module.
    pub top: String,
    /// [`Source::checksum`] of what was measured: tells a report that is out of date.
    pub source: String,
    /// What measured it.
    pub tools: ToolVersions,
    /// Area on UltraScale+.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Timing on ECP5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// Versions of tools that took part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolVersions {
    /// Of yosys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yosys: Option<String>,
    /// Of nextpnr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nextpnr: Option<String>,
}

impl Report {
    /// Measures a component with the tools that [`Tools::find`] finds. It takes from seconds to some
    /// minutes.
    ///
    /// # Errors
    ///
    /// If a tool is missing or fails, or the ports cannot be connected (timing only).
    pub fn of(top: &Component, options: &Options) -> Result<Self, FpgaError> {
        Self::of_source(&Source::from(top), options, &Tools::find()?)
    }

    /// Measures any SystemVerilog that yosys reads. Its clock has to be called `clk_i`.
    ///
    /// # Errors
    ///
    /// As [`Report::of`], and if yosys does not read it.
    pub fn of_source(source: &Source, options: &Options, tools: &Tools) -> Result<Self, FpgaError> {
        Self::watched(source, options, tools, &|_| {})
    }

    /// As [`Report::of_source`], and tells what it does: [`Options::steps`] times, before each step.
    ///
    /// # Errors
    ///
    /// As [`Report::of_source`].
    pub fn watched(
        source: &Source,
        options: &Options,
        tools: &Tools,
        watch: &dyn Fn(&str),
    ) -> Result<Self, FpgaError> {
        let folder = tempfile::tempdir().map_err(FpgaError::io("temporary folder"))?;
        let folder = folder.path();
        source.write(folder)?;
        let mut versions = ToolVersions::default();
        let (mut area, mut timing) = (None, None);
        if options.area {
            let (result, yosys) = Area::of(source, tools, folder, watch)?;
            (area, versions.yosys) = (Some(result), Some(yosys));
        }
        if let Some(seeds) = options.seeds {
            let (result, yosys) = Timing::of(source, tools, folder, seeds, watch)?;
            (timing, versions.yosys) = (Some(result), Some(yosys));
            versions.nextpnr = Some(tools.nextpnr_version(folder)?);
        }
        Ok(Self {
            config: None,
            top: source.top().to_owned(),
            source: source.checksum(),
            tools: versions,
            area,
            timing,
        })
    }

    /// With the name of the configuration it is of.
    #[must_use]
    pub fn named(self, config: &str) -> Self {
        Self { config: Some(config.to_owned()), ..self }
    }

    /// What it is of: the module, and the configuration if it has a name.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.config {
            Some(config) => format!("{} of {config}", self.top),
            None => self.top.clone(),
        }
    }

    /// As JSON, with keys in a fixed order and a line for each, so that changes show in a diff.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Nothing in a report can fail to be JSON: no map has keys other than strings.
        serde_json::to_string_pretty(self)
            .map_or_else(|error| error.to_string(), |text| text + "\n")
    }

    /// From JSON.
    ///
    /// # Errors
    ///
    /// If it is none, or not of a report.
    pub fn from_json(text: &str) -> Result<Self, FpgaError> {
        serde_json::from_str(text).map_err(FpgaError::NotAReport)
    }

    /// From JSON with any number of reports, one after the other.
    ///
    /// # Errors
    ///
    /// If it is none, or not of reports.
    pub fn all_from_json(text: &str) -> Result<Vec<Self>, FpgaError> {
        let reports = serde_json::Deserializer::from_str(text).into_iter();
        reports.map(|report| report.map_err(FpgaError::NotAReport)).collect()
    }
}

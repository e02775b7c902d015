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
    /// Whether to measure the area on UltraScale+.
    pub area: bool,
    /// Number of placements for the timing on ECP5. None: not measured.
    pub seeds: Option<u32>,
}

impl Default for Options {
    /// Both, with three placements.
    fn default() -> Self {
        Self { area: true, seeds: Some(3) }
    }
}

/// A part of a measurement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Area on UltraScale+.
    Area,
    /// Clock rate on ECP5.
    Timing,
}

impl Part {
    /// Both, each with its name and a description.
    pub const NAMED: [(&'static str, Self, &'static str); 2] = [
        ("area", Self::Area, "Area on UltraScale+"),
        ("timing", Self::Timing, "Clock rate on ECP5"),
    ];
}

impl Options {
    /// Both or one part, with this number of placements; `None` if there are placements, but no timing.
    #[must_use]
    pub fn of(only: Option<Part>, seeds: Option<u32>) -> Option<Self> {
        match (only, seeds) {
            (Some(Part::Area), Some(_)) => None,
            (Some(Part::Area), None) => Some(Self { area: true, seeds: None }),
            (only, seeds) => {
                Some(Self { area: only.is_none(), seeds: seeds.or(Self::default().seeds) })
            }
        }
    }

    /// Number of steps of a measurement.
    #[must_use]
    pub fn steps(&self) -> u64 {
        let area = if self.area { 2 } else { 0 };
        area + self.seeds.map_or(0, |seeds| 1 + u64::from(seeds))
    }
}

/// Cost of a design. Prints as tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of its configuration, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The module.
    pub top: String,
    /// [`Source::checksum`] of the measured source, which reveals an outdated report.
    pub source: String,
    /// Versions of the tools that measured it.
    pub tools: ToolVersions,
    /// Area on UltraScale+.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Timing on ECP5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// Versions of the tools.
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
    /// Measures a component with the tools that [`Tools::find`] finds. This takes between seconds
    /// and a few minutes.
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
    /// As [`Report::of`], and if yosys cannot read it.
    pub fn of_source(source: &Source, options: &Options, tools: &Tools) -> Result<Self, FpgaError> {
        Self::watched(source, options, tools, &|_| {})
    }

    /// As [`Report::of_source`], and announces each step before it starts: [`Options::steps`]
    /// times.
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

    /// Adds the name of the configuration.
    #[must_use]
    pub fn named(self, config: &str) -> Self {
        Self { config: Some(config.to_owned()), ..self }
    }

    /// Title of the report: the module, and the configuration if it has a name.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.config {
            Some(config) => format!("{} of {config}", self.top),
            None => self.top.clone(),
        }
    }

    /// Converts to JSON, with keys in a fixed order and on separate lines, so that changes show in
    /// a diff.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Conversion cannot fail: no map has keys other than strings.
        serde_json::to_string_pretty(self)
            .map_or_else(|error| error.to_string(), |text| text + "\n")
    }

    /// Converts from JSON.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or not a report.
    pub fn from_json(text: &str) -> Result<Self, FpgaError> {
        serde_json::from_str(text).map_err(FpgaError::NotAReport)
    }

    /// Converts from JSON with any number of reports, one after the other.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or does not consist of reports.
    pub fn all_from_json(text: &str) -> Result<Vec<Self>, FpgaError> {
        let reports = serde_json::Deserializer::from_str(text).into_iter();
        let reports: Vec<Self> = reports
            .map(|report| report.map_err(FpgaError::NotAReport))
            .collect::<Result<_, _>>()?;
        if reports.is_empty() { Err(FpgaError::NoReport) } else { Ok(reports) }
    }
}

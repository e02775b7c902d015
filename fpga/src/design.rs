//! Designs of one kind or another, and what was measured of them.

use crate::FpgaError;
use crate::decoders::{Unrolled, decoders};
use crate::report::{Options, Report};
use crate::source::Source;
use crate::summary::summary;
use crate::tools::Tools;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Design {
    /// Its name.
    pub name: String,
    /// Its text.
    pub source: Source,
    /// Of a trace decoder: bytes per cycle, and the stage that finds packets.
    pub unrolled: Option<(u32, Source)>,
}

impl Design {
    /// Number of steps of a measurement.
    #[must_use]
    pub fn steps(&self, options: &Options) -> u64 {
        options.steps() + if self.unrolled.is_some() { Unrolled::STEPS } else { 0 }
    }

    /// Measures it, and announces each step.
    ///
    /// # Errors
    ///
    /// As [`Report::watched`].
    pub fn measure(
        &self,
        options: &Options,
        tools: &Tools,
        watch: &dyn Fn(&str),
    ) -> Result<Measured, FpgaError> {
        let Some((unroll, chain)) = &self.unrolled else {
            let report = Report::watched(&self.source, options, tools, watch)?;
            return Ok(Measured::Design(report.named(&self.name)));
        };
        let sources = [&self.source, chain];
        let mut measured = Unrolled::measure(*unroll, sources, options, tools, watch)?;
        measured.report = measured.report.named(&self.name);
        Ok(Measured::Decoder(measured))
    }
}

/// What was measured of a design.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// Of any design.
    Design(Report),
    /// Of a trace decoder.
    Decoder(Unrolled),
}

impl Measured {
    /// Area and clock rate.
    #[must_use]
    pub fn report(&self) -> &Report {
        match self {
            Self::Design(report) => report,
            Self::Decoder(unrolled) => &unrolled.report,
        }
    }

    /// Converts to JSON, with keys on separate lines.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Design(report) => report.to_json(),
            Self::Decoder(unrolled) => unrolled.to_json(),
        }
    }

    /// A table of decoders, or of designs if there are several, in Markdown. Published figures stand beside those of
    /// decoders of ETMv4.
    #[must_use]
    pub fn table(all: &[Self], is_etmv4: bool) -> String {
        let mut unrolled = Vec::new();
        let mut reports = Vec::new();
        for one in all {
            match one {
                Self::Design(report) => reports.push(report.clone()),
                Self::Decoder(one) => unrolled.push(one.clone()),
            }
        }
        match (unrolled.is_empty(), reports.len()) {
            (false, _) => decoders(&unrolled, is_etmv4),
            (true, 2..) => summary(&reports),
            (true, _) => String::new(),
        }
    }
}

//! Describes the trace of a system.

use super::{Job, Soc, SocError, Survey};
use hartrace_capture::description::Description;
use hartrace_capture::params::Draft;
use hartrace_encoder_hdl::top::{PackageError, params};

impl Soc {
    /// Describes what a job writes, for those who decode it.
    ///
    /// # Errors
    ///
    /// If the parameters of the encoder cannot be expressed in a description.
    pub fn description(&self, job: &Job, survey: &Survey) -> Result<Description, SocError> {
        let top = &self.config().top;
        let draft = Draft::parse(&params(top).map_err(PackageError::from)?, "parameters")?;
        // The hardware lists no modes: they are set at run time.
        let options = &job.setting.options;
        let modes = Draft::new(&top.encoder.etrace, top.encoder.unit(), options).modes;
        let vectors = match options.implicit_exception {
            true => survey.tvec.as_deref().unwrap_or_default(),
            false => &[],
        };
        let description = Description { draft: Draft { modes, ..draft }, ..Description::default() };
        Ok(description.with_trap_vectors(vectors))
    }
}

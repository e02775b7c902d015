//! A scenario as a capture.

use super::{Run, Scenario};
use hartrace_encap::{EmitError, EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_etrace::Unit;

/// A length and nothing else around a payload.
const PLAIN: Framing = match EncapParams::new(0, 0, 0) {
    Ok(params) => Framing::Encap(params),
    Err(_) => Framing::Reference,
};

impl Scenario {
    /// Returns the framing of [`capture`](Self::capture): the standard encapsulation without optional fields,
    /// or the records of rv_tracer.
    pub fn framing(&self) -> Framing {
        match self.setup.encoder.unit {
            Unit::RvTracer => Framing::RvTracer,
            Unit::Reference | Unit::Hartrace => PLAIN,
        }
    }

    /// Returns the payloads of a run in frames.
    ///
    /// # Errors
    ///
    /// If a payload cannot be framed because it is empty or has more than 31 bytes.
    pub fn capture(&self, run: &Run) -> Result<Vec<u8>, EmitError> {
        let framing = self.framing();
        // Records always have a time; that of the captures of rv_tracer is 0.
        let timestamp = (framing == Framing::RvTracer).then_some(0);
        let header = FrameHeader { timestamp, ..FrameHeader::default() };
        let mut capture = Vec::new();
        for payload in &run.payloads {
            let mut frame = [0; MAX_FRAME];
            let len = framing.emit(&header, payload, &mut frame)?;
            capture.extend(frame.into_iter().take(len));
        }
        Ok(capture)
    }
}

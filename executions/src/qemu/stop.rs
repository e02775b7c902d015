//! Why following a program stops.

use crate::qemu::error::QemuError;

/// The reason to stop.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The sink asked to stop.
    Sink,
    Error(Box<QemuError>),
}

impl Stop {
    pub(crate) fn error(error: QemuError) -> Self {
        Self::Error(Box::new(error))
    }

    /// The plugin's report is inconsistent.
    pub(crate) fn report(what: String) -> Self {
        Self::error(QemuError::Report { at: 0, what })
    }
}

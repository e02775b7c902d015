//! Why following a program stops.

use crate::qemu::error::QemuError;

/// Why nothing more is wanted.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The sink has enough.
    Sink,
    Error(Box<QemuError>),
}

impl Stop {
    pub(crate) fn error(error: QemuError) -> Self {
        Self::Error(Box::new(error))
    }

    /// What the plugin says cannot be.
    pub(crate) fn report(what: String) -> Self {
        Self::error(QemuError::Report { at: 0, what })
    }
}

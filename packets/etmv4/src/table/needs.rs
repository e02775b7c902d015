use crate::Config;

/// The feature that a packet or a rule requires of a configuration.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// At least this version.
    Version(u8),
    /// An ETE, or an ETMv4.
    Ete(bool),
    /// COMMOPT set, or clear.
    Commopt(bool),
    /// An Armv8-M core, version 4.2.
    V8M,
    /// Data tracing.
    Data,
    /// Conditional instructions.
    Conditional,
    /// Q elements.
    Q,
}

impl Needs {
    /// Whether a configuration has the feature.
    pub const fn met(self, config: &Config) -> bool {
        match self {
            Self::Nothing => true,
            Self::Version(version) => config.version >= version,
            Self::Ete(ete) => config.is_ete() == ete,
            Self::Commopt(commopt) => config.commopt == commopt,
            Self::V8M => config.v8_m && config.version >= 0x42,
            Self::Data => config.data,
            Self::Conditional => config.conditional,
            Self::Q => config.q,
        }
    }

    /// Whether a header is reserved without the feature. Otherwise it counts as not configured.
    pub const fn else_reserved(self) -> bool {
        !matches!(self, Self::Data | Self::Conditional | Self::Ete(false))
    }
}

/// The properties of a trace unit that a reader needs. The default has no optional features and
/// 48-bit time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Config {
    /// Cycles are counted: packets carry counts, and only one atom each.
    pub cycle_accurate: bool,
    /// Bytes of a context identifier: 0, 1, 2 or 4.
    pub context_id_bytes: u8,
    /// Timestamps have 64 bits, else 48.
    pub timestamp_64: bool,
    /// Timestamps are Gray coded.
    pub timestamp_gray: bool,
    /// The return stack is implemented and enabled.
    pub return_stack: bool,
    /// DMB and DSB are waypoints.
    pub barriers: bool,
}

/// The registers of a trace unit from which a [`Config`] is derived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// ETMCR.
    pub cr: u32,
    /// ETMIDR.
    pub idr: u32,
    /// ETMCCER.
    pub ccer: u32,
}

impl Config {
    /// The configuration after ETMCR was written; bits of missing features read as zero.
    pub const fn with_etmcr(self, cr: u32) -> Self {
        Self {
            cycle_accurate: cr & (1 << 12) != 0,
            context_id_bytes: match (cr >> 14) & 3 {
                0 => 0,
                1 => 1,
                2 => 2,
                _ => 4,
            },
            return_stack: cr & (1 << 29) != 0,
            ..self
        }
    }
}

impl Registers {
    /// Derives the configuration.
    pub const fn config(&self) -> Config {
        let first = self.idr & 0xf0 == 0; // PFTv1.0 has 48 bits, Gray coded
        let mut config = Config {
            cycle_accurate: false,
            context_id_bytes: 0,
            timestamp_64: !first && self.ccer & (1 << 29) != 0,
            timestamp_gray: first || self.ccer & (1 << 28) == 0,
            return_stack: false,
            barriers: self.ccer & (1 << 24) != 0,
        }
        .with_etmcr(self.cr);
        config.return_stack &= self.ccer & (1 << 23) != 0;
        config
    }
}

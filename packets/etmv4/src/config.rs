/// The properties of a trace unit that a reader needs.
///
/// The default is version 4.0 without optional features.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Major version in the upper, minor in the lower four bits: 0x42 is ETMv4.2, 0x50 ETE 1.0.
    pub version: u8,
    /// Bytes of a context identifier: 0 or 4.
    pub context_id_bytes: u8,
    /// Bytes of a virtual context identifier: 0, 1, 2 or 4.
    pub vmid_bytes: u8,
    /// COMMOPT: cycle counts commit nothing.
    pub commopt: bool,
    /// MAXSPEC: the largest number of P0 elements that can wait for their commit.
    pub max_speculation: u32,
    /// Bits of a cycle count, at least 12.
    pub cycle_count_bits: u8,
    /// Q elements are supported.
    pub q: bool,
    /// Conditional instructions are traced.
    pub conditional: bool,
    /// Data is traced.
    pub data: bool,
    /// The core implements Armv8-M.
    pub v8_m: bool,
    /// The core has an M profile.
    pub m_profile: bool,
    /// The return stack is implemented and enabled.
    pub return_stack: bool,
    /// WFI and WFE are branches.
    pub wfx_branch: bool,
    /// ETE: the start of a transaction is a P0 element.
    pub transaction_p0: bool,
    /// ETE: a marker shows what a timestamp refers to; timestamps before the first marker do not
    /// count.
    pub timestamp_marker: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            version: 0x40,
            context_id_bytes: 0,
            vmid_bytes: 0,
            commopt: false,
            max_speculation: 0,
            cycle_count_bits: 12,
            q: false,
            conditional: false,
            data: false,
            v8_m: false,
            m_profile: false,
            return_stack: false,
            wfx_branch: false,
            transaction_p0: true,
            timestamp_marker: false,
        }
    }
}

impl Config {
    /// Whether the trace unit is an ETE.
    pub const fn is_ete(&self) -> bool {
        self.version >= 0x50
    }

    /// A mask of the bits of a cycle count.
    pub const fn cycle_count_mask(&self) -> u32 {
        match 1u32.checked_shl(self.cycle_count_bits as u32) {
            Some(bit) => bit.wrapping_sub(1),
            None => u32::MAX,
        }
    }
}

/// The registers of a trace unit from which a [`Config`] is derived.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// TRCCONFIGR.
    pub configr: u32,
    /// TRCIDR0.
    pub idr0: u32,
    /// TRCIDR1; ignored if `devarch` is given.
    pub idr1: u32,
    /// TRCIDR2.
    pub idr2: u32,
    /// TRCIDR8.
    pub idr8: u32,
    /// TRCDEVARCH of an ETE.
    pub devarch: Option<u32>,
}

impl Config {
    /// The configuration after TRCCONFIGR was written; bits of missing features read as zero.
    pub const fn with_trcconfigr(self, configr: u32) -> Self {
        let load_store_p0 = configr & 0b110 != 0;
        Self {
            conditional: matches!((configr >> 8) & 7, 1 | 2 | 3 | 7),
            data: load_store_p0 && configr & (0b11 << 16) != 0,
            return_stack: configr & (1 << 12) != 0,
            ..self
        }
    }
}

impl Registers {
    /// Derives the configuration. Registers do not identify M profiles: set those in the result.
    pub const fn config(&self) -> Config {
        let version = match self.devarch {
            Some(devarch) => ((devarch >> 8) as u8 & 0xf0) | ((devarch >> 16) as u8 & 0xf),
            None => (self.idr1 >> 4) as u8,
        };
        let mut config = Config {
            version,
            context_id_bytes: if (self.idr2 >> 5) & 0x1f == 4 { 4 } else { 0 },
            vmid_bytes: match (self.idr2 >> 10) & 0x1f {
                1 => 1,
                2 if version > 0x40 => 2,
                4 if version > 0x40 => 4,
                _ => 0,
            },
            commopt: self.idr0 & (1 << 29) != 0 && self.idr0 & (1 << 7) != 0,
            max_speculation: self.idr8,
            cycle_count_bits: ((self.idr2 >> 25) as u8 & 0xf).wrapping_add(12),
            q: (self.idr0 >> 15) & 3 != 0,
            conditional: false,
            data: false,
            v8_m: false,
            m_profile: false,
            return_stack: false,
            wfx_branch: self.idr2 & (1 << 31) != 0 && version >= 0x43,
            transaction_p0: self.idr0 & (1 << 30) == 0,
            timestamp_marker: self.idr0 & (1 << 23) != 0 && version >= 0x51,
        }
        .with_trcconfigr(self.configr);
        config.conditional &= self.idr0 & (1 << 6) != 0;
        config.data &= self.idr0 & 0x18 == 0x18;
        config.return_stack &= self.idr0 & (1 << 9) != 0;
        config
    }
}

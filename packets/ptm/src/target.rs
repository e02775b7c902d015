use crate::Address;

/// An instruction set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// A32.
    #[default]
    Arm,
    /// T32.
    Thumb,
    /// ThumbEE.
    ThumbEe,
    /// Java bytecode.
    Jazelle,
}

impl Isa {
    /// Number of bits below the lowest one that is sent.
    pub(crate) const fn shift(self) -> u32 {
        match self {
            Self::Arm => 2,
            Self::Thumb | Self::ThumbEe => 1,
            Self::Jazelle => 0,
        }
    }
}

/// The last address and instruction set, to which the next ones are relative.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// The address.
    pub address: u32,
    /// Its instruction set.
    pub isa: Isa,
}

impl Target {
    /// Applies an address as sent; `alt_isa` is given if the bytes after it contain it.
    pub fn update(&mut self, address: &Address, alt_isa: Option<bool>) {
        let isa = address.isa.unwrap_or(self.isa);
        self.isa = match (isa, alt_isa) {
            (Isa::Thumb, Some(true)) => Isa::ThumbEe,
            (Isa::ThumbEe, Some(false)) => Isa::Thumb,
            // The fifth byte does not distinguish the two: O9.
            (Isa::Thumb, None) if self.isa == Isa::ThumbEe => Isa::ThumbEe,
            _ => isa,
        };
        let shift = self.isa.shift();
        let sent = address.raw_bits().wrapping_add(shift);
        let mask = 1u64.wrapping_shl(sent).wrapping_sub(1) as u32;
        self.address = (self.address & !mask) | (address.raw.wrapping_shl(shift) & mask);
    }

    /// The shortest form of an address, as sent in a branch packet.
    pub fn compress(&self, address: u32, isa: Isa) -> Address {
        let raw = address >> isa.shift();
        let first = if isa == self.isa { 1 } else { 5 };
        for bytes in first..5 {
            let candidate = Address { raw, bytes, isa: None };
            let sent = 1u32.wrapping_shl(candidate.raw_bits()).wrapping_sub(1);
            let candidate = Address { raw: raw & sent, ..candidate };
            let mut after = *self;
            after.update(&candidate, None);
            if after.address == address {
                return candidate;
            }
        }
        let told = if isa == Isa::ThumbEe { Isa::Thumb } else { isa };
        Address { raw, bytes: 5, isa: Some(told) }
    }
}

impl Address {
    /// Number of data bits in its bytes.
    pub(crate) const fn raw_bits(&self) -> u32 {
        match self.bytes {
            0 | 1 => 6,
            2 => 12,
            3 => 19,
            4 => 26,
            _ => match self.isa {
                Some(isa) => 32u32.wrapping_sub(isa.shift()),
                None => 30,
            },
        }
    }
}

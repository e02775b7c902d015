/// The instruction set bit of an address; it has no meaning in AArch64.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Is {
    /// A multiple of four: A64 or A32.
    #[default]
    Is0,
    /// A multiple of two: T32.
    Is1,
}

impl Is {
    /// Number of bits below the lowest one that is sent.
    pub(crate) const fn shift(self) -> u32 {
        match self {
            Self::Is0 => 2,
            Self::Is1 => 1,
        }
    }
}

/// How much of an address is sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// None of it: the address is in this address register, 0 to 2. Value and instruction set of
    /// the [`Address`] are 0.
    Match(u8),
    /// The low bits, in one byte or two.
    Short {
        /// Two bytes instead of one.
        two: bool,
    },
    /// 32 bits.
    Long32,
    /// 64 bits.
    Long64,
}

/// An address as sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// How much of it is sent.
    pub form: Form,
    /// Its instruction set.
    pub is: Is,
    /// The bits that are sent, in place; others are 0.
    pub value: u64,
}

impl Address {
    /// Bits of the address that are sent, or that are always 0 in its instruction set.
    #[inline]
    pub const fn bits(&self) -> u32 {
        match self.form {
            Form::Match(_) => 0,
            Form::Short { two: false } => self.is.shift().wrapping_add(7),
            Form::Short { two: true } => self.is.shift().wrapping_add(15),
            Form::Long32 => 32,
            Form::Long64 => 64,
        }
    }
}

/// The three address registers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Addresses {
    registers: [(u64, Is); 3],
}

impl Addresses {
    /// The last address.
    #[inline]
    pub const fn last(&self) -> (u64, Is) {
        let [first, ..] = self.registers;
        first
    }

    /// Applies an address packet and returns the address. With `wide`, a 32-bit address keeps the
    /// upper half of the last address: set it if the context is known and AArch64.
    #[inline]
    pub fn update(&mut self, address: &Address, wide: bool) -> (u64, Is) {
        let [a, b, c] = self.registers;
        let new = match address.form {
            Form::Match(0) => a,
            Form::Match(1) => b,
            Form::Match(_) => c,
            Form::Long32 if !wide => (address.value, address.is),
            Form::Long64 => (address.value, address.is),
            _ => {
                let sent = 1u64.wrapping_shl(address.bits()).wrapping_sub(1);
                ((a.0 & !sent) | address.value, address.is)
            }
        };
        self.registers = [new, a, b];
        new
    }

    /// Returns the shortest packet for an address; apply it with [`Addresses::update`], with the
    /// same `wide`.
    pub fn compress(&self, address: u64, is: Is, wide: bool) -> Address {
        let aligned = address & !1u64.wrapping_shl(is.shift()).wrapping_sub(1);
        let found = self.registers.iter().zip(0u8..).find(|(held, _)| **held == (aligned, is));
        if let Some((_, number)) = found {
            return Address { form: Form::Match(number), is: Is::Is0, value: 0 };
        }
        let forms = [Form::Short { two: false }, Form::Short { two: true }, Form::Long32];
        for form in forms {
            let candidate = Address { form, is, value: 0 };
            let sent = 1u64.wrapping_shl(candidate.bits()).wrapping_sub(1);
            let candidate = Address { value: aligned & sent, ..candidate };
            let mut after = *self;
            if after.update(&candidate, wide) == (aligned, is) {
                return candidate;
            }
        }
        Address { form: Form::Long64, is, value: aligned }
    }
}

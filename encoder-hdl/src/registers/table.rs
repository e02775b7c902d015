//! The structure of a table of registers.

/// The registers of one trace component.
///
/// It has its own page of 4 KiB, aligned to 4 KiB; offsets are relative to the start of the page.
///
/// Spec: Trace Control Interface 1.0, "Trace Components".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the component, in words.
    pub title: &'static str,
    /// Name of the component in code: of its module, and of its part of the driver.
    pub name: &'static str,
    /// Description of the whole component.
    pub doc: &'static str,
    /// Signals from hardware to the registers.
    pub inputs: Vec<Input>,
    /// Registers, by offset.
    pub registers: Vec<Register>,
}

/// A signal that hardware drives, `{name}_i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, without `_i`.
    pub name: &'static str,
    /// Its width in bits.
    pub width: u32,
    /// Its meaning.
    pub doc: &'static str,
}

/// One 32-bit register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The specification's name; `{i}` stands for [`Register::index`].
    pub template: &'static str,
    /// Its number, if there can be several of the same kind.
    pub index: Option<u32>,
    /// Distance from one of its kind to the next, even if there is only one; 0 without an index.
    pub stride: u32,
    /// Its offset.
    pub offset: u32,
    /// Its purpose.
    pub doc: &'static str,
    /// Fields, starting with bit 0. Other bits read as 0 and ignore writes.
    pub fields: Vec<Field>,
}

/// Some bits of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The specification's name.
    pub name: &'static str,
    /// Its lowest bit.
    pub lsb: u32,
    /// Its width in bits.
    pub width: u32,
    /// Its behaviour.
    pub kind: Kind,
    /// Its meaning.
    pub doc: &'static str,
    /// Values with a name: value, name, meaning.
    pub values: Vec<(u32, &'static str, &'static str)>,
}

/// Behaviour of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Always the same value.
    Fixed(u32),
    /// Shows `bits` bits of an input, starting with bit `from`; the bits above them are zeros.
    Status {
        /// Name of the input.
        input: &'static str,
        /// The first bit of it that is shown.
        from: u32,
        /// Number of bits that are shown.
        bits: u32,
    },
    /// Stores the value written, unless the component is in use; `tied` after a reset.
    Stored {
        /// The lowest bit that can be written.
        from: u32,
        /// Number of bits that can be written.
        bits: u32,
        /// The value of the bits that cannot be written.
        tied: u32,
        /// Values that are accepted; empty if all are.
        choices: Vec<u32>,
    },
    /// Always the same as another field.
    Copy {
        /// Name of its register.
        register: &'static str,
        /// Its name.
        field: &'static str,
    },
    /// The switch of the component. While it is 0, everything else is in reset. After a write of 0,
    /// it reads as 1 until the component is no longer in use.
    Active,
    /// The component is in use. Can be set only once the component is active.
    Enable(Enable),
    /// All trace has left the component.
    Empty,
    /// A switch, which can be written at any time.
    Switch,
    /// Writing 1 has an effect at once; reads as 0.
    Pulse,
    /// Whether trace is generated, with triggers: as [`Kind::Switch`] while field `by` is 0. While
    /// `by` is 1, this is the state with which tracing starts, which is constant while the
    /// component is in use; it reads as `input` then.
    Triggered {
        /// Name of the input.
        input: &'static str,
        /// Name of the field that enables triggers, in the same register.
        by: &'static str,
    },
    /// Set by an input, until 1 is written or the component is enabled.
    Sticky {
        /// Name of the input.
        input: &'static str,
    },
    /// Set by an input, until 1 is written or the component is enabled, also while the component is reset.
    Mark {
        /// Name of the input.
        input: &'static str,
    },
    /// A part of a pointer that hardware stores and moves, shown as by [`Kind::Status`]; the value
    /// written goes to the hardware, unless the component is in use.
    Pointer {
        /// Name of the input.
        input: &'static str,
        /// The first bit of it that is shown.
        from: u32,
        /// Number of bits that are shown.
        bits: u32,
    },
}

/// How a component is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enable {
    /// At once. The input `busy_i` indicates how long it is still in use.
    Direct,
    /// After a flush: `flush_o` is set until `flushed_i`. It is in use until `empty_i` is set.
    Flushed {
        /// An input that also switches it off.
        stop: Option<&'static str>,
        /// An input while which it cannot be switched on.
        refuse: Option<&'static str>,
    },
}

impl Table {
    /// The register of this name.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name() == name)
    }

    /// The register at this offset.
    #[must_use]
    pub fn at(&self, offset: u32) -> Option<&Register> {
        self.registers.iter().find(|register| register.offset == offset)
    }

    /// How the component is switched off.
    pub(crate) fn enable(&self) -> Enable {
        let mut kinds =
            self.registers.iter().flat_map(|register| &register.fields).map(|field| &field.kind);
        let found = kinds.find_map(|kind| match kind {
            Kind::Enable(enable) => Some(*enable),
            _ => None,
        });
        found.unwrap_or(Enable::Direct)
    }
}

impl Register {
    pub(crate) fn new(template: &'static str, offset: u32, doc: &'static str) -> Self {
        Self { template, index: None, stride: 0, offset, doc, fields: Vec::new() }
    }

    /// Number `index` of registers of the same kind, of which the first is at `first`.
    pub(crate) fn nth(
        template: &'static str,
        (first, stride): (u32, u32),
        index: u32,
        doc: &'static str,
    ) -> Self {
        Self { index: Some(index), stride, ..Self::new(template, first + stride * index, doc) }
    }

    pub(crate) fn field(
        self,
        (msb, lsb): (u32, u32),
        name: &'static str,
        kind: Kind,
        doc: &'static str,
    ) -> Self {
        self.choice((msb, lsb), name, kind, doc, &[])
    }

    /// A field whose values have names.
    pub(crate) fn choice(
        mut self,
        (msb, lsb): (u32, u32),
        name: &'static str,
        kind: Kind,
        doc: &'static str,
        values: &[(u32, &'static str, &'static str)],
    ) -> Self {
        let width = msb + 1 - lsb;
        self.fields.push(Field { name, lsb, width, kind, doc, values: values.to_vec() });
        self
    }

    /// The specification's name.
    #[must_use]
    pub fn name(&self) -> String {
        let index = self.index.map(|index| index.to_string()).unwrap_or_default();
        self.template.replace("{i}", &index)
    }

    /// The name that it shares with others of its kind.
    #[must_use]
    pub fn family(&self) -> String {
        self.template.replace("{i}", "")
    }
}

impl Field {
    /// Mask of its bits at their position in the register.
    #[must_use]
    pub fn mask(&self) -> u32 {
        self.ones() << self.lsb
    }

    /// Mask of its bits, starting with bit 0.
    pub(crate) fn ones(&self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// Extracts its value from the value of the register.
    #[must_use]
    pub fn get(&self, register: u32) -> u32 {
        register >> self.lsb & self.ones()
    }

    /// Whether writing can change it.
    #[must_use]
    pub fn writable(&self) -> bool {
        match self.kind {
            Kind::Fixed(_) | Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty => false,
            Kind::Stored { .. }
            | Kind::Active
            | Kind::Enable(_)
            | Kind::Switch
            | Kind::Pulse
            | Kind::Triggered { .. }
            | Kind::Sticky { .. }
            | Kind::Mark { .. }
            | Kind::Pointer { .. } => true,
        }
    }
}

impl Kind {
    /// If `is`, all bits can be written; otherwise none, and it reads as 0.
    pub(crate) fn bits_if(is: bool, bits: u32) -> Self {
        match is {
            true => Self::stored(bits),
            false => Self::Fixed(0),
        }
    }

    /// All `bits` can be written.
    pub(crate) fn stored(bits: u32) -> Self {
        Self::Stored { from: 0, bits, tied: 0, choices: Vec::new() }
    }
}

//! What a table of registers consists of.

/// The registers of one trace component.
///
/// It has its own page of 4 KiB, aligned to 4 KiB; offsets count from the start of that.
///
/// Spec: Trace Control Interface 1.0, "Trace Components".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the component, in words.
    pub title: &'static str,
    /// Name of the component in code: of its module, its part of the driver.
    pub name: &'static str,
    /// What to know about all of it.
    pub doc: &'static str,
    /// What hardware tells the registers.
    pub inputs: Vec<Input>,
    /// Registers, by offset.
    pub registers: Vec<Register>,
}

/// A signal that hardware drives, `{name}_i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, without `_i`.
    pub name: &'static str,
    /// How many bits it has.
    pub width: u32,
    /// What it says.
    pub doc: &'static str,
}

/// One 32-bit register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The specification's name; `{i}` stands for [`Register::index`].
    pub template: &'static str,
    /// Which of several alike.
    pub index: Option<u32>,
    /// Where it is.
    pub offset: u32,
    /// What it is for.
    pub doc: &'static str,
    /// Fields, from bit 0 on. Other bits read as 0 and ignore what is written.
    pub fields: Vec<Field>,
}

/// Some bits of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The specification's name.
    pub name: &'static str,
    /// Its lowest bit.
    pub lsb: u32,
    /// How many bits it has.
    pub width: u32,
    /// How it behaves.
    pub kind: Kind,
    /// What it means.
    pub doc: &'static str,
    /// Values with a name: value, name, meaning.
    pub values: Vec<(u32, &'static str, &'static str)>,
}

/// How a field behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Always the same value.
    Fixed(u32),
    /// Shows `bits` bits of an input, from bit `from` on; above them are zeros.
    Status {
        /// Name of the input.
        input: &'static str,
        /// Its first bit that is shown.
        from: u32,
        /// How many bits are shown.
        bits: u32,
    },
    /// Keeps what is written, unless the component is in use; `tied` after a reset.
    Stored {
        /// The lowest bit that can be written.
        from: u32,
        /// How many bits can be written.
        bits: u32,
        /// The bits that cannot.
        tied: u32,
        /// Values that are taken, others are not; empty if all are.
        choices: Vec<u32>,
    },
    /// Always the same as another field.
    Copy {
        /// Name of its register.
        register: &'static str,
        /// Its name.
        field: &'static str,
    },
    /// The switch of the component. While it is 0, everything else is in reset. After 0 is written it
    /// reads as 1 until the component is no longer in use.
    Active,
    /// The component is in use. Can be set only once the component is active.
    Enable(Enable),
    /// Everything has left.
    Empty,
    /// Whether trace is generated: written at any time.
    Tracing,
    /// Whether trace is generated, with triggers: as [`Kind::Tracing`] while field `by` is 0. While it
    /// is 1, this is what tracing starts with, kept while the component is in use; it reads as `input`
    /// then.
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
    /// A part of a pointer that hardware keeps and moves, as [`Kind::Status`]; what is written goes
    /// there, unless the component is in use.
    Pointer {
        /// Name of the input.
        input: &'static str,
        /// Its first bit that is shown.
        from: u32,
        /// How many bits are shown.
        bits: u32,
    },
}

/// How a component is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enable {
    /// At once. The input `busy_i` says for how long it is in use still.
    Direct,
    /// After a flush: `flush_o` until `flushed_i`. It is in use as long as `empty_i` is not set.
    Flushed {
        /// An input that switches it off, too.
        stop: Option<&'static str>,
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
        Self { template, index: None, offset, doc, fields: Vec::new() }
    }

    /// One of several.
    pub(crate) fn number(mut self, index: u32) -> Self {
        self.index = Some(index);
        self
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

    /// The name that it shares with those alike.
    #[must_use]
    pub fn family(&self) -> String {
        self.template.replace("{i}", "")
    }
}

impl Field {
    /// Its bits, at their place in the register.
    #[must_use]
    pub fn mask(&self) -> u32 {
        self.ones() << self.lsb
    }

    /// Its bits, from bit 0 on.
    pub(crate) fn ones(&self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// Its value in a value of the register.
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
            | Kind::Tracing
            | Kind::Triggered { .. }
            | Kind::Sticky { .. }
            | Kind::Pointer { .. } => true,
        }
    }
}

impl Kind {
    /// Everything can be written if `is`, and nothing otherwise: then it reads as 0.
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

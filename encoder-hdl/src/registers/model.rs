//! A model of the registers.

use crate::registers::table::{Enable, Field, Kind, Register, Table};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Result of an illegal access: not aligned, or a write of less than a whole word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusError;

/// Inputs from hardware, by name; those that are missing are 0.
pub type Inputs = BTreeMap<&'static str, u64>;

/// A write on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Its address.
    pub address: u32,
    /// The data.
    pub data: u32,
    /// One bit for each byte that is written.
    pub strobe: u8,
}

impl Write {
    /// A write of a whole word.
    #[must_use]
    pub const fn word(address: u32, data: u32) -> Self {
        Self { address, data, strobe: 0b1111 }
    }
}

/// The registers of a table, as software sees them.
///
/// It interprets the table, like the generated RTL, but shares no code with it.
#[derive(Clone, Debug)]
pub struct Model {
    table: Arc<Table>,
    /// State of the fields: those of [`Kind::Stored`], tracing and sticky ones.
    kept: BTreeMap<(u32, &'static str), u32>,
    active: bool,
    enabled: bool,
    flushing: bool,
    aborts: bool,
}

/// Effect of a clock edge besides changes of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// A new value of the pointer.
    pub pointer: Option<u64>,
    /// 1 was written to a field of [`Kind::Pulse`].
    pub pulse: bool,
}

impl Model {
    /// Creates a model after a reset.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        let kept = BTreeMap::new();
        Self {
            table: Arc::new(table.clone()),
            kept,
            active: false,
            enabled: false,
            flushing: false,
            aborts: false,
        }
    }

    /// Whether what is inside is to be thrown away: it was switched off twice.
    #[must_use]
    pub fn aborts(&self) -> bool {
        self.aborts
    }

    /// Whether writes to its configuration are ignored.
    #[must_use]
    pub fn in_use(&self, inputs: &Inputs) -> bool {
        let busy = match self.table.enable() {
            Enable::Direct => bit(inputs, "busy"),
            Enable::Flushed { .. } => !bit(inputs, "empty"),
        };
        self.enabled || busy
    }

    /// Whether the component is switched off and can be reset.
    fn held(&self, inputs: &Inputs) -> bool {
        !self.active && !self.in_use(inputs)
    }

    /// Whether the component is active and enabled, or still flushes.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// Whether a flush is requested.
    #[must_use]
    pub fn flushes(&self) -> bool {
        self.flushing
    }

    /// The stored value of a field, which may differ from the value that it reads as.
    #[must_use]
    pub fn kept(&self, register: &str, field: &str) -> Option<u32> {
        let register = self.table.register(register)?;
        let field = register.fields.iter().find(|other| other.name == field)?;
        match &field.kind {
            Kind::Stored { tied, .. } => {
                Some(*self.kept.get(&(register.offset, field.name)).unwrap_or(tied))
            }
            Kind::Switch | Kind::Triggered { .. } | Kind::Sticky { .. } | Kind::Mark { .. } => {
                Some(self.kept.get(&(register.offset, field.name)).copied().unwrap_or(0))
            }
            _ => None,
        }
    }

    /// Reads a register. Addresses without a register read as 0.
    ///
    /// # Errors
    ///
    /// If the address is not aligned.
    pub fn read(&self, address: u32, inputs: &Inputs) -> Result<u32, BusError> {
        if !address.is_multiple_of(4) {
            return Err(BusError);
        }
        Ok(self.table.at(address).map_or(0, |register| self.value(register, inputs)))
    }

    fn value(&self, register: &Register, inputs: &Inputs) -> u32 {
        let fields = register.fields.iter();
        fields.map(|field| self.shown(register, field, inputs) << field.lsb).sum()
    }

    fn shown(&self, register: &Register, field: &Field, inputs: &Inputs) -> u32 {
        let kept = || self.kept(&register.name(), field.name).unwrap_or(0);
        match &field.kind {
            Kind::Fixed(value) => *value,
            Kind::Pulse => 0,
            Kind::Status { input, from, bits } | Kind::Pointer { input, from, bits } => {
                let value = inputs.get(input).copied().unwrap_or(0) >> from;
                (value & (u64::MAX >> (64 - bits))) as u32
            }
            Kind::Stored { .. } | Kind::Switch | Kind::Sticky { .. } | Kind::Mark { .. } => kept(),
            Kind::Copy { register, field } => {
                let register = self.table.register(register);
                let found =
                    register.and_then(|r| Some((r, r.fields.iter().find(|f| f.name == *field)?)));
                found.map_or(0, |(register, field)| self.shown(register, field, inputs))
            }
            Kind::Active => (self.active || self.in_use(inputs)).into(),
            Kind::Enable(_) => (self.enabled && !self.flushing).into(),
            Kind::Empty => match self.table.enable() {
                Enable::Direct => (bit(inputs, "empty") && !bit(inputs, "busy")).into(),
                Enable::Flushed { .. } => (bit(inputs, "empty") && !self.flushing).into(),
            },
            Kind::Triggered { input, by } => {
                let triggers = self.kept(&register.name(), by) == Some(1);
                if triggers && self.enabled { bit(inputs, input).into() } else { kept() }
            }
        }
    }

    /// Simulates a clock edge, at which a word may be written.
    ///
    /// # Errors
    ///
    /// If the address is not aligned, or less than a whole word is written; nothing is written
    /// then.
    pub fn clock(&mut self, write: Option<Write>, inputs: &Inputs) -> Result<Effect, BusError> {
        let legal = write.is_none_or(|w| w.address.is_multiple_of(4) && w.strobe == 0b1111);
        let write = write.filter(|_| legal);
        let before = self.clone();
        let (held, in_use) = (before.held(inputs), before.in_use(inputs));
        let mut effect = Effect::default();
        self.flush(inputs);
        let table = Arc::clone(&self.table);
        for register in &table.registers {
            let written = write.filter(|w| w.address == register.offset).map(|w| w.data);
            for field in &register.fields {
                let value = written.map(|word| field.get(word));
                self.change(&before, (register, field), value, (held, in_use), inputs);
                effect.pulse |= field.kind == Kind::Pulse && value == Some(1) && before.active;
                if let (Kind::Pointer { input, from, bits }, Some(value)) = (&field.kind, value)
                    && before.active
                    && !in_use
                {
                    let mask = (u64::MAX >> (64 - bits)) << from;
                    let old = inputs.get(input).copied().unwrap_or(0);
                    effect.pointer = Some(old & !mask | u64::from(value) << from & mask);
                }
            }
        }
        if legal { Ok(effect) } else { Err(BusError) }
    }

    /// Ends a requested flush, or requests one because hardware stopped.
    fn flush(&mut self, inputs: &Inputs) {
        let Enable::Flushed { stop, .. } = self.table.enable() else { return };
        if self.flushing {
            let done = bit(inputs, "flushed");
            self.flushing = !done;
            self.enabled &= !done;
        } else if self.enabled && stop.is_some_and(|stop| bit(inputs, stop)) {
            self.flushing = true;
        }
    }

    fn change(
        &mut self,
        before: &Self,
        (register, field): (&Register, &Field),
        value: Option<u32>,
        (held, in_use): (bool, bool),
        inputs: &Inputs,
    ) {
        let key = (register.offset, field.name);
        let name = register.name();
        match &field.kind {
            Kind::Fixed(_) | Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty => {}
            // The value written goes to the hardware.
            Kind::Pointer { .. } | Kind::Pulse => {}
            Kind::Active => {
                if let Some(value) = value {
                    self.active = value == 1;
                }
                let again = value == Some(0) && !before.active;
                self.aborts = in_use && (before.aborts || again);
            }
            Kind::Enable(how) => {
                let Some(value) = value else { return };
                // The active bit is in the same register, at a lower position, and has already
                // been written.
                let on = value == 1 && before.active && self.active;
                match how {
                    Enable::Direct => self.enabled = on,
                    Enable::Flushed { .. } if before.enabled => {
                        self.flushing |= !before.flushing && !on;
                    }
                    Enable::Flushed { refuse, .. } => {
                        self.enabled = on && !refuse.is_some_and(|refuse| bit(inputs, refuse));
                    }
                }
            }
            Kind::Mark { input } => {
                let clears = value == Some(1) || (self.enabled && !before.enabled);
                let kept = before.kept(&name, field.name) == Some(1) && !clears;
                self.kept.insert(key, (kept || bit(inputs, input)).into());
            }
            Kind::Sticky { input } => {
                let clears = value == Some(1) || (self.enabled && !before.enabled);
                let kept = before.kept(&name, field.name) == Some(1) && !clears;
                let set = !held && (kept || bit(inputs, input));
                self.kept.insert(key, set.into());
            }
            _ if held => {
                self.kept.remove(&key);
            }
            Kind::Stored { from, bits, tied, choices } => {
                let Some(value) = value else { return };
                let legal = choices.is_empty() || choices.contains(&value);
                if before.active && !in_use && legal {
                    let mask = (u32::MAX >> (32 - bits)) << from;
                    self.kept.insert(key, value & mask | tied);
                }
            }
            Kind::Switch => {
                let Some(value) = value else { return };
                if before.active {
                    self.kept.insert(key, value);
                }
            }
            Kind::Triggered { by, .. } => {
                let Some(value) = value else { return };
                let triggers = before.kept(&name, by) == Some(1);
                if before.active && !(in_use && triggers) {
                    self.kept.insert(key, value);
                }
            }
        }
    }
}

fn bit(inputs: &Inputs, name: &str) -> bool {
    inputs.get(name).is_some_and(|value| value & 1 == 1)
}

//! The registers of any table.

use super::apb::{Apb, Decoder};
use super::usage::Usage;
use crate::registers::names;
use crate::registers::table::{Enable, Field, Kind, Register, Table};
use hartrace_rtl::{Expr, Module, concat, lit, zero};
use std::collections::BTreeMap;

/// The registers in a module under construction. [`Block::finish`] makes them readable.
pub(super) struct Block<'a> {
    m: &'a Module,
    table: &'a Table,
    apb: Apb,
    decoder: Decoder,
    inputs: BTreeMap<&'static str, Expr>,
    pub(super) usage: Usage,
    /// A write that configuration accepts, and one that the other fields accept.
    configures: Expr,
    controls: Expr,
    /// The data written, or zeros while everything is reset: one gate for all registers.
    data: Expr,
    /// Values that fields store, by register and field.
    kept: BTreeMap<(String, &'static str), Expr>,
}

impl<'a> Block<'a> {
    pub(super) fn new(m: &'a Module, table: &'a Table) -> Self {
        let apb = Apb::new(m);
        let port = |name: &str, width, doc| m.input(&format!("{name}_i"), width, doc);
        let inputs = table.inputs.iter();
        let inputs: BTreeMap<_, _> =
            inputs.map(|input| (input.name, port(input.name, input.width, input.doc))).collect();
        let decoder = Decoder::new(m, &apb, table);
        let control = m.let_("usage_write", &apb.write & decoder.is(0));
        let usage = Usage::new(m, table, &apb, &control, &inputs);
        let controls = m.let_("controls", &apb.write & &usage.active);
        let configures = m.let_("configures", &controls & !&usage.in_use);
        let data = m.let_("data", (!&usage.held).gate(&apb.data));
        let mut fields = table.registers.iter().flat_map(|register| &register.fields);
        if !fields.any(|field| matches!(field.kind, Kind::Stored { .. } | Kind::Pointer { .. })) {
            m.unused(&configures);
        }
        let kept = BTreeMap::new();
        let mut block =
            Self { m, table, apb, decoder, inputs, usage, configures, controls, data, kept };
        m.section("What is configured.");
        for (i, register) in table.registers.iter().enumerate() {
            block.store(i, register);
        }
        for (i, register) in table.registers.iter().enumerate() {
            for field in &register.fields {
                if let Some(value) = block.keep(i, register, field) {
                    block.kept.insert((register.name(), field.name), value);
                }
            }
        }
        block.unread_data();
        block
    }

    /// The value that a field stores; of [`Kind::Stored`] only the bits that can be written, of [`Kind::Pulse`] whether 1 is
    /// written now.
    pub(super) fn kept(&self, register: &str, field: &str) -> Option<Expr> {
        let found = self.kept.iter().find(|((r, f), _)| r == register && *f == field);
        found.map(|(_, value)| value.clone())
    }

    /// Adds the configuration fields of a register.
    fn store(&mut self, i: usize, register: &Register) {
        let m = self.m;
        if !register.fields.iter().any(|field| matches!(field.kind, Kind::Stored { .. })) {
            return;
        }
        let name = format!("{}_write", local_name(&register.name()));
        let write = m.let_(&name, &self.configures & self.decoder.is(i));
        for field in &register.fields {
            let Kind::Stored { from, bits, choices, .. } = &field.kind else { continue };
            let data = self.data.slice(field.lsb + from, *bits);
            let legal: Vec<Expr> = choices.iter().map(|choice| data.is((*choice).into())).collect();
            let legal = legal.into_iter().reduce(|a, b| a | b);
            let write = legal.map_or(write.clone(), |legal| &write & legal);
            let name = reg_name(register, field);
            let reg = m.reg_en(&name, zero(*bits), &self.usage.held | write);
            m.assign(&reg.d, data);
            self.kept.insert((register.name(), field.name), reg.q);
        }
    }

    /// Adds other fields that store something.
    fn keep(&self, i: usize, register: &Register, field: &Field) -> Option<Expr> {
        let m = self.m;
        let name = reg_name(register, field);
        let here = self.decoder.is(i);
        let switch = |write: Expr| {
            let reg = m.reg_en(&name, false, &self.usage.held | write);
            m.assign(&reg.d, self.data.bit(field.lsb));
            reg.q
        };
        match &field.kind {
            Kind::Switch => Some(switch(&self.controls & here)),
            Kind::Pulse => Some(&self.controls & here & self.data.bit(field.lsb)),
            Kind::Triggered { by, .. } => {
                let triggers = self.kept(&register.name(), by)?;
                let may = &self.configures | (&self.controls & !triggers);
                Some(switch(may & here))
            }
            Kind::Sticky { input } | Kind::Mark { input } => {
                let reg = m.reg(&name, false);
                let written = &self.apb.write & here & self.apb.data.bit(field.lsb);
                let set = (&reg.q & !(written | &self.usage.enables)) | &self.inputs[input];
                let survives = matches!(field.kind, Kind::Mark { .. });
                m.assign(&reg.d, if survives { set } else { !&self.usage.held & set });
                Some(reg.q)
            }
            _ => None,
        }
    }

    /// The write enable of a pointer, and the value written.
    ///
    /// The value matters only with the write enable, so the part that is written is chosen by
    /// address alone.
    pub(super) fn pointer(&self, of: &str) -> (Expr, Expr) {
        let registers = self.table.registers.iter().enumerate();
        let fields = registers.flat_map(|(i, r)| r.fields.iter().map(move |field| (i, r, field)));
        let parts: Vec<_> = fields
            .filter_map(|(i, register, field)| match &field.kind {
                Kind::Pointer { input, from, bits } if *input == of => {
                    let name = format!("{}_meant", names::short(&register.name()));
                    Some((self.m.let_(&name, self.decoder.is(i)), field.lsb, *from, *bits))
                }
                _ => None,
            })
            .collect();
        let now = &self.inputs[of];
        let mut value: Vec<Expr> = Vec::new();
        let mut at = 0;
        for (meant, lsb, from, bits) in &parts {
            if *from > at {
                value.push(now.slice(at, from - at));
            }
            let data = self.apb.data.slice(*lsb, *bits);
            value.push(match parts.len() {
                1 => data,
                _ => meant.mux(data, now.slice(*from, *bits)),
            });
            at = from + bits;
        }
        let meant = parts.into_iter().map(|part| part.0).reduce(|a, b| a | b);
        let write = &self.configures & meant.unwrap_or_else(|| zero(1));
        (write, concat(&value.iter().rev().collect::<Vec<_>>()))
    }

    /// Adds the read side.
    pub(super) fn finish(self) {
        let m = self.m;
        m.section(
            "What is read: taken in the cycle before the access, so that it comes from a register.",
        );
        let values: Vec<Expr> = self.table.registers.iter().map(|r| self.value(r)).collect();
        let chosen = self.decoder.choose(m, &values);
        let prdata = m.reg_data("prdata", 32, &self.apb.setup);
        m.assign(&prdata.d, chosen);
        m.assign(&self.apb.prdata, &prdata.q);
    }

    fn value(&self, register: &Register) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        let mut at = 0;
        for field in &register.fields {
            if field.lsb > at {
                parts.push(zero(field.lsb - at));
            }
            parts.push(self.shown(register, field));
            at = field.lsb + field.width;
        }
        if at < 32 {
            parts.push(zero(32 - at));
        }
        concat(&parts.iter().rev().collect::<Vec<_>>())
    }

    fn shown(&self, register: &Register, field: &Field) -> Expr {
        let kept = || self.kept(&register.name(), field.name).unwrap_or_else(|| zero(field.width));
        let usage = &self.usage;
        match &field.kind {
            Kind::Fixed(value) => lit(field.width, (*value).into()),
            Kind::Pulse => zero(field.width),
            Kind::Status { input, from, bits } | Kind::Pointer { input, from, bits } => {
                self.inputs[input].slice(*from, *bits).zext(field.width)
            }
            Kind::Stored { from, bits, tied, .. } => {
                let mut parts = vec![kept()];
                let above = field.width - from - bits;
                if above > 0 {
                    parts.insert(0, lit(above, (tied >> (from + bits)).into()));
                }
                if *from > 0 {
                    parts.push(lit(*from, (tied & (u32::MAX >> (32 - from))).into()));
                }
                concat(&parts.iter().collect::<Vec<_>>())
            }
            Kind::Copy { register, field } => {
                let of = self.table.register(register);
                let found = of.and_then(|r| Some((r, r.fields.iter().find(|f| f.name == *field)?)));
                found.map_or_else(|| zero(1), |(register, field)| self.shown(register, field))
            }
            Kind::Active => &usage.active | &usage.in_use,
            Kind::Enable(Enable::Direct) => usage.enabled.clone(),
            Kind::Enable(Enable::Flushed { .. }) => &usage.enabled & !&usage.flushing,
            Kind::Empty => match self.table.enable() {
                Enable::Direct => &self.inputs["empty"] & !&usage.busy,
                Enable::Flushed { .. } => &self.inputs["empty"] & !&usage.flushing,
            },
            Kind::Switch | Kind::Sticky { .. } | Kind::Mark { .. } => kept(),
            Kind::Triggered { input, by } => {
                let triggers = self.kept(&register.name(), by).unwrap_or_else(|| zero(1));
                (triggers & &usage.enabled).mux(&self.inputs[input], kept())
            }
        }
    }

    /// Marks bits that no field uses as intentionally unused.
    fn unread_data(&self) {
        let mut gated = 0;
        for field in self.table.registers.iter().flat_map(|register| &register.fields) {
            match &field.kind {
                Kind::Stored { from, bits, .. } => {
                    gated |= (u32::MAX >> (32 - bits)) << (field.lsb + from);
                }
                Kind::Switch | Kind::Pulse | Kind::Triggered { .. } => gated |= field.mask(),
                // These fields use the data written directly.
                Kind::Sticky { .. } | Kind::Mark { .. } | Kind::Active => {}
                Kind::Enable(_) | Kind::Pointer { .. } => {}
                Kind::Fixed(_) | Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty => {}
            }
        }
        for (lo, width) in runs(!gated) {
            self.m.unused(&self.data.slice(lo, width));
        }
    }
}

/// The name of a register or field within the module. `trTsControl` is not the only control register there.
fn local_name(name: &str) -> String {
    let time = if name.starts_with("trTs") { "time_" } else { "" };
    format!("{time}{}", names::short(name))
}

fn reg_name(register: &Register, field: &Field) -> String {
    let name = local_name(field.name);
    register.index.map_or(name.clone(), |index| format!("{name}_{index}"))
}

/// Runs of set bits: the first bit, and the number of bits.
fn runs(mut bits: u32) -> Vec<(u32, u32)> {
    let mut runs = Vec::new();
    let mut at = 0;
    while bits != 0 {
        let zeros = bits.trailing_zeros();
        bits = bits.checked_shr(zeros).unwrap_or(0);
        let ones = bits.trailing_ones();
        runs.push((at + zeros, ones));
        bits = bits.checked_shr(ones).unwrap_or(0);
        at += zeros + ones;
    }
    runs
}

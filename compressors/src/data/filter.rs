//! Register validation: an address is sent only if it cannot be computed from registers whose values are
//! known, either from addresses that were sent or from computations on them.

use super::adac::AdacCoder;
use super::operands::{Role, role};
use super::{DataCoder, DataStep, Lookup};
use crate::{BitSource, Bits, DecodeError};
use hartrace_isa::{Isa, Xlen, decode};
use hartrace_iss::{Hart, HartConfig, Range, Step};
use serde::{Deserialize, Serialize};

/// Options of the filter.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Whether trap handlers are traced too. Otherwise, as under Linux, a system call may change any
    /// register.
    pub handlers: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self { handlers: true }
    }
}

impl Filter {
    /// Creates a coder. Addresses are sent whole, or through a cache.
    pub(super) fn coder(self, xlen: Xlen, cache: Option<AdacCoder>) -> FilterCoder {
        FilterCoder { config: self, xlen, cache, valid: 1, values: [0; 32], bench: None }
    }
}

#[derive(Debug)]
pub(super) struct FilterCoder {
    config: Filter,
    xlen: Xlen,
    /// What the addresses go through that are sent.
    cache: Option<AdacCoder>,
    /// A bit for every register whose value is known; `x0` always is.
    valid: u32,
    /// For reading: the values.
    values: [u64; 32],
    /// For reading: a hart that computes results.
    bench: Option<Box<Hart>>,
}

/// The address at which single instructions are computed.
const BENCH: u64 = 0x8000_0000;

impl FilterCoder {
    fn is_valid(&self, register: u8) -> bool {
        self.valid >> register & 1 == 1
    }

    fn set_valid(&mut self, register: u8, valid: bool) {
        self.valid = self.valid & !(1 << register) | u32::from(valid) << register | 1;
    }

    /// Updates the valid bits in the same way on both sides. Values are updated first, while the sources are
    /// known.
    fn update(&mut self, role: Role, accessed: bool) {
        match role {
            Role::Memory { base, rd, .. } => {
                // A conditional store that failed reveals no address.
                if accessed {
                    self.set_valid(base, true);
                }
                // Cleared after the base is set, since both may be the same register.
                self.set_valid(rd, false);
            }
            Role::Compute { rd, sources } => {
                let valid = sources.iter().all(|source| self.is_valid(*source));
                self.set_valid(rd, valid);
            }
            Role::Constant { rd } => self.set_valid(rd, true),
            Role::Foreign { rd } => self.set_valid(rd, false),
            Role::Environment if !self.config.handlers => self.valid = 1,
            Role::Environment | Role::None => {}
        }
    }

    /// The result of an instruction that depends only on registers.
    fn compute(&mut self, encoding: u32, rd: u8, sources: [u8; 2]) -> u64 {
        let xlen = self.xlen;
        let bench = self.bench.get_or_insert_with(|| {
            let memory = vec![Range { base: BENCH, size: 0x1000 }];
            Box::new(Hart::new(HartConfig { reset_pc: BENCH, memory, xlen, ..Default::default() }))
        });
        for source in sources {
            bench.set_register(source, self.values[usize::from(source)]);
        }
        bench.write_memory(BENCH, &encoding.to_le_bytes());
        bench.set_pc(BENCH);
        bench.run(1, &mut |_: &Step| {});
        bench.registers().x[usize::from(rd)]
    }

    fn set_value(&mut self, register: u8, value: u64) {
        if register != 0 {
            self.values[usize::from(register)] = self.xlen.wrap(value);
        }
    }
}

impl DataCoder for FilterCoder {
    fn encode(&mut self, step: &DataStep, out: &mut Bits) -> Lookup {
        let role = role(step.encoding, self.xlen);
        let mut lookup = Lookup::None;
        if let (Role::Memory { base, .. }, Some(reference)) = (role, step.reference) {
            lookup = Lookup::found(self.is_valid(base));
            match &mut self.cache {
                _ if lookup == Lookup::Hit => {}
                Some(cache) => _ = cache.encode(step, out),
                None => out.put(reference.address, self.xlen.bits()),
            }
        }
        self.update(role, step.reference.is_some());
        lookup
    }

    fn decode(
        &mut self,
        step: &DataStep,
        from: &mut BitSource<'_>,
    ) -> Result<Option<u64>, DecodeError> {
        let role = role(step.encoding, self.xlen);
        let insn = decode(Isa::new(self.xlen), step.encoding);
        let mut address = None;
        match role {
            Role::Memory { base, offset, .. } if step.reference.is_some() => {
                let known = if self.is_valid(base) {
                    self.values[usize::from(base)].wrapping_add_signed(offset)
                } else {
                    match &mut self.cache {
                        Some(cache) => cache.decode(step, from)?.unwrap_or_default(),
                        None => from.get(self.xlen.bits())?,
                    }
                };
                address = Some(self.xlen.wrap(known));
                self.set_value(base, known.wrapping_sub(offset as u64));
            }
            Role::Compute { rd, sources } if sources.iter().all(|s| self.is_valid(*s)) => {
                let value = self.compute(step.encoding, rd, sources);
                self.set_value(rd, value);
            }
            Role::Constant { rd } => {
                let value = insn.map_or(0, |insn| match insn.constant(self.xlen, step.pc) {
                    Some((_, value)) => value,
                    None => insn.next(self.xlen, step.pc),
                });
                self.set_value(rd, value);
            }
            _ => {}
        }
        self.update(role, step.reference.is_some());
        Ok(address)
    }
}

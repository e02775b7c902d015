//! Bits to payload, one bit at a time.

use hartrace_etrace::{
    AddressReport, Branch, BranchCount, BranchFmt, BranchMap, Context, DataSupport, History,
    Ioptions, JumpTarget, Params, Payload, QualStatus, Records, Start, Support, Trap, Unit,
};
use thiserror::Error;

/// Reasons why bits are not a payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// No bits at all.
    #[error("payload is empty")]
    Empty,
    /// rv_tracer: shorter than its fixed fields.
    #[error("payload is too short for its format")]
    Short,
    /// Format 0 while no extension is on, or while both are and nothing distinguishes them.
    #[error("format 0 payload, but the modes in force do not say which extension it is")]
    Extension,
    /// A format 0 subformat whose extension is not on.
    #[error("format 0 subformat {0} is not in use")]
    Subformat(u8),
    /// branch_fmt 1.
    #[error("branch_fmt 1 is reserved")]
    BranchFmt,
    /// More than 31 bytes.
    #[error("payload of {0} bits is longer than 31 bytes")]
    Long(usize),
}

struct Unpacker<'a> {
    params: &'a Params,
    unit: Unit,
    bits: &'a [bool],
    pos: usize,
}

/// Reads the payload in `bits`; past the end, the last bit repeats (rv_tracer: zeros).
pub(crate) fn unpack(
    bits: &[bool],
    params: &Params,
    unit: Unit,
    options: Ioptions,
) -> Result<Payload, Malformed> {
    match bits.len() {
        0 => Err(Malformed::Empty),
        n if n > 31 * 8 => Err(Malformed::Long(n)),
        _ => {
            let mut unpacker = Unpacker { params, unit, bits, pos: 0 };
            let payload = unpacker.payload(options)?;
            // rv_tracer payloads are padded, never shortened.
            let cut = unit == Unit::RvTracer && unpacker.pos > bits.len();
            if cut { Err(Malformed::Short) } else { Ok(payload) }
        }
    }
}

impl Unpacker<'_> {
    fn flag(&mut self) -> bool {
        let past_end = match self.unit {
            Unit::RvTracer => false,
            _ => self.bits[self.bits.len() - 1],
        };
        let bit = self.bits.get(self.pos).copied().unwrap_or(past_end);
        self.pos += 1;
        bit
    }

    fn take(&mut self, width: u32) -> u64 {
        let mut value = 0;
        for i in 0..width {
            let bit = u64::from(self.flag());
            if i < 64 {
                value |= bit << i;
            }
        }
        value
    }

    /// An address followed by `after` more bits.
    fn address(&mut self, signed: bool, after: usize) -> Result<u64, Malformed> {
        if self.unit != Unit::RvTracer {
            return Ok(self.take(self.params.address_bits()));
        }
        let rest = self.bits.len().checked_sub(self.pos + after + 1).ok_or(Malformed::Short)?;
        let width = 8 * (rest as u32 / 8).min(8) + 1;
        let value = self.take(width);
        let negative = signed && width < 64 && value >> (width - 1) == 1;
        Ok(if negative { value | u64::MAX << width } else { value })
    }

    fn map(&mut self, branches: u8) -> BranchMap {
        if branches == 0 {
            return BranchMap::EMPTY;
        }
        let rounded = (u32::from(branches) + 1).next_power_of_two() - 1;
        let map = self.take(rounded) as u32;
        BranchMap::new(branches, map).unwrap_or_default()
    }

    fn report(&mut self) -> Result<AddressReport, Malformed> {
        let address = self.address(true, 3 + self.params.irdepth_bits() as usize)?;
        let last = self.pos - 1;
        let msb = self.bits.get(last).copied().unwrap_or(self.bits[self.bits.len() - 1]);
        let notify = self.flag();
        let updiscon = self.flag();
        Ok(AddressReport {
            address,
            notify: if self.unit == Unit::RvTracer { notify } else { notify ^ msb },
            updiscon: updiscon ^ notify,
            irdepth: self.depth(updiscon),
        })
    }

    fn depth(&mut self, base: bool) -> Option<u32> {
        let irreport = self.flag();
        let irdepth = self.take(self.params.irdepth_bits()) as u32;
        (irreport != base).then_some(irdepth)
    }

    fn machine_state(&mut self) -> Context {
        let privilege = self.take(self.params.privilege_width_p.into()) as u8;
        let time =
            if self.params.notime_p { 0 } else { self.take(self.params.time_width_p.into()) };
        let context =
            if self.params.nocontext_p { 0 } else { self.take(self.params.context_width_p.into()) };
        Context { privilege, time, context }
    }

    fn payload(&mut self, options: Ioptions) -> Result<Payload, Malformed> {
        match self.take(2) {
            0 => self.extension(options),
            1 => {
                let branches = self.take(5) as u8;
                if branches == 0 {
                    let map = self.map(31);
                    return Ok(Payload::Branch(Branch { map, address: None }));
                }
                let map = self.map(branches);
                // R1: a full map may be sent as 31 branches, without an address.
                let room = self.bits.len().saturating_sub(self.pos);
                if self.unit == Unit::RvTracer && branches == 31 && room < 9 + 3 {
                    return Ok(Payload::Branch(Branch { map, address: None }));
                }
                Ok(Payload::Branch(Branch { map, address: Some(self.report()?) }))
            }
            2 => Ok(Payload::Address(self.report()?)),
            _ => self.sync(options),
        }
    }

    fn extension(&mut self, options: Ioptions) -> Result<Payload, Malformed> {
        let history = options.history_prediction && self.params.hpred_size_p > 0;
        let index = if self.params.f0s_width_p == 0 {
            match (options.branch_prediction, options.jump_target_cache, history) {
                (true, false, false) => false,
                (false, true, false) => true,
                (false, false, true) => return Ok(self.history()),
                _ => return Err(Malformed::Extension),
            }
        } else {
            match self.take(self.params.f0s_width_p.into()) {
                0 if options.branch_prediction => false,
                1 if options.jump_target_cache => true,
                2 if history => return Ok(self.history()),
                other => return Err(Malformed::Subformat(other as u8)),
            }
        };
        if index {
            let index = self.take(self.params.cache_size_p.into()) as u32;
            let branches = self.take(5) as u8;
            let map = self.map(branches);
            let base = self.pos - 1;
            let base = self.bits.get(base).copied().unwrap_or(self.bits[self.bits.len() - 1]);
            return Ok(Payload::JumpTarget(JumpTarget { index, map, irdepth: self.depth(base) }));
        }
        let branch_count = self.take(32) as u32;
        let branch_fmt = match self.take(2) {
            0 => BranchFmt::NoAddress,
            2 => BranchFmt::Address(self.report()?),
            3 => BranchFmt::MispredictedAddress(self.report()?),
            _ => return Err(Malformed::BranchFmt),
        };
        Ok(Payload::BranchCount(BranchCount { branch_count, branch_fmt }))
    }

    fn history(&mut self) -> Payload {
        let stop = self.flag().then(|| self.take(History::HALF_WORDS_BITS) as u32);
        let room = History::RECORD_BITS - if stop.is_some() { History::HALF_WORDS_BITS } else { 0 };
        let records = Records::new((0..room).map(|_| self.flag())).unwrap_or(Records::EMPTY);
        Payload::History(History { stop, records })
    }

    fn sync(&mut self, options: Ioptions) -> Result<Payload, Malformed> {
        let subformat = self.take(2);
        if subformat == 3 {
            return Ok(self.support());
        }
        if subformat == 2 {
            return Ok(Payload::Context(self.machine_state()));
        }
        let branch = self.flag();
        let Context { privilege, time, context } = self.machine_state();
        if subformat == 0 {
            let address = self.address(false, 0)?;
            return Ok(Payload::Start(Start { branch, privilege, time, context, address }));
        }
        let ecause = self.take(self.params.ecause_width_p.into());
        let interrupt = self.flag();
        let thaddr = self.flag();
        let tval_width = u32::from(self.params.iaddress_width_p);
        let implicit = options.implicit_exception && thaddr;
        let address = if implicit { None } else { Some(self.address(false, tval_width as usize)?) };
        let has_tval = !interrupt || self.unit == Unit::RvTracer;
        let tval = has_tval.then(|| self.take(tval_width));
        Ok(Payload::Trap(Trap {
            branch,
            privilege,
            time,
            context,
            ecause,
            interrupt,
            thaddr,
            address,
            tval,
        }))
    }

    fn support(&mut self) -> Payload {
        let ienable = self.flag();
        let encoder_mode = self.take(1) as u8;
        let qual_status = QualStatus::from_raw(self.take(2) as u8);
        let mut o = Ioptions::default();
        if self.unit == Unit::RvTracer {
            o.jump_target_cache = self.flag();
            o.branch_prediction = self.flag();
            o.implicit_return = self.flag();
            o.sequentially_inferred_jump = self.flag();
            o.implicit_exception = self.flag();
            o.full_address = self.flag();
            o.delta_address = self.flag();
        } else {
            o.implicit_return = self.flag();
            o.implicit_exception = self.flag();
            o.full_address = self.flag();
            o.jump_target_cache = self.flag();
            o.branch_prediction = self.flag();
            o.sequentially_inferred_jump = self.unit == Unit::Hartrace && self.flag();
        }
        o.history_prediction = self.params.hpred_size_p > 0 && self.flag();
        let data = if self.unit == Unit::RvTracer {
            DataSupport::default()
        } else {
            DataSupport { denable: self.flag(), dloss: self.flag(), doptions: self.take(4) as u8 }
        };
        Payload::Support(Support { ienable, encoder_mode, qual_status, ioptions: o, data })
    }
}

//! Payload to bits, one bit at a time.
//!
//! Spec: E-Trace 2.0, chapter 7, field tables in order of transmission.

use hartrace_etrace::{
    AddressReport, BranchFmt, BranchMap, History, Ioptions, Params, Payload, Support, Unit,
};

/// Content of an irdepth field when irreport is not flagged.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum IrdepthFiller {
    /// Copies of the bit before it, so that it compresses away (the text).
    Updiscon,
    /// Ones (the Python reference model).
    Ones,
}

struct Packer<'a> {
    params: &'a Params,
    unit: Unit,
    filler: IrdepthFiller,
    bits: Vec<bool>,
}

/// Converts the payload to bytes, sign compressed (rv_tracer: zero padded).
pub(crate) fn pack(
    payload: &Payload,
    params: &Params,
    unit: Unit,
    options: Ioptions,
    filler: IrdepthFiller,
) -> Vec<u8> {
    let mut p = Packer { params, unit, filler, bits: Vec::new() };
    p.payload(payload, options);
    if unit == Unit::RvTracer { to_bytes(&p.bits, false) } else { compress(p.bits) }
}

/// Drops all but one of the identical bits at the top, and pads with that one.
fn compress(mut bits: Vec<bool>) -> Vec<u8> {
    let sign = bits[bits.len() - 1];
    while bits.len() > 1 && bits[bits.len() - 2] == sign {
        bits.pop();
    }
    to_bytes(&bits, sign)
}

fn to_bytes(bits: &[bool], pad: bool) -> Vec<u8> {
    let bit = |i: usize| u8::from(*bits.get(i).unwrap_or(&pad));
    (0..bits.len().div_ceil(8)).map(|b| (0..8).map(|i| bit(8 * b + i) << i).sum()).collect()
}

impl Packer<'_> {
    fn put(&mut self, value: u64, width: u32) {
        for i in 0..width {
            self.bits.push(i < 64 && value >> i & 1 == 1);
        }
    }

    fn flag(&mut self, value: bool) {
        self.bits.push(value);
    }

    /// An absolute address, or a difference if `signed`.
    fn address(&mut self, value: u64, signed: bool) {
        if self.unit != Unit::RvTracer {
            return self.put(value, self.params.address_bits());
        }
        // rv_tracer: two's complement width in whole bytes, plus a bit.
        let negative = signed && value >> 63 == 1;
        let sign = if negative { u64::MAX } else { 0 };
        let mut chunks = 1;
        while chunks < 8 && value >> (8 * chunks - 1) != sign >> (8 * chunks - 1) {
            chunks += 1;
        }
        self.put(value, 8 * chunks);
        self.flag(if chunks == 8 { negative } else { value >> (8 * chunks) & 1 == 1 });
    }

    fn machine_state(&mut self, privilege: u8, time: u64, context: u64) {
        self.put(privilege.into(), self.params.privilege_width_p.into());
        if !self.params.notime_p {
            self.put(time, self.params.time_width_p.into());
        }
        if !self.params.nocontext_p {
            self.put(context, self.params.context_width_p.into());
        }
    }

    /// branches and branch_map; the map is rounded up to 1, 3, 7, 15 or 31 bits.
    fn map(&mut self, map: &BranchMap, full: bool) {
        let n = u32::from(map.branches());
        self.put(if full { 0 } else { n.into() }, 5);
        if n > 0 {
            let rounded = (n + 1).next_power_of_two() - 1;
            self.put(map.raw().into(), rounded);
        }
    }

    fn report(&mut self, report: &AddressReport) {
        self.address(report.address, true);
        let notify = match self.unit {
            Unit::RvTracer => report.notify,
            _ => self.bits[self.bits.len() - 1] ^ report.notify,
        };
        self.flag(notify);
        self.flag(notify ^ report.updiscon);
        self.depth(report.irdepth);
    }

    /// irreport, as a difference from the bit before it, and irdepth.
    fn depth(&mut self, irdepth: Option<u32>) {
        let base = self.bits[self.bits.len() - 1];
        self.flag(base ^ irdepth.is_some());
        let filler = base || self.filler == IrdepthFiller::Ones;
        let value = irdepth.map_or(if filler { u64::MAX } else { 0 }, u64::from);
        self.put(value, self.params.irdepth_bits());
    }

    fn subformat0(&mut self, subformat: u64) {
        self.put(0, 2);
        self.put(subformat, self.params.f0s_width_p.into());
    }

    fn payload(&mut self, payload: &Payload, options: Ioptions) {
        match payload {
            Payload::BranchCount(p) => {
                self.subformat0(0);
                self.put(p.branch_count.into(), 32);
                match &p.branch_fmt {
                    BranchFmt::NoAddress => self.put(0, 2),
                    BranchFmt::Address(report) => {
                        self.put(2, 2);
                        self.report(report);
                    }
                    BranchFmt::MispredictedAddress(report) => {
                        self.put(3, 2);
                        self.report(report);
                    }
                }
            }
            Payload::JumpTarget(p) => {
                self.subformat0(1);
                self.put(p.index.into(), self.params.cache_size_p.into());
                self.map(&p.map, false);
                self.depth(p.irdepth);
            }
            Payload::Branch(p) => {
                self.put(1, 2);
                self.map(&p.map, p.address.is_none());
                if let Some(report) = &p.address {
                    self.report(report);
                }
            }
            Payload::Address(report) => {
                self.put(2, 2);
                self.report(report);
            }
            Payload::Start(p) => {
                self.put(3, 2);
                self.put(0, 2);
                self.flag(p.branch);
                self.machine_state(p.privilege, p.time, p.context);
                self.address(p.address, false);
            }
            Payload::Trap(p) => {
                self.put(3, 2);
                self.put(1, 2);
                self.flag(p.branch);
                self.machine_state(p.privilege, p.time, p.context);
                self.put(p.ecause, self.params.ecause_width_p.into());
                self.flag(p.interrupt);
                self.flag(p.thaddr);
                if !(options.implicit_exception && p.thaddr) {
                    self.address(p.address.unwrap_or(0), false);
                }
                if !p.interrupt || self.unit == Unit::RvTracer {
                    self.put(p.tval.unwrap_or(0), self.params.iaddress_width_p.into());
                }
            }
            Payload::Context(p) => {
                self.put(3, 2);
                self.put(2, 2);
                self.machine_state(p.privilege, p.time, p.context);
            }
            Payload::Support(p) => self.support(p),
            Payload::History(p) => {
                self.subformat0(2);
                self.flag(p.stop.is_some());
                let mut room = History::RECORD_BITS;
                if let Some(half_words) = p.stop {
                    self.put(half_words.into(), History::HALF_WORDS_BITS);
                    room -= History::HALF_WORDS_BITS;
                }
                (0..room).for_each(|at| self.flag(p.records.bit(at)));
            }
        }
    }

    fn support(&mut self, p: &Support) {
        self.put(3, 2);
        self.put(3, 2);
        self.flag(p.ienable);
        self.put(p.encoder_mode.into(), 1);
        self.put(p.qual_status as u64, 2);
        let o = &p.ioptions;
        let reference = [
            o.implicit_return,
            o.implicit_exception,
            o.full_address,
            o.jump_target_cache,
            o.branch_prediction,
        ];
        match self.unit {
            Unit::Reference => self.bits.extend(reference),
            Unit::Hartrace => {
                self.bits.extend(reference);
                self.flag(o.sequentially_inferred_jump);
            }
            Unit::RvTracer => self.bits.extend([
                o.jump_target_cache,
                o.branch_prediction,
                o.implicit_return,
                o.sequentially_inferred_jump,
                o.implicit_exception,
                o.full_address,
                o.delta_address,
            ]),
        }
        if self.params.hpred_size_p > 0 {
            self.flag(o.history_prediction);
        }
        if self.unit != Unit::RvTracer {
            self.flag(p.data.denable);
            self.flag(p.data.dloss);
            self.put(p.data.doptions.into(), 4);
        }
    }
}

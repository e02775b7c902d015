//! The same with the peer crate, which takes blocks too.

use crate::input::{Input, config};
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_etrace::{Ioptions, Params};
use riscv_etrace::config::Parameters;
use riscv_etrace::generator::hart2enc::{CType, IType as TheirIType};
use riscv_etrace::generator::step::{Kind, Step};
use riscv_etrace::generator::{self, Event, Generator};
use riscv_etrace::instruction::Size;
use riscv_etrace::packet::unit::{ReferenceDOptions, ReferenceIOptions};
use riscv_etrace::packet::{self, smi};
use riscv_etrace::types::{Context, Privilege, trap};
use std::num::NonZeroU8;

/// Number of packets between synchronisations, as for the others.
const RESYNC: u64 = 1 << 10;

/// A block, as the peer accepts it.
#[derive(Clone, Copy)]
struct Block(Retired);

impl Step for Block {
    fn address(&self) -> u64 {
        self.0.iaddr
    }

    fn last_offset(&self) -> u64 {
        self.0.last_address().wrapping_sub(self.0.iaddr)
    }

    fn kind(&self) -> Kind {
        let insn_size = if self.0.ilastsize == 0 { Size::Compressed } else { Size::Normal };
        match self.0.itype {
            IType::Exception | IType::Interrupt => Kind::Trap {
                insn_size: (self.0.iretire > 0).then_some(insn_size),
                info: trap::Info {
                    ecause: self.0.cause as u16,
                    tval: (self.0.itype == IType::Exception).then_some(self.0.tval),
                },
            },
            IType::TrapReturn => Kind::TrapReturn { insn_size },
            IType::Taken => Kind::Branch { insn_size, taken: true },
            IType::NotTaken => Kind::Branch { insn_size, taken: false },
            other => match TheirIType::try_from(other.raw()) {
                Ok(TheirIType::Jump(kind)) => {
                    Kind::Jump { insn_size, kind, sequentially_inferable: self.0.sijump }
                }
                _ => Kind::Retirement { insn_size },
            },
        }
    }

    fn ctype(&self) -> CType {
        CType::Unreported
    }

    fn context(&self) -> Context {
        let privilege = Privilege::try_from(self.0.privilege.0).unwrap_or_default();
        Context { privilege, context: self.0.context }
    }
}

/// Encodes in delta mode; returns the number of payloads.
pub(crate) fn encode(input: &Input) -> u64 {
    let params = parameters(&config(input.xlen(), Ioptions::default()).params);
    let mut generator: Generator<Block, ReferenceIOptions, ReferenceDOptions> =
        generator::builder().with_params(&params).build().expect("a generator");
    // As long as the longest packet of every block would be is more than enough, so it is not touched.
    let mut buffer = vec![0; input.rows.len() * 16 + 4096];
    let mut encoder = packet::builder().with_params(&params).encoder(&mut buffer);
    let support = generator
        .begin_qualification(ReferenceIOptions::default(), ReferenceDOptions::default())
        .expect("no options");
    encoder.encode(&smi::Packet::new(2, 0, support)).expect("room");
    let (mut count, mut since) = (1, 0);
    for row in &input.rows {
        let resync = since > RESYNC;
        if resync {
            since = 0;
        }
        for payload in generator.process_step(Block(*row), resync.then_some(Event::ReSync)) {
            let payload = payload.expect("a payload");
            encoder.encode(&smi::Packet::new(2, 0, payload)).expect("room");
            count += 1;
            since += 1;
        }
    }
    for payload in generator.end_qualification(false) {
        encoder.encode(&smi::Packet::new(2, 0, payload.expect("a payload"))).expect("room");
        count += 1;
    }
    count
}

fn parameters(p: &Params) -> Parameters {
    let width = |value: u8| NonZeroU8::new(value).expect("not zero");
    Parameters {
        cache_size_p: 0,
        call_counter_size_p: 0,
        context_width_p: width(p.context_width_p),
        time_width_p: width(p.time_width_p),
        ecause_width_p: width(p.ecause_width_p),
        f0s_width_p: 0,
        iaddress_lsb_p: p.iaddress_lsb_p,
        iaddress_width_p: width(p.iaddress_width_p),
        nocontext_p: p.nocontext_p,
        notime_p: p.notime_p,
        privilege_width_p: width(p.privilege_width_p),
        return_stack_size_p: 0,
        sijump_p: false,
    }
}

//! Blocks by the definitions of E-Trace: contiguous instructions of one privilege level and context, of which
//! only the last may change the flow of control. Written independently of the hardware; it
//! processes single instructions, not lanes.

use crate::stream::{Cycle, Instruction};
use hartrace_cva6_connector::{Config, Retirement};
use hartrace_etrace::ingress::IType;
use hartrace_isa::{Isa, Xlen, decode};

/// Events that reach the encoder, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Block {
        itype: IType,
        iaddr: u64,
        iretire: u32,
        wide: bool,
        sijump: bool,
        privilege: u8,
        context: u64,
    },
    Trap {
        interrupt: bool,
        pc: u64,
        cause: u64,
        tval: u64,
        privilege: u8,
        context: u64,
    },
    /// The hart is halted for a while.
    Halt,
    /// Something was lost here.
    Lost,
}

pub(crate) struct Model<'a> {
    config: &'a Config,
    isa: Isa,
    open: Vec<Instruction>,
    privilege: u8,
    context: u64,
    pub(crate) events: Vec<Event>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        let xlen = if config.xlen == 32 { Xlen::Rv32 } else { Xlen::Rv64 };
        Self {
            config,
            isa: Isa::new(xlen),
            open: Vec::new(),
            privilege: 0,
            context: 0,
            events: Vec::new(),
        }
    }

    /// Commits are lost.
    pub(crate) fn lose(&mut self) {
        self.close();
        if self.events.last() != Some(&Event::Lost) {
            self.events.push(Event::Lost);
        }
    }

    pub(crate) fn cycle(&mut self, cycle: &Cycle) {
        if cycle.off {
            return self.close();
        }
        if cycle.lost {
            self.lose();
        }
        let (privilege, context) = (cycle.privilege, cycle.context);
        if cycle.flush || (privilege, context) != (self.privilege, self.context) {
            self.close();
        }
        (self.privilege, self.context) = (privilege, context);
        if !cycle.debug {
            cycle.lanes.iter().flatten().for_each(|instruction| self.retire(instruction));
        }
        if let Some(trap) = cycle.trap.filter(|_| !cycle.debug) {
            self.close();
            self.events.push(Event::Trap {
                interrupt: trap.interrupt,
                pc: trap.pc,
                cause: trap.cause & ((1 << self.config.ecause_width_p) - 1),
                // Only exceptions have a trap value.
                tval: if trap.interrupt { 0 } else { trap.tval },
                privilege: self.privilege,
                context: self.context,
            });
        }
        if cycle.halts() {
            self.close();
            if self.events.last() != Some(&Event::Halt) {
                self.events.push(Event::Halt);
            }
        }
    }

    fn retire(&mut self, instruction: &Instruction) {
        let follows = self.open.last().is_none_or(|last| {
            let next = last.pc.wrapping_add(last.size.into());
            let next = if self.config.xlen == 32 { next & 0xffff_ffff } else { next };
            next == instruction.pc
        });
        if !follows {
            self.close();
        }
        self.open.push(*instruction);
        let longest = (1 << self.config.iretire_width_p) - 1;
        let single = self.config.retirement == Retirement::Single;
        let may_turn = self.itype(instruction) != IType::None;
        if single || may_turn || self.half_words() + 2 > longest {
            self.close();
        }
    }

    fn half_words(&self) -> u32 {
        self.open.iter().map(|instruction| u32::from(instruction.size) / 2).sum()
    }

    /// The 4-bit code, from the encoding.
    fn itype(&self, instruction: &Instruction) -> IType {
        let insn = decode(self.isa, instruction.encoding).expect("an instruction");
        IType::try_from(insn.itype(instruction.taken)).expect("a code")
    }

    fn close(&mut self) {
        let (Some(first), Some(last)) = (self.open.first(), self.open.last()) else { return };
        let itype = self.itype(last);
        self.events.push(Event::Block {
            itype: if self.config.itype_width_p == 3 { itype.narrow() } else { itype },
            iaddr: first.pc,
            iretire: self.half_words(),
            wide: last.size == 4,
            sijump: last.sijump && self.config.sijump,
            privilege: self.privilege,
            context: self.context,
        });
        self.open.clear();
    }
}

//! The core's own record of what it executed.

use hartrace_etrace::ingress::Privilege;
use hartrace_hdl_tools::verilate::{Output, SimError, Simulation};
use std::fmt;

/// Number of commit ports of the core.
const PORTS: usize = 2;
/// Number of entries of the scoreboard.
const SLOTS: usize = 8;
/// Functional unit of branches and jumps.
const CTRL_FLOW: u8 = 4;
/// The highest bit of a cause: an interrupt.
const INTERRUPT: u64 = 1 << 63;

/// The kind of a [`Commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// An instruction retired.
    Retired,
    /// An instruction trapped and did not retire. `ecall` and `ebreak` are included.
    Exception,
    /// An interrupt was taken before an instruction.
    Interrupt,
    /// Debug mode was entered before an instruction.
    Debug,
}

/// One line of the core's own record: a retired instruction, a trap, or the entry to debug mode.
///
/// It is printed as a line of the table of [`Commit::HEADER`], which `hartrace-executions` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Commit {
    /// Clock cycles since reset was released.
    pub cycle: u64,
    /// The hart.
    pub hart: u8,
    /// Commit port, 0 for the older of two.
    pub port: u8,
    /// The kind of event.
    pub event: Event,
    /// Address of the instruction that retired, or of the one that did not.
    pub pc: u64,
    /// The instruction, if it retired; the upper half of a 2-byte instruction is zero.
    pub insn: u32,
    /// Its size in bytes, 2 or 4. Undefined if it could not be fetched.
    pub size: u8,
    /// The core's number of its functional unit.
    pub fu: u8,
    /// The core's number of the operation.
    pub op: u8,
    /// The privilege at which it ran, before a trap or return changes it.
    pub privilege: Privilege,
    /// Whether the core is in debug mode.
    pub debug: bool,
    /// Address of the next instruction, if it retired, as far as the execute stage knows: not for trap
    /// returns.
    pub next_pc: u64,
    /// Whether it is a taken branch or jump, as reported by the branch unit.
    pub taken: bool,
    /// Cause of a trap, without the bit that marks interrupts.
    pub cause: u64,
    /// Trap value of the core: for interrupts and in debug mode it holds something else.
    pub tval: u64,
    /// Whether it is `mret`, `sret` or `dret`.
    pub eret: bool,
    /// The target of a trap return, or the handler of a trap.
    pub target: u64,
}

impl Commit {
    /// Names of the columns.
    pub const HEADER: &'static str = "cycle,port,event,pc,insn,len,fu,op,priv,debug,next_pc,taken_sb,\
        taken_ex,cause,tval,eret,target";

    /// Returns the address of the next instruction in memory.
    #[must_use]
    pub fn fall_through(&self) -> u64 {
        self.pc.wrapping_add(self.size.into())
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (event, highest) = match self.event {
            Event::Retired => ("R", 0),
            Event::Exception => ("E", 0),
            Event::Interrupt => ("I", INTERRUPT),
            Event::Debug => ("D", 0),
        };
        let jumps = self.fu == CTRL_FLOW && self.event == Event::Retired;
        let elsewhere = jumps && self.next_pc != self.fall_through();
        let Self { cycle, port, pc, insn, size, fu, op, next_pc, tval, target, .. } = self;
        write!(f, "{cycle},{port},{event},{pc:x},{insn:x},{size},{fu},{op},{},", self.privilege.0)?;
        write!(f, "{},{next_pc:x},", u8::from(self.debug))?;
        write!(f, "{},{},", u8::from(elsewhere), u8::from(self.taken))?;
        let cause = self.cause | highest;
        write!(f, "{cause:x},{tval:x},{},{target:x}", u8::from(self.eret))
    }
}

/// Reads commits from the probe.
#[derive(Debug)]
pub(crate) struct Probe {
    hart: u8,
    ack: Output,
    pc: Output,
    compressed: Output,
    insn: Output,
    fu: Output,
    op: Output,
    slot: Output,
    next: Output,
    trap: Output,
    cause: Output,
    tval: Output,
    vector: Output,
    privilege: Output,
    debug: Output,
    debug_entry: Output,
    eret: Output,
    epc: Output,
    resolved: Output,
    resolved_slot: Output,
    resolved_taken: Output,
    /// Outcome of the branch or jump in each slot of the scoreboard.
    taken: [bool; SLOTS],
}

impl Probe {
    pub(crate) fn new(sim: &Simulation, hart: u8) -> Result<Self, SimError> {
        let port = |name: &str| sim.output(&format!("{name}_o"));
        Ok(Self {
            hart,
            ack: port("commit_ack")?,
            pc: port("commit_pc")?,
            compressed: port("commit_compressed")?,
            insn: port("commit_insn")?,
            fu: port("commit_fu")?,
            op: port("commit_op")?,
            slot: port("commit_slot")?,
            next: port("commit_next")?,
            trap: port("commit_trap")?,
            cause: port("commit_cause")?,
            tval: port("commit_tval")?,
            vector: port("commit_trap_vector")?,
            privilege: port("commit_priv")?,
            debug: port("commit_debug")?,
            debug_entry: port("commit_debug_entry")?,
            eret: port("commit_eret")?,
            epc: port("commit_epc")?,
            resolved: port("resolved")?,
            resolved_slot: port("resolved_slot")?,
            resolved_taken: port("resolved_taken")?,
            taken: [false; SLOTS],
        })
    }

    /// Passes on the commits of this cycle, in order.
    pub(crate) fn commits(&mut self, sim: &Simulation, cycle: u64, mut to: impl FnMut(Commit)) {
        let ack = sim.get(self.ack);
        for port in (0..PORTS).filter(|port| ack >> port & 1 == 1) {
            to(self.retired(sim, cycle, port));
        }
        let debug_entry = sim.get(self.debug_entry) == 1;
        if sim.get(self.trap) == 1 || debug_entry {
            to(self.trapped(sim, cycle, debug_entry));
        }
        // An entry is committed at the earliest one cycle after it is resolved.
        if sim.get(self.resolved) == 1 {
            let slot = sim.get(self.resolved_slot) as usize;
            self.taken[slot % SLOTS] = sim.get(self.resolved_taken) == 1;
        }
    }

    /// The fields that are common to all events.
    fn entry(&self, sim: &Simulation, cycle: u64, port: usize, event: Event) -> Commit {
        let field = |output, bits: usize| sim.get(output) >> (port * bits) & ((1 << bits) - 1);
        Commit {
            cycle,
            hart: self.hart,
            port: port as u8,
            event,
            pc: sim.get_wide(self.pc)[port],
            insn: field(self.insn, 32) as u32,
            size: if field(self.compressed, 1) == 1 { 2 } else { 4 },
            fu: field(self.fu, 4) as u8,
            op: field(self.op, 8) as u8,
            privilege: Privilege(sim.get(self.privilege) as u8),
            debug: sim.get(self.debug) == 1,
            next_pc: 0,
            taken: false,
            cause: 0,
            tval: 0,
            eret: port == 0 && sim.get(self.eret) == 1,
            target: 0,
        }
    }

    fn retired(&self, sim: &Simulation, cycle: u64, port: usize) -> Commit {
        let mut commit = self.entry(sim, cycle, port, Event::Retired);
        commit.next_pc = commit.fall_through();
        if commit.fu == CTRL_FLOW {
            commit.next_pc = sim.get_wide(self.next)[port];
            let slot = sim.get(self.slot) >> (3 * port) & 7;
            commit.taken = self.taken[slot as usize];
        }
        if commit.eret {
            commit.target = sim.get(self.epc);
        }
        commit
    }

    fn trapped(&self, sim: &Simulation, cycle: u64, debug_entry: bool) -> Commit {
        let cause = sim.get(self.cause);
        let event = match () {
            () if debug_entry => Event::Debug,
            () if cause & INTERRUPT != 0 => Event::Interrupt,
            () => Event::Exception,
        };
        Commit {
            cause: cause & !INTERRUPT,
            tval: sim.get(self.tval),
            target: sim.get(self.vector),
            ..self.entry(sim, cycle, 0, event)
        }
    }
}

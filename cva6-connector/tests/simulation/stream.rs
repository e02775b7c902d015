//! Random commits of a hart, cycle by cycle.

use fastrand::Rng;
use hartrace_cva6_connector::{Config, Kind};

/// An instruction that retires.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Instruction {
    pub(crate) pc: u64,
    pub(crate) encoding: u32,
    pub(crate) size: u8,
    pub(crate) kind: Kind,
    pub(crate) taken: bool,
    pub(crate) rd: u8,
    pub(crate) rs1: u8,
    pub(crate) sijump: bool,
}

/// A trap after the instructions of a cycle.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Trap {
    pub(crate) interrupt: bool,
    pub(crate) cause: u64,
    pub(crate) tval: u64,
    pub(crate) pc: u64,
}

/// The neutral port in one cycle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cycle {
    pub(crate) lanes: Vec<Option<Instruction>>,
    pub(crate) trap: Option<Trap>,
    pub(crate) privilege: u8,
    pub(crate) context: u64,
    pub(crate) debug: bool,
    pub(crate) halted: bool,
    pub(crate) flush: bool,
    /// Commits before these were lost.
    pub(crate) lost: bool,
    /// Nothing of it counts.
    pub(crate) off: bool,
}

impl Cycle {
    /// Whether the hart is halted behind it.
    pub(crate) fn halts(&self) -> bool {
        self.debug || self.halted
    }

    /// Whether something retires or traps.
    pub(crate) fn commits(&self) -> bool {
        !self.debug && (self.trap.is_some() || self.lanes.iter().any(Option::is_some))
    }
}

/// A hart that behaves at random.
pub(crate) struct Hart<'a> {
    config: &'a Config,
    pub(crate) rng: Rng,
    pc: u64,
    privilege: u8,
    context: u64,
    /// Remaining cycles of debug mode.
    debug: u8,
    /// Remaining cycles without jumps, so that blocks get long.
    straight: u8,
}

impl<'a> Hart<'a> {
    pub(crate) fn new(config: &'a Config, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let pc = address(&mut rng, config);
        Self { config, rng, pc, privilege: 3, context: 0, debug: 0, straight: 0 }
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(..n) == 0
    }

    /// The commits of the next cycle.
    pub(crate) fn cycle(&mut self) -> Cycle {
        let n = usize::from(self.config.lanes);
        if self.debug == 0 && self.one_in(150) {
            self.debug = self.rng.u8(1..12);
        }
        if self.straight == 0 && self.one_in(60) {
            self.straight = self.rng.u8(5..60);
        }
        let debug = self.debug > 0;
        self.debug = self.debug.saturating_sub(1);
        self.straight = self.straight.saturating_sub(1);
        let mut cycle = Cycle {
            lanes: vec![None; n],
            // Debug mode runs at the highest level.
            privilege: if debug { 3 } else { self.privilege },
            context: self.context,
            debug,
            halted: self.one_in(200),
            flush: self.one_in(40),
            lost: self.one_in(150),
            off: self.one_in(120),
            ..Cycle::default()
        };
        if self.one_in(3) && !debug {
            // No instruction: caches miss, divisions take long. The level may change here without a
            // reason.
            if self.one_in(40) {
                self.privilege = self.level();
            }
            return cycle;
        }
        // As the level may, the context changes between two cycles, whatever retires in them.
        if self.config.context_width_p > 0 && self.one_in(12) {
            self.context = self.rng.u64(..4) << (self.config.context_width_p - 2);
        }
        let (saved, straight) = (self.pc, self.straight > 0);
        let traps = self.one_in(if straight { 80 } else { 15 });
        let most = n - usize::from(traps);
        let mut returned = false;
        for _ in 0..self.rng.usize(..=most) {
            if !returned {
                // Lanes may be empty.
                let free = cycle.lanes.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
                let last = n - 1 - usize::from(traps);
                let lane = if self.one_in(6) && free < last { free + 1 } else { free };
                if lane <= last {
                    let instruction = self.instruction(straight);
                    returned = instruction.kind == Kind::TrapReturn;
                    cycle.lanes[lane] = Some(instruction);
                }
            }
        }
        if returned {
            self.privilege = self.level();
        } else if traps {
            let interrupt = self.rng.bool();
            let cause = self.rng.u64(..16) | u64::from(interrupt) << (self.config.xlen - 1);
            let tval = address(&mut self.rng, self.config);
            cycle.trap = Some(Trap { interrupt, cause, tval, pc: self.pc });
            self.pc = address(&mut self.rng, self.config);
            self.privilege = if self.one_in(3) { 1 } else { 3 };
        }
        if debug {
            // The program continues where it was interrupted, unless the debugger changed that.
            self.pc = if self.one_in(20) { address(&mut self.rng, self.config) } else { saved };
            self.privilege = if self.one_in(4) { self.level() } else { self.privilege };
        }
        cycle
    }

    /// A cycle without commits in which everything is output.
    pub(crate) fn quiet(&self) -> Cycle {
        let lanes = vec![None; self.config.lanes.into()];
        let (privilege, context) = (self.privilege, self.context);
        Cycle { lanes, privilege, context, flush: true, ..Cycle::default() }
    }

    fn level(&mut self) -> u8 {
        [0, 1, 3][self.rng.usize(..3)]
    }

    /// A register, often one with a special meaning.
    fn register(&mut self) -> u8 {
        if self.one_in(4) { self.rng.u8(..32) } else { [0, 1, 5, 10][self.rng.usize(..4)] }
    }

    fn instruction(&mut self, straight: bool) -> Instruction {
        let wide = self.rng.bool();
        let size = if wide { 4 } else { 2 };
        let (mut rd, mut rs1) = (self.register(), self.register());
        let mut kind = Kind::Plain;
        if !straight {
            let jumps = [Kind::Branch, Kind::Branch, Kind::DirectJump, Kind::IndirectJump];
            kind = match self.rng.u8(..10) {
                0..6 => Kind::Plain,
                n @ 6..10 => jumps[usize::from(n - 6)],
                _ => Kind::TrapReturn,
            };
            if self.one_in(30) {
                kind = Kind::TrapReturn;
            }
        }
        let taken = kind == Kind::Branch && self.rng.bool();
        let encoding = match (kind, wide) {
            (Kind::Plain, true) => 0x0000_0013 | u32::from(rd) << 7,
            (Kind::Plain, false) => 0x0001,
            (Kind::Branch, true) => 0x0000_0463,
            (Kind::Branch, false) => 0xc001,
            (Kind::DirectJump, true) => 0x0000_006f | u32::from(rd) << 7,
            (Kind::DirectJump, false) => {
                rd = 0;
                0xa001
            }
            (Kind::IndirectJump, true) => 0x0000_0067 | u32::from(rd) << 7 | u32::from(rs1) << 15,
            (Kind::IndirectJump, false) => {
                rs1 = rs1.max(1);
                rd = self.rng.u8(..2);
                0x8002 | u32::from(rd) << 12 | u32::from(rs1) << 7
            }
            (Kind::TrapReturn, _) => [0x3020_0073, 0x1020_0073][self.rng.usize(..2)],
        };
        let size = if kind == Kind::TrapReturn { 4 } else { size };
        let sijump = kind == Kind::IndirectJump && self.one_in(3);
        let next = mask(self.config, self.pc.wrapping_add(size.into()));
        let jumps = taken || !matches!(kind, Kind::Plain | Kind::Branch);
        // A jump may lead to the next address; rarely, the program continues elsewhere without a
        // jump.
        let elsewhere = jumps && !self.one_in(4) || self.one_in(300);
        let pc = self.pc;
        self.pc = if elsewhere { address(&mut self.rng, self.config) } else { next };
        Instruction { pc, encoding, size, kind, taken, rd, rs1, sijump }
    }
}

fn mask(config: &Config, address: u64) -> u64 {
    if config.xlen == 32 { address & 0xffff_ffff } else { address }
}

/// An address, often close to the end of the address space.
fn address(rng: &mut Rng, config: &Config) -> u64 {
    let any = if rng.u8(..20) == 0 { u64::MAX - rng.u64(..40) } else { rng.u64(..) };
    mask(config, any & !1)
}

use fastrand::Rng;
use hartrace_etrace::ingress::{ITypeWidth, Xlen};

/// What a walk should contain.
///
/// Every `u16` that is called a rate counts in thousandths: 0 means never, 1000 (or more) whenever
/// possible. Any combination of values is valid: values that do not fit are clamped or ignored, as
/// described at each field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Register width.
    pub xlen: Xlen,
    /// Use 16-bit instructions too.
    pub compressed: bool,
    /// Rows to produce; the walk has exactly this many. At most 2^24.
    pub steps: usize,
    /// Addresses are below `2^address_bits`. Clamped to 24..=xlen.
    pub address_bits: u8,
    /// Requested start addresses of the code segments. A segment that does not fit moves to the
    /// nearest free place above or, at the end of the address space, below. At most 16; empty means
    /// 0x8000_0000.
    pub bases: Vec<u64>,
    /// Number of ordinary functions over all segments; leaf functions are additional. Clamped to
    /// 1..=48.
    pub functions: u16,
    /// Rough number of constructs (straight runs, loops, calls, ...) per function. Clamped to 1..=24.
    pub density: u16,

    /// Rate of conditional branch constructs.
    pub branches: u16,
    /// Longest loop, in iterations.
    pub loop_limit: u16,
    /// Rate of direct and indirect calls.
    pub calls: u16,
    /// Rate of direct recursive and backward calls, each guarded by a branch.
    pub recursion: u16,
    /// Guards stop calling at this call depth. Unguarded calls may add a few levels to it.
    pub max_depth: u16,
    /// Rate of leaf functions called several times back to back.
    pub leaf_runs: u16,
    /// Rate of indirect jumps without return.
    pub indirect: u16,
    /// Rate of co-routine swaps. With `well_behaved` there are none unless traps are possible.
    pub swaps: u16,
    /// Rate at which functions end in a jump to another function instead of a return.
    pub tail_calls: u16,
    /// Rate of auipc/lui/c.lui + jalr/c.jr/c.jalr pairs.
    pub sijumps: u16,
    /// Also build such pairs that are returns by class (`auipc x1` + `jalr x0, imm(x1)`). Never with
    /// `well_behaved`.
    pub sijump_returns: bool,
    /// Rate of `jalr rd, imm(x0)`; a value above 0 adds a segment in the first or last 2 KiB.
    pub absolute: u16,
    /// Rate of returns that do not go back to the caller.
    pub mismatched_returns: u16,
    /// Returns go back to their callers; see [`Walk`](crate::walk::Walk). Overrides `mismatched_returns`.
    pub well_behaved: bool,

    /// Rate of exceptions per instruction.
    pub exceptions: u16,
    /// Rate of interrupts per instruction.
    pub interrupts: u16,
    /// Rate of a trap directly after a trap.
    pub nested_traps: u16,
    /// Maximum nesting of handlers; at this depth, no more traps happen. 0 turns all traps off,
    /// except environment calls.
    pub max_trap_depth: u8,
    /// Rate of ecall, ebreak and c.ebreak in the code.
    pub environment_calls: u16,
    /// ecall, ebreak and c.ebreak rows retire (`iretire` not 0), as the reference flow reports them.
    pub ecall_retires: bool,
    /// Interrupts enter at `tvec + 4 * cause`.
    pub vectored: bool,
    /// The first row is a trap, if `max_trap_depth` and the rates allow traps at all.
    pub trap_first: bool,
    /// The last row is a trap, likewise.
    pub trap_last: bool,
    /// Rate at which a trap handler returns to a different place, like a scheduler.
    pub reschedules: u16,
    /// Whether there is a supervisor mode.
    pub supervisor: bool,
    /// Whether there is a user mode.
    pub user: bool,

    /// Rate of context changes per instruction.
    pub context_changes: u16,
    /// Context identifiers are below `2^context_bits`; 0 turns changes off. Clamped to 0..=64.
    pub context_bits: u8,
    /// Rate of notify triggers per instruction.
    pub notifies: u16,
    /// Rate of trace-off triggers per row; trace-on follows some rows later.
    pub trace_toggles: u16,
    /// Rate of rows after which the hart is halted for a moment.
    pub halts: u16,
    /// Rate of rows after which the hart is reset; it restarts at `Program::entry`.
    pub resets: u16,
    /// Whether rows carry the time; otherwise it stays 0.
    pub time: bool,
    /// Rate of rows that took more than one clock cycle.
    pub stalls: u16,
    /// With three bits, every row's itype is narrowed.
    pub itype_width: ITypeWidth,
}

impl Default for Shape {
    /// A mixture of everything that a standard encoder accepts, in machine and user mode, without
    /// sideband events (contexts, triggers, halts, resets).
    fn default() -> Self {
        Self {
            xlen: Xlen::Rv64,
            compressed: true,
            steps: 1000,
            address_bits: 64,
            bases: vec![0x8000_0000, 0x1_0000, 0xffff_ffff_8020_0000],
            functions: 8,
            density: 6,
            branches: 500,
            loop_limit: 300,
            calls: 300,
            recursion: 100,
            max_depth: 40,
            leaf_runs: 100,
            indirect: 150,
            swaps: 50,
            tail_calls: 200,
            sijumps: 150,
            sijump_returns: false,
            absolute: 50,
            mismatched_returns: 50,
            well_behaved: false,
            exceptions: 4,
            interrupts: 4,
            nested_traps: 100,
            max_trap_depth: 3,
            environment_calls: 50,
            ecall_retires: false,
            vectored: false,
            trap_first: false,
            trap_last: false,
            reschedules: 50,
            supervisor: false,
            user: true,
            context_changes: 0,
            context_bits: 0,
            notifies: 0,
            trace_toggles: 0,
            halts: 0,
            resets: 0,
            time: false,
            stalls: 0,
            itype_width: ITypeWidth::Four,
        }
    }
}

/// Addresses at which to place code: low, page aligned, around powers of two, sign-extended, at the
/// end.
const BASES: [u64; 16] = [
    0x1000,
    0x1_0000,
    0x1_e000,
    0x2040_0000,
    0x7fff_fe00,
    0x8000_0000,
    0x8010_0000,
    0xffff_0000,
    0xffff_fe00,
    0x0000_003f_ffff_f000,
    0x0000_0040_0000_0000,
    0x7fff_ffff_ffff_f000,
    0xffff_ffc0_0000_0000,
    0xffff_ffff_7fff_ff00,
    0xffff_ffff_8000_0000,
    0xffff_ffff_ffff_f000,
];

impl Shape {
    /// A random shape for property tests: every field varies; there are between 1 and 2000 steps.
    pub fn random(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed ^ 0x5eed_5ba9);
        let mut rate = |max: u16| match rng.u8(..4) {
            0 => 0,
            1 => max,
            _ => rng.u16(..=max),
        };
        let mut shape = Self {
            branches: rate(1000),
            calls: rate(800),
            recursion: rate(400),
            leaf_runs: rate(400),
            indirect: rate(500),
            swaps: rate(300),
            tail_calls: rate(500),
            sijumps: rate(600),
            absolute: rate(300),
            mismatched_returns: rate(400),
            exceptions: rate(60),
            interrupts: rate(60),
            nested_traps: rate(500),
            environment_calls: rate(400),
            reschedules: rate(200),
            context_changes: rate(60),
            notifies: rate(60),
            trace_toggles: rate(20),
            halts: rate(10),
            resets: rate(5),
            stalls: rate(300),
            ..Self::default()
        };
        shape.xlen = if rng.bool() { Xlen::Rv64 } else { Xlen::Rv32 };
        shape.compressed = rng.u8(..4) != 0;
        shape.steps = match rng.u8(..8) {
            0 => rng.usize(1..40),
            _ => rng.usize(40..=2000),
        };
        shape.address_bits = shape.xlen.bits() as u8;
        shape.bases = (0..rng.usize(1..=4)).map(|_| pick_base(rng)).collect();
        shape.functions = rng.u16(1..=16);
        shape.density = rng.u16(1..=10);
        shape.loop_limit = [0, 3, 40, 800][rng.usize(..4)];
        shape.max_depth = rng.u16(..=60);
        shape.sijump_returns = rng.bool();
        shape.well_behaved = rng.bool();
        shape.max_trap_depth = rng.u8(..=5);
        shape.ecall_retires = rng.u8(..4) == 0;
        shape.vectored = rng.bool();
        shape.trap_first = rng.u8(..8) == 0;
        shape.trap_last = rng.u8(..8) == 0;
        shape.supervisor = rng.bool();
        shape.user = rng.bool();
        shape.context_bits = [0, 1, 8, 32][rng.usize(..4)];
        shape.time = rng.bool();
        shape.itype_width = if rng.u8(..4) == 0 { ITypeWidth::Three } else { ITypeWidth::Four };
        shape
    }

    /// The shape with the instructions only: no contexts, triggers, halts, resets, time or stalls.
    pub fn without_sideband(self) -> Self {
        Self {
            context_changes: 0,
            notifies: 0,
            trace_toggles: 0,
            halts: 0,
            resets: 0,
            time: false,
            stalls: 0,
            ..self
        }
    }

    /// The shape without exceptions, interrupts and environment calls.
    pub fn without_traps(self) -> Self {
        Self { max_trap_depth: 0, environment_calls: 0, ..self }
    }

    /// Whether `max_trap_depth` and the rates allow traps between instructions.
    pub(crate) fn traps(&self) -> bool {
        self.max_trap_depth > 0 && (self.exceptions > 0 || self.interrupts > 0)
    }

    /// Whether swaps may be emitted.
    pub(crate) fn swaps_allowed(&self) -> bool {
        self.swaps > 0 && (!self.well_behaved || self.traps())
    }

    pub(crate) fn address_mask(&self) -> u64 {
        let bits = self.address_bits.clamp(24, self.xlen.bits() as u8);
        u64::MAX >> (64 - bits)
    }
}

fn pick_base(rng: &mut Rng) -> u64 {
    match rng.u8(..4) {
        0 => rng.u64(..) >> rng.u32(..48),
        _ => BASES[rng.usize(..BASES.len())],
    }
}

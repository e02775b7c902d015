//! Configuration of a hart.

pub use hartrace_etrace::ingress::Xlen;

/// What loads and stores do when the address is not a multiple of their size. Atomics always trap.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Misaligned {
    /// They succeed.
    #[default]
    Supported,
    /// They trap.
    Trap,
}

/// What `mtime` counts, and when devices are checked. Nothing depends on the time of day.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Retired instructions, with this number per tick. Interrupts and the host are served at once;
    /// on RV32 the host waits for 16 instructions, because two stores make one command. `mtimecmp`
    /// is never reached unless the program sets it.
    Instructions(u64),
    /// Rounds. A round ends after `instructions`, after each trap and after `wfi`. Then the time
    /// advances by `ticks`, a load reservation is lost and the host is served. Interrupts are taken
    /// only at the start of a round and next to CSR instructions and trap returns. `mtimecmp` is 0
    /// at first. The Spike simulator works like this, with 5000 instructions and 50 ticks.
    Rounds {
        /// Maximum number of instructions in a round.
        instructions: u64,
        /// Number added to `mtime` by a round.
        ticks: u64,
    },
}

impl Default for Clock {
    fn default() -> Self {
        Self::Instructions(100)
    }
}

/// A range of plain memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// First address; rounded down to a page of 4 KiB.
    pub base: u64,
    /// Size in bytes; rounded up to whole pages.
    pub size: u64,
}

/// What the program communicates with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    /// Nothing: the program ends at the limit, or when it is stuck.
    Bare,
    /// The host at the symbols `tohost` and `fromhost`: exit, console, and system calls on memory.
    #[default]
    Htif,
    /// As [`Environment::Htif`], for the proxy kernel, with the arguments that it requests and the
    /// files that it may read, by name.
    ProxyKernel {
        /// The program to run and its arguments.
        arguments: Vec<String>,
        /// Names and contents.
        files: Vec<(String, Vec<u8>)>,
    },
    /// Linux, as far as a static user program needs it to start, read, print and end. The program runs in
    /// U mode; an `ecall` is reported as a trap, and execution continues with the instruction after
    /// it.
    Linux {
        /// The program's own name and its arguments.
        arguments: Vec<String>,
        /// `NAME=value`.
        variables: Vec<String>,
        /// What standard input contains.
        input: Vec<u8>,
        /// Names and contents of the files that the program may read.
        files: Vec<(String, Vec<u8>)>,
    },
}

/// Reset code at 0x1000, as in the Spike simulator: it loads the hart number and the address of the
/// device tree, and jumps to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootRom {
    /// The flattened device tree; may be empty.
    pub device_tree: Vec<u8>,
}

/// Configuration of a hart.
#[derive(Clone, Debug, Default)]
pub struct HartConfig {
    /// Base instruction set.
    pub xlen: Xlen,
    /// Start address if no program is loaded.
    pub reset_pc: u64,
    /// Plain memory, with the most used range first. Not intended for [`Environment::Linux`], which
    /// creates its own.
    pub memory: Vec<Range>,
    /// Treatment of misaligned accesses.
    pub misaligned: Misaligned,
    /// What the time depends on.
    pub clock: Clock,
    /// The program's environment.
    pub environment: Environment,
    /// Reset code; without it, the hart starts at the program's entry.
    pub boot_rom: Option<BootRom>,
}

//! How a hart is set up.

pub use hartrace_ingress::Xlen;

/// What loads and stores do with an address that is not a multiple of their size. Atomics always
/// trap.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Misaligned {
    /// They work.
    #[default]
    Supported,
    /// They trap.
    Trap,
}

/// What `mtime` counts, and when devices are looked at. Nothing depends on the time of day.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Retired instructions, so many per tick. Interrupts and the host are served at once; on RV32 the
    /// host waits for 16 instructions, since two stores make one command. `mtimecmp` is never reached
    /// unless the program sets it.
    Instructions(u64),
    /// Rounds: after so many instructions, after each trap and after `wfi` time moves on by `ticks`, a
    /// load reservation is lost and the host is served. Interrupts are taken at the start of a round
    /// and next to CSR instructions and trap returns only. `mtimecmp` is 0 at first. With 5000
    /// instructions and 50 ticks this is how the Spike simulator proceeds.
    Rounds {
        /// The longest round.
        instructions: u64,
        /// What a round adds to `mtime`.
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
    /// Bytes; rounded up to whole pages.
    pub size: u64,
}

/// Who is at the other end of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    /// Nobody: the program ends at the limit, or when it is stuck.
    Bare,
    /// The host at the symbols `tohost` and `fromhost`: exit, console, and system calls on memory.
    #[default]
    Htif,
    /// As [`Environment::Htif`], for the proxy kernel: the arguments it asks for and the files it may
    /// read, by name.
    ProxyKernel {
        /// The program to run and its arguments.
        arguments: Vec<String>,
        /// Names and contents.
        files: Vec<(String, Vec<u8>)>,
    },
    /// Linux, as far as a static user program needs it to start, print and end. The program runs in U
    /// mode; an `ecall` is reported as the trap it is, and the next instruction is the one after it.
    Linux {
        /// The program's own name and its arguments.
        arguments: Vec<String>,
        /// `NAME=value`.
        variables: Vec<String>,
    },
}

/// Reset code at 0x1000, as in the Spike simulator: it loads the hart number and the address of the
/// device tree, and jumps to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootRom {
    /// The flattened device tree; may be empty.
    pub device_tree: Vec<u8>,
}

/// How a hart is set up.
#[derive(Clone, Debug, Default)]
pub struct HartConfig {
    /// Base instruction set.
    pub xlen: Xlen,
    /// Where to start if no program is loaded.
    pub reset_pc: u64,
    /// Plain memory, the most used range first. Not for [`Environment::Linux`], which makes its own.
    pub memory: Vec<Range>,
    /// Accesses that are not aligned.
    pub misaligned: Misaligned,
    /// Time.
    pub clock: Clock,
    /// The program's environment.
    pub environment: Environment,
    /// Reset code; without it the hart starts at the program's entry.
    pub boot_rom: Option<BootRom>,
}

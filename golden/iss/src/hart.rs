//! The hart: its state, and access to it from outside.

use crate::clint::Clint;
use crate::config::{Clock, Environment, HartConfig, Misaligned, Xlen};
use crate::csr::Csrs;
use crate::host::Host;
use crate::mappings::Mapping;
use crate::memory::Memory;
use crate::privileged::Level;
use crate::process::Process;
use crate::signal_calls::{RETURN, TRAMPOLINE};
use crate::stop::Last;
use crate::tlb::{NO_PAGE, Tlb};
use hartrace_etrace::ingress::Privilege;
use std::fmt;
use std::io::Write;

/// The registers of a hart.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Address of the next instruction.
    pub pc: u64,
    /// `x0` to `x31`; those of RV32 are sign-extended.
    pub x: [u64; 32],
    /// `f0` to `f31`; singles are boxed.
    pub f: [u64; 32],
    /// `fcsr`.
    pub fcsr: u32,
    /// Privilege level.
    pub privilege: Privilege,
}

/// One RISC-V hart with its memory and its environment.
pub struct Hart {
    /// Registers, followed by the slot for discarded results.
    pub(crate) x: [u64; 64],
    pub(crate) f: [u64; 32],
    pub(crate) pc: u64,
    pub(crate) level: Level,
    pub(crate) csr: Csrs,
    pub(crate) xlen: Xlen,
    /// 64 - XLEN.
    pub(crate) narrow: u32,
    /// Mask of the bits that an address may have.
    pub(crate) mask: u64,
    pub(crate) memory: Memory,
    pub(crate) tlb: Tlb,
    /// Virtual page whose decoded page is `fetch_ops`.
    pub(crate) fetch_page: u64,
    pub(crate) fetch_ops: usize,
    pub(crate) data_is_physical: bool,
    pub(crate) misaligned_traps: bool,
    /// Number of instructions that retired; traps are not counted.
    pub(crate) retired: u64,
    /// Whether the last branch was taken.
    pub(crate) taken: bool,
    pub(crate) reservation: Option<u64>,
    pub(crate) clint: Clint,
    pub(crate) clock: Clock,
    /// `mtime`, and the instruction count when it was last set.
    pub(crate) time_base: (u64, u64),
    pub(crate) round_left: u64,
    /// Whether a device register was stored to.
    pub(crate) device_changed: bool,
    /// Whether `tohost` was stored to, or the host has more to send.
    pub(crate) host_called: bool,
    /// Number of retired instructions at which the host answers.
    pub(crate) host_due: u64,
    /// Halves of `tohost` stored to since the last answer of the host.
    pub(crate) host_halves: [bool; 2],
    pub(crate) host: Host,
    /// The number of the thread, in the Linux environment.
    pub(crate) context: u64,
    /// The process, in the Linux environment.
    pub(crate) process: Option<Process>,
    pub(crate) console: Box<dyn Write + Send>,
    pub(crate) config: HartConfig,
    /// The last exception, in case there is no handler.
    pub(crate) last: Option<Last>,
}

impl fmt::Debug for Hart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hart")
            .field("registers", &self.registers())
            .field("retired", &self.retired)
            .finish_non_exhaustive()
    }
}

impl Hart {
    /// Creates a hart in reset, in M mode, with zeros in its memory. Its console output is
    /// discarded.
    pub fn new(config: HartConfig) -> Self {
        let mut memory = Memory::default();
        if !matches!(config.environment, Environment::Linux { .. }) {
            config.memory.iter().for_each(|&range| memory.add(range));
        }
        let rv32 = config.xlen == Xlen::Rv32;
        let mask = if rv32 { 0xffff_ffff } else { u64::MAX };
        Self {
            x: [0; 64],
            f: [0; 32],
            pc: config.reset_pc & mask & !1,
            level: Level::M,
            csr: Csrs::default(),
            xlen: config.xlen,
            narrow: if rv32 { 32 } else { 0 },
            mask,
            memory,
            tlb: Tlb::new(),
            fetch_page: NO_PAGE,
            fetch_ops: 0,
            data_is_physical: true,
            misaligned_traps: config.misaligned == Misaligned::Trap,
            retired: 0,
            taken: false,
            reservation: None,
            clint: Clint::new(match config.clock {
                Clock::Rounds { .. } => 0,
                Clock::Instructions(_) => u64::MAX,
            }),
            clock: config.clock,
            time_base: (0, 0),
            round_left: match config.clock {
                Clock::Rounds { instructions, .. } => instructions.max(1),
                Clock::Instructions(_) => 0,
            },
            device_changed: false,
            host_called: false,
            host_due: 0,
            host_halves: [false; 2],
            host: Host::new(&config.environment),
            context: 0,
            process: None,
            console: Box::new(std::io::sink()),
            config,
            last: None,
        }
    }

    /// Sets the destination of the program's output. A failing write is ignored.
    pub fn set_console(&mut self, console: Box<dyn Write + Send>) {
        self.console = console;
    }

    /// Numbers of the system calls that the program made and that do not exist here, in order, each with how often it made
    /// it. They failed with `ENOSYS`.
    pub fn unknown_calls(&self) -> impl Iterator<Item = (u64, u64)> {
        self.host.unknown.iter().map(|(number, count)| (*number, *count))
    }

    /// The code of files that the program has mapped, and its dynamic linker, in the Linux environment.
    pub fn mapped_code(&self) -> &[Mapping] {
        self.process.as_ref().map_or(&[], |process| &process.mappings.code)
    }

    /// The code of the kernel to which handlers of signals return, with its address, once the program has called one.
    pub fn kernel_code(&self) -> Option<(u64, &'static [u8])> {
        self.process.as_ref().filter(|process| process.signals.handled)?;
        Some((TRAMPOLINE.base, &RETURN))
    }

    /// The current registers.
    pub fn registers(&self) -> Registers {
        let mut x = [0; 32];
        x.copy_from_slice(&self.x[..32]);
        Registers {
            pc: self.pc,
            x,
            f: self.f,
            fcsr: u32::from(self.csr.frm) << 5 | u32::from(self.csr.fflags),
            privilege: Privilege(self.level.0),
        }
    }

    /// The trap vector registers `mtvec` and `stvec`, each with the privilege that takes
    /// the trap.
    pub fn trap_vectors(&self) -> [(Privilege, u64); 2] {
        [(Privilege::M, self.csr.mtvec), (Privilege::S, self.csr.stvec)]
    }

    /// Sets register `x[number]`; `x0` and numbers above 31 are ignored.
    pub fn set_register(&mut self, number: u8, value: u64) {
        if (1..32).contains(&number) {
            self.set(number, self.extend(value));
        }
    }

    /// Continues at `pc`.
    pub fn set_pc(&mut self, pc: u64) {
        self.pc = pc & self.mask & !1;
    }

    /// Copies `bytes` to physical memory. Returns `false` if there is not enough memory.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.memory.write(address, bytes)
    }

    /// Returns `size` bytes of physical memory, if there are that many.
    pub fn read_memory(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.memory.read(address, size)
    }

    /// Number of instructions retired so far, as counted by `minstret`.
    pub fn retired(&self) -> u64 {
        self.retired
    }
}

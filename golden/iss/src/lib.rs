//! A RISC-V hart that executes programs and reports the instructions that retire.
//!
//! A source of real instruction streams for encoders, decoders and comparators. Given an ELF file
//! and a [`Retire`] sink, it calls the sink for every instruction and every trap, with the
//! information that the trace ingress port requires.
//!
//! - RV32 and RV64 with I, M, A, F, D, C, Zicsr, Zifencei, Zicntr, Zba, Zbb, Zbc, Zbs.
//! - M, S and U mode, delegation, timer and software interrupts from a CLINT at 0x2000000, Sv39.
//! - Physical memory protection is accepted and ignored. There is **no** H, V, debug mode, Sv32, and
//!   no second hart.
//!
//! Nothing depends on the time of day, so runs repeat exactly, unless a program uses the files of this process
//! ([`Hart::share`]). No program makes the hart panic: an
//! unsupported operation becomes a trap or an [`Exit`].
//!
//! ```
//! use hartrace_iss::{Exit, Hart, HartConfig, Range, Step};
//!
//! let memory = vec![Range { base: 0x8000_0000, size: 0x1000 }];
//! let mut hart = Hart::new(HartConfig { reset_pc: 0x8000_0000, memory, ..Default::default() });
//! hart.write_memory(0x8000_0000, &0x0000_006f_u32.to_le_bytes()); // j .
//! let mut count = 0;
//! let exit = hart.run(100, &mut |_: &Step| count += 1);
//! assert_eq!((exit, count), (Exit::Stuck { pc: 0x8000_0000 }, 1));
//! ```

// From the bottom up: names (`privileged`, `op`, `config`, `step`, `stop`), state (`clint`, `csr`,
// `tlb`, `memory`, `host`, `process`), the hart that combines them, its actions (`exec` and the
// modules it calls, `trap`, `mmu`, `time`), and drivers (`run`, `load`, `linux`, `htif`).
mod abi;
mod atomic;
mod clint;
mod compressed;
mod config;
mod csr;
mod csr_ops;
mod decode;
mod detail;
mod exec;
mod fields;
mod files;
mod float;
mod float_ops;
mod hart;
mod host;
mod htif;
mod integer;
mod libraries;
mod linux;
mod load;
mod machine_calls;
mod mapping_calls;
mod mappings;
mod memory;
mod mmu;
mod op;
mod privileged;
mod process;
mod program;
mod run;
mod schedule;
#[cfg(unix)]
mod shared;
mod signal_calls;
mod signals;
mod step;
mod stop;
mod thread_calls;
mod threads;
mod time;
mod tlb;
mod trap;

pub use config::{BootRom, Clock, Environment, HartConfig, Misaligned, Range, Xlen};
pub use hart::{Hart, Registers};

pub use load::Entry;
pub use mappings::Mapping;
pub use program::{BIAS, LoadError};
pub use step::{Access, AccessKind, Register, Retire, Step, Trap};
pub use stop::Exit;

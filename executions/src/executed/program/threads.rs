//! Contexts: the threads of a program, by number.

use super::Program;
use crate::executed::modes;
use hartrace_etrace::{Ioptions, Params};

/// Bits of a context: threads have numbers of 16 bits.
const CONTEXT_BITS: u8 = 16;

/// `li a7, NUMBER` with the system calls `clone` and `clone3`.
const STARTS: [u32; 2] = [0x0dc0_0893, 0x1b30_0893];

impl Program {
    /// Returns whether the program has code that starts a thread. The libraries of one that is dynamically linked are not
    /// known before it runs; that of C always has such code.
    pub fn may_start_threads(&self) -> bool {
        !self.is_bare() && (self.interpreter().is_some() || has_start(&self.elf))
    }

    /// Returns the parameters of an encoder for this program: its contexts are the numbers of threads, if there may be
    /// several.
    pub fn params(&self, options: &Ioptions) -> Params {
        let params = modes::params_for(self.xlen(), options);
        match self.may_start_threads() {
            true => Params { context_width_p: CONTEXT_BITS, nocontext_p: false, ..params },
            false => params,
        }
    }
}

/// Whether the code in a file starts a thread.
fn has_start(elf: &[u8]) -> bool {
    let pairs = elf.chunks_exact(2).zip(elf.chunks_exact(2).skip(1));
    pairs.into_iter().any(|pair| match pair {
        ([a, b], [c, d]) => STARTS.contains(&u32::from_le_bytes([*a, *b, *c, *d])),
        _ => false,
    })
}

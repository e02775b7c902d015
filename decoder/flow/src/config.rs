use crate::event::Fault;
use hartrace_etrace::{Compat, Params, Unit};
use hartrace_isa::Insn;

/// Where decoding continues after a gap.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Resync {
    /// At the next synchronisation: exact, whatever was lost.
    #[default]
    Sync,
    /// At the next payload with an address, if the program alone determines what follows; that is not
    /// the case while implicit returns, branch prediction or the jump target cache are on. Loses
    /// less, but may report instructions that never retired, up to the next synchronisation:
    ///
    /// - Addresses are differences from the previous one. If a payload with an address was lost
    ///   unnoticed, later addresses are wrong by its difference. (Not with full addresses. If a frame
    ///   is damaged, the loss is known, and decoding waits for a synchronisation.)
    /// - A jump at that address that could be inferred from the instruction before it is treated as
    ///   one that will be reported.
    Address,
}

/// How to read a stream.
#[derive(Clone, Debug)]
pub struct Config {
    /// The encoder's parameters.
    pub params: Params,
    /// The encoder whose support packets and address coding to expect.
    pub unit: Unit,
    /// Contents of the `xtvec` register for each privilege that takes traps, for implicit exceptions.
    /// The low two bits are its mode: 1 = vectored.
    pub tvec: Vec<(u8, u64)>,
    /// The reference model whose deviations to expect.
    pub compat: Compat,
    /// Where to continue after a gap.
    pub resync: Resync,
    /// Maximum number of blocks to follow for one payload. By default there is no limit: a payload of format
    /// 0.0 stands for up to 2^32 branches. Turns of a loop that are reported together
    /// ([`Sink::REPEATS`](crate::Sink::REPEATS)) are not followed, and do not count.
    pub max_blocks: u64,
    /// Maximum number of blocks to follow for one payload, or for some thousand branches that it counts,
    /// before the program repeats itself or the payload is complete. Only code that calls and returns all
    /// the time, without any branch that the trace has to report, can be longer; real programs have none.
    pub max_detour: u64,
    /// Maximum number of decoded blocks to keep; all are discarded when there are more.
    pub block_cap: usize,
    /// Maximum number of paths to remember, rounded up to a power of two; 0 remembers none.
    pub path_cap: usize,
    /// Maximum number of sources of a stream to follow. The payloads of further ones are left out, which
    /// is a gap: any few bytes may name another source, and each needs its own state.
    pub source_cap: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            params: Params::default(),
            unit: Unit::default(),
            tvec: Vec::new(),
            compat: Compat::None,
            resync: Resync::Sync,
            max_blocks: u64::MAX,
            max_detour: 1 << 22,
            block_cap: 1 << 20,
            path_cap: 1 << 15,
            source_cap: 1 << 10,
        }
    }
}

impl Config {
    /// Checks the `branch` field of a synchronisation (D20): only a branch can be taken. That of rv_tracer may
    /// be out of date.
    #[inline]
    pub(crate) fn check_branch(&self, address: u64, insn: Insn, branch: bool) -> Result<(), Fault> {
        if branch || insn.is_branch() || self.unit == Unit::RvTracer {
            return Ok(());
        }
        Err(Fault::NotABranch(address))
    }
}

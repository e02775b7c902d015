use hartrace_etrace::{Compat, Params, Unit};

/// Where decoding continues after a gap.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Resync {
    /// At the next synchronisation: exact, whatever was lost.
    #[default]
    Sync,
    /// At the next payload with an address, where the program alone decides about what follows: not
    /// while implicit returns, branch prediction or the jump target cache are on. Loses less, but may
    /// report instructions that never retired, up to the next synchronisation:
    ///
    /// - Addresses are differences from the one before. If a payload with an address was lost
    ///   unnoticed, those that follow are wrong by its difference. (Not with full addresses. Where a
    ///   frame is damaged the loss is known, and decoding waits for a synchronisation.)
    /// - A jump at that address that could be inferred from the instruction before it is taken for
    ///   one that will be reported.
    Address,
}

/// How to read a stream.
#[derive(Clone, Debug)]
pub struct Config {
    /// The encoder's parameters.
    pub params: Params,
    /// Whose support packets and address coding to expect.
    pub unit: Unit,
    /// Contents of the `xtvec` register per privilege a trap goes to, for implicit exceptions. The
    /// low two bits are its mode: 1 = vectored.
    pub tvec: Vec<(u8, u64)>,
    /// Whose habits to expect.
    pub compat: Compat,
    /// Where to continue after a gap.
    pub resync: Resync,
    /// Most blocks to follow for one payload: what a payload may cost. A payload of format 0.0 stands
    /// for up to 2^32 branches, and a damaged one claims them without there being any.
    pub max_blocks: u64,
    /// Most decoded blocks to keep; all are forgotten when there are more.
    pub block_cap: usize,
    /// Most paths to remember, rounded up to a power of two; 0 remembers none.
    pub path_cap: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            params: Params::default(),
            unit: Unit::default(),
            tvec: Vec::new(),
            compat: Compat::None,
            resync: Resync::Sync,
            max_blocks: 1 << 26,
            block_cap: 1 << 20,
            path_cap: 1 << 15,
        }
    }
}

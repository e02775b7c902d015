use hartrace_etrace::{Params, Unit};

/// Whose habits to expect, where reference streams differ from the specification; see
/// `docs/deviations.md`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// The specification.
    #[default]
    None,
    /// The Python reference model (C1 to C3).
    PythonModel,
    /// The C reference codec of 2021 (C1, C2, C4, C5).
    CModel,
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
    /// Blocks to follow for one payload at most.
    pub max_blocks: u64,
    /// Decoded blocks to keep; all are forgotten when there are more.
    pub block_cap: usize,
    /// Paths to remember, a power of two or rounded up to one; 0 remembers none.
    pub path_cap: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            params: Params::default(),
            unit: Unit::default(),
            tvec: Vec::new(),
            compat: Compat::None,
            max_blocks: 1 << 33,
            block_cap: 1 << 20,
            path_cap: 1 << 15,
        }
    }
}

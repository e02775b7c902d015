//! Named objects of a module.

/// A named vector of a module.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) name: String,
    pub(crate) width: u32,
    pub(crate) kind: Kind,
    /// The module it belongs to, and its position in that module's list.
    pub(crate) module: ModuleId,
    pub(crate) id: usize,
}

/// Identifies a module. A name does not, since two modules of one name may be under
/// construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleId(pub(crate) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Input,
    Output,
    Wire,
    /// The output of a register or of a memory.
    State,
    /// The next value of the register whose output has that id.
    Next(usize),
    Constant,
    /// Sink for bits that nothing reads.
    Sink,
}

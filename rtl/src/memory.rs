//! Memories.

use crate::literal::index_width;
use crate::signal::ModuleId;

/// A memory of a module, created with [`Module::memory`](crate::Module::memory).
#[derive(Clone, Debug)]
pub struct Memory {
    name: String,
    width: u32,
    depth: u32,
    module: ModuleId,
}

impl Memory {
    pub(crate) fn new(name: &str, width: u32, depth: u32, module: ModuleId) -> Self {
        Self { name: name.to_owned(), width, depth, module }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Width of a word in bits.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Number of words.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Width of an address in bits. If the number of words is not a power of two, reads past the
    /// last word are undefined, and writes there are lost.
    #[must_use]
    pub fn address_width(&self) -> u32 {
        index_width(self.depth)
    }

    pub(crate) fn module(&self) -> ModuleId {
        self.module
    }
}

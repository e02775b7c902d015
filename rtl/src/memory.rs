//! Memories.

use crate::expr::index_width;
use crate::signal::ModuleId;

/// A memory of a module, made with [`Module::memory`](crate::Module::memory).
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

    /// Bits of a word.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Number of words.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Bits of an address. If the number of words is not a power of two, what is read past the last
    /// one is not defined, and what is written there is lost.
    #[must_use]
    pub fn address_width(&self) -> u32 {
        index_width(self.depth)
    }

    pub(crate) fn module(&self) -> ModuleId {
        self.module
    }
}

//! Memories of a module under construction, and their ports.

use crate::component::Item;
use crate::memory::Memory;
use crate::signal::Kind;
use crate::target::check_owner;
use crate::{Expr, Module};
use std::rc::Rc;

impl Module {
    /// A memory of `depth` words with one write port; see [`Module::write`], [`Module::read`] and
    /// [`Module::read_clocked`]. The contents are undefined until they are written.
    ///
    /// # Panics
    ///
    /// If the module is not clocked, or there are fewer than two words.
    #[track_caller]
    pub fn memory(&self, name: &str, width: u32, depth: u32) -> Memory {
        self.needs_clock(name);
        assert!(depth >= 2, "{name}: a memory of {depth} words");
        self.claim(name);
        let memory = Memory::new(name, width, depth, self.id);
        self.push(Item::Memory(memory.clone()));
        memory
    }

    /// Adds the write port of a memory.
    ///
    /// # Panics
    ///
    /// If widths do not fit, or the memory already has a write port.
    #[track_caller]
    pub fn write(
        &self,
        memory: &Memory,
        enable: impl Into<Expr>,
        address: impl Into<Expr>,
        data: impl Into<Expr>,
    ) {
        let (enable, address, data) = (enable.into(), address.into(), data.into());
        self.check_access(memory, &[&enable, &address, &data], &address);
        enable.is_bit("write enable");
        let (name, width) = (memory.name(), memory.width());
        assert!(data.width() == width, "{name}: words of {width} bits, data of {}", data.width());
        let written = self.content.borrow().body.items.iter().any(|item| match item {
            Item::Write { memory, .. } => memory.name() == name,
            _ => false,
        });
        assert!(!written, "{name}: a memory has one write port");
        self.push(Item::Write { memory: memory.clone(), enable, address, data });
    }

    /// Adds an asynchronous read port called `name`: LUT RAM.
    ///
    /// # Panics
    ///
    /// If the width of the address is not [`Memory::address_width`].
    #[track_caller]
    pub fn read(&self, memory: &Memory, name: &str, address: impl Into<Expr>) -> Expr {
        let address = address.into();
        self.check_access(memory, &[&address], &address);
        let word = self.signal(name, memory.width(), Kind::State);
        self.push(Item::Read { memory: memory.clone(), word: Rc::clone(&word), address });
        word.expr()
    }

    /// Adds a synchronous read port: `name_q` is the word at `address` when `enable` was last set,
    /// as it was before a write in the same cycle. Block RAM.
    ///
    /// # Panics
    ///
    /// If the width of the address is not [`Memory::address_width`].
    #[track_caller]
    pub fn read_clocked(
        &self,
        memory: &Memory,
        name: &str,
        enable: impl Into<Expr>,
        address: impl Into<Expr>,
    ) -> Expr {
        let (enable, address) = (enable.into(), address.into());
        enable.is_bit("read enable");
        self.check_access(memory, &[&enable, &address], &address);
        let word = self.signal(&format!("{name}_q"), memory.width(), Kind::State);
        let expr = word.expr();
        self.push(Item::ReadClocked { memory: memory.clone(), word, enable, address });
        expr
    }

    #[track_caller]
    fn check_access(&self, memory: &Memory, exprs: &[&Expr], address: &Expr) {
        let (name, width) = (memory.name(), memory.address_width());
        assert!(memory.module() == self.id, "{name} belongs to another module");
        assert!(
            address.width() == width,
            "{name}: an address has {width} bits, {} given",
            address.width()
        );
        exprs.iter().for_each(|expr| check_owner(expr, self.id));
    }
}

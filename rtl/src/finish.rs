//! From a module under construction to a finished one.

use crate::component::{Component, Item};
use crate::{Module, check, lower};

impl Module {
    /// Checks the module as a whole, and finishes it.
    ///
    /// # Panics
    ///
    /// If a signal has no driver or two, keeps its value on some path through a block (a latch), is
    /// read in a block before it is assigned there, depends on itself, or is never read.
    #[must_use]
    #[track_caller]
    pub fn finish(self) -> Component {
        self.sink_clock();
        let mut content = self.content.into_inner();
        let source = lower::module(&mut content, self.id);
        let facts = check::check(&content);
        Component::new(content, source, facts)
    }

    /// An unused clock or reset is not a mistake: a module may have these ports to match its
    /// siblings.
    fn sink_clock(&self) {
        let (clock, reset) = {
            let content = self.content.borrow();
            if !content.clocked {
                return;
            }
            let below = content.children.iter().any(Component::clocked);
            let always = below || !content.body.properties.is_empty();
            let reset = content.body.registers.iter().any(|register| register.reset.is_some());
            let memory = content.body.items.iter().any(|item| matches!(item, Item::Memory(_)));
            (always || memory || !content.body.registers.is_empty(), always || reset)
        };
        for (name, needed) in [("clk_i", clock), ("rst_ni", reset)] {
            if !needed {
                self.unused(&self.find(name).expr());
            }
        }
    }
}

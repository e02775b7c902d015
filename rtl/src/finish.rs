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
            let (body, children) = (&content.body, &content.children);
            let checks = !body.properties.is_empty();
            let memory = body.items.iter().any(|item| matches!(item, Item::Memory(_)));
            let registers = memory || !body.registers.is_empty();
            let resets = body.registers.iter().any(|register| register.reset.is_some());
            (
                checks || registers || children.iter().any(Component::clocked),
                checks || resets || children.iter().any(Component::has_reset),
            )
        };
        for (name, needed) in [("clk_i", clock), ("rst_ni", reset)] {
            let has = self.content.borrow().names.contains(name);
            if has && !needed {
                self.unused(&self.find(name).expr());
            }
        }
    }
}

//! Finished modules.

use crate::check::Facts;
use crate::item::{Body, Item};
use crate::module::Content;
use crate::{emit, names};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A finished module, checked as a whole. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Component(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The lowered content, which all tools understand.
    content: Content,
    /// The content as written.
    source: Body,
    facts: Facts,
}

/// A port of a [`Component`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Input or output.
    pub direction: Direction,
    /// Its name.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// Its comment.
    pub doc: String,
}

impl Port {
    pub(crate) fn is_clock_or_reset(&self) -> bool {
        self.name == "clk_i" || self.name == "rst_ni"
    }
}

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the module.
    Input,
    /// Out of the module.
    Output,
}

impl Component {
    pub(crate) fn new(content: Content, source: Body, facts: Facts) -> Self {
        Self(Rc::new(Inner { content, source, facts }))
    }

    pub(crate) fn content(&self) -> &Content {
        &self.0.content
    }

    pub(crate) fn source(&self) -> &Body {
        &self.0.source
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// The name of the module.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.content().name
    }

    /// Its ports, in order.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.content().ports
    }

    /// Whether it has a clock `clk_i` and a reset `rst_ni`.
    #[must_use]
    pub fn clocked(&self) -> bool {
        self.content().clocked
    }

    /// The modules it instantiates, in order, repeated for every instance.
    #[must_use]
    pub fn children(&self) -> &[Component] {
        &self.content().children
    }

    /// The same hierarchy with a prefix before the name of every module, so that two hierarchies made from different
    /// parameters can be parts of one design.
    ///
    /// # Panics
    ///
    /// If a name with the prefix is reserved or not in lower case.
    #[must_use]
    #[track_caller]
    pub fn prefixed(&self, prefix: &str) -> Self {
        if prefix.is_empty() {
            return self.clone();
        }
        let mut content = self.content().clone();
        content.name.insert_str(0, prefix);
        names::check(&content.name);
        let of_items = |body: &mut Body| {
            for item in &mut body.items {
                if let Item::Instance(instance) = item {
                    instance.of = instance.of.prefixed(prefix);
                }
            }
        };
        let mut source = self.source().clone();
        of_items(&mut content.body);
        of_items(&mut source);
        content.children = content.children.iter().map(|child| child.prefixed(prefix)).collect();
        Self::new(content, source, self.facts().clone())
    }

    /// The text of the module.
    #[must_use]
    pub fn emit(&self) -> String {
        emit::module(self)
    }

    /// Names and texts of all modules of the hierarchy, each once, with instantiated modules before
    /// those that instantiate them.
    ///
    /// # Panics
    ///
    /// If two different modules have the same name.
    #[must_use]
    #[track_caller]
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut texts = BTreeMap::new();
        self.collect(&mut files, &mut texts);
        files
    }

    #[track_caller]
    fn collect(&self, files: &mut Vec<(String, String)>, texts: &mut BTreeMap<String, String>) {
        for child in self.children() {
            child.collect(files, texts);
        }
        let text = self.emit();
        match texts.insert(self.name().to_owned(), text.clone()) {
            None => files.push((self.name().to_owned(), text)),
            Some(other) => {
                assert!(other == text, "two different modules are called {}", self.name());
            }
        }
    }
}

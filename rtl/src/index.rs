//! The index of a loop that is emitted as a loop.

use std::rc::Rc;

/// A position in a vector: a number, or a loop variable times a number plus a number.
///
/// [`Block::each`](crate::Block::each) passes one to its body. Its range is known, so an access out
/// of range panics at the line that wrote it.
#[derive(Clone, Debug)]
pub struct Index {
    pub(crate) variable: Option<Rc<Variable>>,
    pub(crate) factor: u32,
    pub(crate) offset: u32,
}

/// A loop variable: `for (int unsigned name = from; name < to; name++)`.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

impl Index {
    pub(crate) fn of(variable: &Rc<Variable>) -> Self {
        Self { variable: Some(Rc::clone(variable)), factor: 1, offset: 0 }
    }

    /// This index times `factor`: the first bit of an element of a flat vector.
    #[must_use]
    pub fn times(&self, factor: u32) -> Self {
        let variable = self.variable.clone();
        Self { variable, factor: self.factor * factor, offset: self.offset * factor }
    }

    /// This index plus `offset`.
    #[must_use]
    pub fn plus(&self, offset: u32) -> Self {
        let variable = self.variable.clone();
        Self { variable, factor: self.factor, offset: self.offset + offset }
    }

    pub(crate) fn max(&self) -> u32 {
        self.variable.as_ref().map_or(0, |v| v.to.saturating_sub(1)) * self.factor + self.offset
    }

    pub(crate) fn constant(&self) -> Option<u32> {
        self.variable.is_none().then_some(self.offset)
    }

    /// The value of the index when the loop variable is `i`.
    pub(crate) fn at(&self, i: u32) -> u32 {
        i * self.factor + self.offset
    }
}

impl From<u32> for Index {
    fn from(offset: u32) -> Self {
        Self { variable: None, factor: 0, offset }
    }
}

impl From<&Index> for Index {
    fn from(index: &Index) -> Self {
        index.clone()
    }
}

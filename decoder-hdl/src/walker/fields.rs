//! Vectors that consist of fields.

use crate::wires::join;
use hartrace_rtl::Expr;

/// Fields of a vector, the first one lowest.
#[derive(Clone, Debug)]
pub(super) struct Fields(Vec<(&'static str, u32)>);

impl Fields {
    pub(super) fn new(fields: Vec<(&'static str, u32)>) -> Self {
        Self(fields)
    }

    pub(super) fn width(&self) -> u32 {
        self.0.iter().map(|(_, width)| width).sum()
    }

    fn find(&self, name: &str) -> Option<(u32, u32)> {
        let mut at = 0;
        self.0.iter().find_map(|(other, width)| {
            let lo = at;
            at += width;
            (*other == name).then_some((lo, *width))
        })
    }

    /// The width of a field; 0 if there is none of this name.
    pub(super) fn width_of(&self, name: &str) -> u32 {
        self.find(name).map_or(0, |(_, width)| width)
    }

    /// A field of a vector; `None` if there is none of this name.
    pub(super) fn get(&self, vector: &Expr, name: &str) -> Option<Expr> {
        self.find(name).map(|(lo, width)| vector.slice(lo, width))
    }

    /// The vector, from a value for each field.
    #[track_caller]
    pub(super) fn join(&self, mut value: impl FnMut(&str) -> Expr) -> Expr {
        let values: Vec<Expr> = self
            .0
            .iter()
            .map(|(name, width)| {
                let value = value(name);
                assert_eq!(value.width(), *width, "{name}");
                value
            })
            .collect();
        join(&values)
    }
}

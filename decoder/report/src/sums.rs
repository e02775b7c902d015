//! Sums over a whole capture.

use crate::collect::Collect;
use crate::collect::{Decoder, own};
use crate::report::Report;
use hartrace_decoder::{Count, Coverage, Edges, Frequencies};
use std::io::{self, Write};

/// A sum over the parts of a capture.
pub trait Sum: Collect + Default + 'static {
    /// Adds the sum of the next part.
    fn merge(&mut self, next: Self);
}

impl Collect for Count {
    #[inline(never)] // or every crate that uses it would compile the decoder anew
    fn decoder() -> Option<Decoder<Self>> {
        Some(own)
    }
}

impl Collect for Coverage {
    #[inline(never)] // or every crate that uses it would compile the decoder anew
    fn decoder() -> Option<Decoder<Self>> {
        Some(own)
    }
}

impl Collect for Edges {
    #[inline(never)] // or every crate that uses it would compile the decoder anew
    fn decoder() -> Option<Decoder<Self>> {
        Some(own)
    }
}

impl Collect for Frequencies {
    #[inline(never)] // or every crate that uses it would compile the decoder anew
    fn decoder() -> Option<Decoder<Self>> {
        Some(own)
    }
}

impl Sum for Count {
    fn merge(&mut self, next: Self) {
        self.instructions = self.instructions.wrapping_add(next.instructions);
        self.gaps = self.gaps.wrapping_add(next.gaps);
    }
}

impl Sum for Coverage {
    fn merge(&mut self, next: Self) {
        Self::merge(self, &next);
    }
}

impl Sum for Edges {
    fn merge(&mut self, next: Self) {
        Self::merge(self, next);
    }
}

impl Sum for Frequencies {
    fn merge(&mut self, next: Self) {
        Self::merge(self, next);
    }
}

/// The sum over all sources, for callers who use it themselves: writes nothing.
#[derive(Debug, Default)]
pub struct Total<S> {
    /// The sum so far.
    pub sum: S,
}

impl<S: Sum> Report for Total<S> {
    type Part = S;

    fn maker(&self) -> Box<dyn Fn() -> S + Send + Sync> {
        Box::new(S::default)
    }

    fn join(&mut self, _: Option<u16>, part: S, _: &mut dyn Write) -> io::Result<()> {
        self.sum.merge(part);
        Ok(())
    }
}

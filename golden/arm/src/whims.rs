use fastrand::Rng;

/// What a trace unit is free in: at random for tests, or always the same, which is what takes the fewest
/// bytes.
#[derive(Clone, Debug)]
pub(crate) struct Whims(Option<Rng>);

impl Whims {
    pub(crate) fn new(rng: Option<Rng>) -> Self {
        Self(rng)
    }

    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        self.0.is_some()
    }

    /// Once in so many times; never without whims.
    pub(crate) fn one_in(&mut self, times: u8) -> bool {
        self.0.as_mut().is_some_and(|rng| rng.u8(0..times) == 0)
    }

    /// A number below `end`; 0 without whims.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0.as_mut().map_or(0, |rng| rng.u32(0..end))
    }

    /// Mostly the first, which is the shortest; now and then any.
    pub(crate) fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        let any = self.one_in(4);
        all[if any { self.below(all.len() as u32) as usize } else { 0 }]
    }
}

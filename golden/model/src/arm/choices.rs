use fastrand::Rng;

/// The choices that a trace unit is free to make: random for tests, or always those that need the
/// fewest bytes.
#[derive(Clone, Debug)]
pub(crate) struct Choices(Option<Rng>);

impl Choices {
    pub(crate) fn new(rng: Option<Rng>) -> Self {
        Self(rng)
    }

    /// Whether the choices are random.
    pub(crate) fn any(&self) -> bool {
        self.0.is_some()
    }

    /// True once in `times` calls on average; never without whims.
    pub(crate) fn one_in(&mut self, times: u8) -> bool {
        self.0.as_mut().is_some_and(|rng| rng.u8(0..times) == 0)
    }

    /// A number below `end`; 0 without whims.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        self.0.as_mut().map_or(0, |rng| rng.u32(0..end))
    }

    /// Mostly the first, which is the shortest; sometimes any other.
    pub(crate) fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        let any = self.one_in(4);
        all[if any { self.below(all.len() as u32) as usize } else { 0 }]
    }
}

//! The output buffer of a compressor, by cycle.

/// What waits in a buffer that a port empties at a constant rate.
///
/// ```
/// use hartrace_compressors::Buffer;
///
/// let mut buffer = Buffer::new(1);
/// buffer.put(0, 48);
/// // Ten cycles later, 38 of them are left.
/// buffer.put(10, 8);
/// assert_eq!(buffer.most(), 48);
/// buffer.put(0, 8);
/// assert_eq!(buffer.most(), 54);
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Buffer {
    /// Bits that leave in a cycle.
    rate: u64,
    bits: u64,
    most: u64,
}

impl Buffer {
    /// An empty buffer.
    #[must_use]
    pub fn new(rate: u64) -> Self {
        Self { rate, bits: 0, most: 0 }
    }

    /// Adds bits, so many cycles after those before them.
    pub fn put(&mut self, cycles: u64, bits: u64) {
        self.bits = self.bits.saturating_sub(cycles.saturating_mul(self.rate)).saturating_add(bits);
        self.most = self.most.max(self.bits);
    }

    /// The most bits that waited at once: the size that loses nothing.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }
}

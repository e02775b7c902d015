//! A model of the bytes that reach memory, with runs of null packets.

/// The stream so far.
pub(crate) struct Nulls {
    /// Everything that was packed, with runs and the padding of flushes.
    pub(crate) bytes: Vec<u8>,
    /// Where runs start.
    pub(crate) runs: Vec<usize>,
    pub(crate) run_bytes: usize,
    longest: usize,
    word: usize,
    period: Option<usize>,
}

impl Nulls {
    /// Runs of this many bytes, between packets of up to `longest` bytes, in words of `word` bytes. `freq` is
    /// trRamAsyncFreq.
    pub(crate) fn new(run_bytes: u32, longest: u32, word: u32, freq: u64) -> Self {
        Self {
            bytes: Vec::new(),
            runs: Vec::new(),
            run_bytes: run_bytes as usize,
            longest: longest as usize,
            word: word as usize,
            period: (freq > 0).then(|| 1 << (freq + 7)),
        }
    }

    /// A packet, and a run after it if the next packet, padding and a run might exceed the period.
    pub(crate) fn packet(&mut self, packet: &[u8]) {
        self.bytes.extend(packet);
        let since = self.bytes.len() - self.runs.last().copied().unwrap_or(0);
        let coming = self.longest + (self.word - 1) + self.run_bytes;
        if self.period.is_some_and(|period| since + coming > period) {
            self.runs.push(self.bytes.len());
            self.bytes.resize(self.bytes.len() + self.run_bytes - 1, 0x00);
            self.bytes.push(0x80);
        }
    }

    /// The last word is filled with null packets.
    pub(crate) fn flush(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(self.word), 0x00);
    }
}

use crate::coresight::FRAME;
use crate::coresight::id::TraceId;

/// Writes the bytes of trace sources into frames.
///
/// Continuing the same source costs nothing; changing it costs one byte. Frames are as short as
/// possible: the ID precedes the last byte of the old source where that saves a byte (the delayed
/// form).
#[derive(Clone, Debug)]
pub struct Formatter {
    frame: [u8; FRAME],
    /// Bytes of the frame that are final.
    len: usize,
    /// Source of the next byte unless an ID changes it; 0 is padding.
    current: u8,
    /// A byte of the current source for the next pair. The source of the byte after it decides
    /// whether it is the first or the second of the pair.
    held: Option<u8>,
}

impl Default for Formatter {
    fn default() -> Self {
        Self::new()
    }
}

impl Formatter {
    /// Starts with an empty frame; no source has written yet.
    pub const fn new() -> Self {
        // A reader attributes no byte before the first ID, so the initial value is not a source.
        Self { frame: [0; FRAME], len: 0, current: 0xff, held: None }
    }

    /// Writes bytes of a source; complete frames go to `out`.
    pub fn write(&mut self, id: TraceId, bytes: &[u8], out: &mut impl FnMut(&[u8; FRAME])) {
        for byte in bytes {
            self.put(id.get(), *byte, out);
        }
    }

    /// Pads and passes on the last frame, if it holds anything.
    pub fn finish(&mut self, out: &mut impl FnMut(&[u8; FRAME])) {
        while self.len > 0 || self.held.is_some() {
            self.put(0, 0, out);
            // Padding that is held back for the byte after it does not count.
            if self.len == 0 {
                self.held = None;
            }
        }
        self.current = 0xff;
    }

    fn put(&mut self, source: u8, byte: u8, out: &mut impl FnMut(&[u8; FRAME])) {
        let id = source.wrapping_shl(1) | 1;
        match self.held.take() {
            Some(held) if source == self.current => self.pair(held & !1, held & 1, byte),
            Some(held) => {
                self.pair(id, 1, held);
                self.current = source;
                self.flush(out);
                self.put_first(byte);
            }
            None if source == self.current => self.put_first(byte),
            None => {
                self.current = source;
                if self.len == 14 {
                    self.single(id, 0);
                    self.flush(out);
                    self.put_first(byte);
                } else {
                    self.pair(id, 0, byte);
                }
            }
        }
        self.flush(out);
    }

    /// Writes a byte of the current source at the start of a pair. The last pair has only one byte.
    fn put_first(&mut self, byte: u8) {
        if self.len == 14 {
            self.single(byte & !1, byte & 1);
        } else {
            self.held = Some(byte);
        }
    }

    fn pair(&mut self, even: u8, auxiliary: u8, odd: u8) {
        self.single(even, auxiliary);
        if let Some(to) = self.frame.get_mut(self.len) {
            *to = odd;
        }
        self.len = self.len.saturating_add(1);
    }

    fn single(&mut self, even: u8, auxiliary: u8) {
        let bit = auxiliary.wrapping_shl((self.len >> 1) as u32);
        if let Some(to) = self.frame.get_mut(self.len) {
            *to = even;
        }
        let [.., last] = &mut self.frame;
        *last |= bit;
        self.len = self.len.saturating_add(1);
    }

    fn flush(&mut self, out: &mut impl FnMut(&[u8; FRAME])) {
        if self.len >= 15 {
            out(&self.frame);
            self.frame = [0; FRAME];
            self.len = 0;
        }
    }
}

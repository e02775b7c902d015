//! Finds the kind and length of the next packet without reading its fields.

use crate::headers::Length;
use crate::walk::walk;
use crate::{Headers, Kind, ParseError};
use hartrace_bits::septet_bytes;

/// Long enough for every packet whose header determines its length, except the longest timestamp.
const WINDOW: usize = 9;

impl Headers {
    /// Returns the kind and length of the packet at the start of `bytes`. The result is the same as that
    /// of [`Packet::parse`](crate::Packet::parse), but most packets need not be read.
    // Inlined, as are all callers: the next packet starts where this one ends, and a length that passes
    // through memory arrives late.
    #[inline(always)]
    pub fn find(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        match bytes.first_chunk() {
            Some(window) => self.find_in(window, bytes),
            None => self.find_at_end(bytes),
        }
    }

    /// Handles fewer bytes than the table needs: appended zeros end every packet, but past `bytes`.
    #[cold]
    #[inline(never)]
    fn find_at_end(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        if bytes.is_empty() {
            return self.read_length(bytes);
        }
        let mut window = [0; WINDOW];
        for (to, from) in window.iter_mut().zip(bytes) {
            *to = *from;
        }
        self.find_in(&window, bytes)
    }

    #[inline(always)]
    fn find_in(
        &self,
        [header, payload @ ..]: &[u8; WINDOW],
        bytes: &[u8],
    ) -> Result<(Kind, u8), ParseError> {
        // No branch depends on the kind of packet, which cannot be predicted.
        let Length { kind, fixed, most, plain, context } = self.length(*header);
        let run = septet_bytes(u64::from_le_bytes(*payload));
        if run > plain {
            return self.read_length(bytes);
        }
        let mut len = fixed.wrapping_add(run.min(most));
        if context {
            let info = bytes.get(usize::from(len)).copied().unwrap_or(0);
            len = len.wrapping_add(self.context_length(info));
        }
        if usize::from(len) > bytes.len() {
            // Says how much is missing.
            return self.read_length(bytes);
        }
        Ok((kind, len))
    }

    #[cold]
    #[inline(never)]
    fn read_length(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        let (kind, len) = walk(self.layout(), bytes, |_, _, _| ())?;
        // No packet is longer than `MAX_PACKET` and a few bytes without meaning.
        Ok((kind, len as u8))
    }
}

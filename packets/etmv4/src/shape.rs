//! How long packets are, without reading them.

use crate::{Config, Headers, Kind, Packet, ParseError};
use hartrace_bits::septet_bytes;

/// What the header says of the length of a packet: some bytes, then up to `most` of which one with
/// bit 7 clear is the last, or a context.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Shape {
    kind: Kind,
    /// Bytes that are always there, with the header.
    pub(crate) fixed: u8,
    pub(crate) most: u8,
    /// More bytes than this before one with bit 7 clear, and the length takes more than this table.
    pub(crate) plain: u8,
    /// A context follows.
    pub(crate) context: bool,
}

/// Enough for every packet whose length the header tells but the longest timestamp.
const WINDOW: usize = 9;

impl Shape {
    pub(crate) fn of(config: &Config, kind: Kind, header: u8) -> Self {
        use Kind as K;
        let always = u8::MAX;
        let with_context = |fixed| Self { kind, fixed, most: 0, plain: always, context: true };
        let (fixed, most, plain) = match kind {
            K::Context if header & 1 == 1 => return with_context(1),
            K::AddressContext32Is0 | K::AddressContext32Is1 => return with_context(5),
            K::AddressContext64Is0 | K::AddressContext64Is1 => return with_context(9),
            K::Timestamp if header & 1 == 0 => (1, 9, always),
            K::Exception if !config.is_ete() => (1, 2, always),
            K::CycleCountF2 | K::ConditionalF3 | K::ResultF3 => (2, 0, always),
            K::CycleCountF1 if config.commopt && header & 1 == 0 => (1, 3, always),
            K::CycleCountF1 if config.commopt => (1, 0, always),
            // 32 bits at most: O3.
            K::Commit | K::CancelF1 | K::CancelF1Mispredict | K::ConditionalF1 => (1, 5, 5),
            K::AddressShortIs0 | K::AddressShortIs1 | K::SourceShortIs0 | K::SourceShortIs1 => {
                (1, 2, always)
            }
            K::Address32Is0 | K::Address32Is1 | K::Source32Is0 | K::Source32Is1 => (5, 0, always),
            K::Address64Is0 | K::Address64Is1 | K::Source64Is0 | K::Source64Is1 => (9, 0, always),
            K::Q if header == 0xaf => (1, 0, always),
            K::TraceOn
            | K::FunctionReturn
            | K::ExceptionReturn
            | K::TransactionStart
            | K::TransactionCommit
            | K::CycleCountF3
            | K::NumberedMarker
            | K::UnnumberedMarker
            | K::Mispredict
            | K::CancelF2
            | K::CancelF3
            | K::ConditionalF2
            | K::ConditionalFlush
            | K::ResultF2
            | K::ResultF4
            | K::Ignore
            | K::Event
            | K::TimestampMarker
            | K::Context
            | K::AddressMatch
            | K::SourceMatch
            | K::AtomF1
            | K::AtomF2
            | K::AtomF3
            | K::AtomF4
            | K::AtomF5
            | K::AtomF6 => (1, 0, always),
            _ => return Self::UNKNOWN,
        };
        Self { kind, fixed, most, plain, context: false }
    }

    /// The packet has to be read to know its length.
    pub(crate) const UNKNOWN: Self =
        Self { kind: Kind::Extension, fixed: 0, most: 0, plain: 0, context: false };
}

/// Bytes of a context, by the two upper bits of its first byte. An identifier that is not traced takes
/// none: O4.
pub(crate) const fn context_lengths(config: &Config) -> [u8; 4] {
    let (vmid, id) = (config.vmid_bytes, config.context_id_bytes);
    [1, vmid.wrapping_add(1), id.wrapping_add(1), vmid.wrapping_add(id).wrapping_add(1)]
}

impl Headers {
    /// What packet is at the start of `bytes`, and how long it is; the same as of [`Packet::parse`],
    /// but most packets are not read for it.
    // Inlined, as are all callers: the next packet starts where this one ends, and a length that goes by
    // way of memory comes late.
    #[inline(always)]
    pub fn find(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        match bytes.first_chunk() {
            Some(window) => self.find_in(window, bytes),
            None => self.find_at_end(bytes),
        }
    }

    /// Fewer bytes than the table needs: zeros behind them end every packet, but too late.
    #[cold]
    #[inline(never)]
    fn find_at_end(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        if bytes.is_empty() {
            return Err(ParseError::Incomplete);
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
        // Without a branch for the kind of packet, which nobody can predict.
        let shape = self.shape(*header);
        let run = septet_bytes(u64::from_le_bytes(*payload));
        if run > shape.plain {
            return self.read_length(bytes);
        }
        let mut len = shape.fixed.wrapping_add(run.min(shape.most));
        if shape.context {
            let info = bytes.get(usize::from(len)).copied().unwrap_or(0);
            len = len.wrapping_add(self.context_length(info));
        }
        if usize::from(len) > bytes.len() {
            return Err(ParseError::Incomplete);
        }
        Ok((shape.kind, len))
    }

    #[cold]
    #[inline(never)]
    fn read_length(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        let (packet, len) = Packet::parse(self, bytes)?;
        // No packet is longer than `MAX_PACKET` and some bytes that say nothing.
        Ok((packet.kind(), len as u8))
    }
}

//! How long packets are, without reading them.

use crate::layout::Course;
use crate::table::{End, Section, Sections};
use crate::walk::walk;
use crate::{Class, Headers, Kind, Layout, ParseError};
use hartrace_bits::septet_bytes;

/// What the header says of the length of a packet: some bytes, then up to `most` of which one with
/// bit 7 clear is the last, or a context.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Length {
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

impl Length {
    /// The packet has to be read to know its length.
    pub(crate) const UNKNOWN: Self =
        Self { kind: Kind::Extension, fixed: 0, most: 0, plain: 0, context: false };

    /// The length of packets with a header, if this table can tell it.
    pub(crate) fn of(layout: &Layout, header: u8) -> Self {
        let Class::Packet(kind) = layout.class(header) else { return Self::UNKNOWN };
        let none = Self { kind, fixed: 1, most: 0, plain: u8::MAX, context: false };
        layout
            .sections(header)
            .try_fold(none, |before, section| before.then(layout, section))
            .unwrap_or(Self::UNKNOWN)
    }

    /// The same with a section more. What ends where a byte says so is the last section, and follows the
    /// header.
    fn then(self, layout: &Layout, section: Section) -> Option<Self> {
        let shape = layout.shape(section);
        if self.most > 0 || self.context {
            return None;
        }
        if section == Section::Context {
            return Some(Self { context: true, ..self });
        }
        if !layout.rules(section).is_empty() {
            return None;
        }
        match shape.end {
            End::Fixed => Some(Self { fixed: self.fixed.wrapping_add(shape.most), ..self }),
            _ if self.fixed > 1 => None,
            End::Bounded => Some(Self { most: shape.most, ..self }),
            End::Unbounded => Some(Self { most: shape.most, plain: shape.most, ..self }),
        }
    }
}

/// Bytes of a context, by the two upper bits of its first byte.
pub(crate) fn context_lengths(layout: &Layout) -> [u8; 4] {
    [0x00, 0x40, 0x80, 0xc0].map(|info| {
        let mut course = Course { kind: Kind::Context, pending: Sections::NONE };
        course.note(layout, Section::Context, 0, info);
        course.pending.fold(1, |all, section| layout.shape(section).most.wrapping_add(all))
    })
}

impl Headers {
    /// What packet is at the start of `bytes`, and how long it is; the same as of
    /// [`Packet::parse`](crate::Packet::parse), but most packets are not read for it.
    // Inlined, as are all callers: the next packet starts where this one ends, and a length that goes by
    // way of memory comes late.
    #[inline(always)]
    pub fn find(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        match bytes.first_chunk() {
            Some(window) => self.find_in(window, bytes),
            None => self.find_at_end(bytes),
        }
    }

    /// Fewer bytes than the table needs: zeros after them end every packet, but too late.
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
            return Err(ParseError::Incomplete);
        }
        Ok((kind, len))
    }

    #[cold]
    #[inline(never)]
    fn read_length(&self, bytes: &[u8]) -> Result<(Kind, u8), ParseError> {
        let (kind, len) = walk(self.layout(), bytes, |_, _, _| ())?;
        // No packet is longer than `MAX_PACKET` and some bytes that say nothing.
        Ok((kind, len as u8))
    }
}

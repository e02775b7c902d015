use hartrace_isa::arm::{Isa, Spaces, is_wide};
use std::sync::Arc;

/// The memory that a core sees: code, by address and address space.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// In the order of addition; the first segment that contains an address counts.
    segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    /// Shared: several cores may see it.
    bytes: Arc<Vec<u8>>,
    spaces: Spaces,
}

impl Memory {
    /// Empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds bytes at an address, in some address spaces. Bytes that were added before have priority.
    pub fn add(&mut self, start: u64, bytes: Vec<u8>, spaces: Spaces) {
        self.segments.push(Segment { start, bytes: Arc::new(bytes), spaces });
    }

    /// The same memory behind other memory, which has priority.
    #[must_use]
    pub fn behind(&self, first: &Self) -> Self {
        Self { segments: [&first.segments[..], &self.segments].concat() }
    }

    /// All bytes, with their addresses, in the order of priority.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.segments.iter().map(|segment| (segment.start, segment.bytes.as_slice()))
    }

    /// The bytes from an address on, up to the end of the segment.
    pub(crate) fn from(&self, address: u64, spaces: Spaces) -> Option<&[u8]> {
        self.segments.iter().filter(|segment| segment.spaces.meets(spaces)).find_map(|segment| {
            let offset = usize::try_from(address.checked_sub(segment.start)?).ok()?;
            segment.bytes.get(offset..).filter(|rest| !rest.is_empty())
        })
    }
}

/// The opcode at the start of `bytes`; for T32 the first half-word is in the upper half. Four bytes
/// must be present, even for an instruction of two, as in OpenCSD (O16).
#[inline]
pub(crate) fn opcode(isa: Isa, bytes: &[u8]) -> Option<u32> {
    let word = u32::from_le_bytes(*bytes.first_chunk()?);
    Some(match isa {
        Isa::A64 | Isa::A32 => word,
        Isa::T32 if is_wide(word as u16) => word.rotate_left(16),
        Isa::T32 => word.wrapping_shl(16),
    })
}

//! Payloads as they are transmitted: compressed, in whole bytes.

use crate::fast;
use crate::{Compat, EmitError, Format, Ioptions, Layout, MAX_PAYLOAD_BYTES, Payload, Unit};
use hartrace_bits::BitWriter;

/// Room for the longest payload; a power of two is copied faster.
const BUFFER_BYTES: usize = MAX_PAYLOAD_BYTES.next_power_of_two();

/// The bytes of one payload.
#[derive(Copy, Clone, Debug)]
pub struct Packed {
    bytes: [u8; BUFFER_BYTES],
    len: usize,
}

impl Packed {
    /// The bytes as transmitted.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Drops the redundant signs of a number of at most 128 bits.
    #[inline]
    pub(crate) fn signed(value: i128) -> Self {
        let redundant = if value < 0 { value.leading_ones() } else { value.leading_zeros() };
        // One sign remains.
        let len = (136u32.wrapping_sub(redundant) >> 3) as usize;
        let mut bytes = [0; BUFFER_BYTES];
        if let Some(low) = bytes.first_chunk_mut() {
            *low = value.to_le_bytes();
        }
        Self { bytes, len }
    }
}

/// Packs payloads for one set of parameters.
#[derive(Clone, Debug)]
pub struct Packer {
    layout: Layout,
    /// C3: unused irdepth fields are filled with ones.
    pub(crate) ones: bool,
    /// Formats 0, 1 and 2 need not be looked up in the table.
    pub(crate) narrow: bool,
    pub(crate) address_bits: u32,
    pub(crate) irdepth_bits: u32,
}

impl Packer {
    /// Creates a packer for payloads of this layout.
    pub fn new(layout: Layout, compat: Compat) -> Self {
        let frequent = [Format::BranchCount, Format::JumpTarget, Format::Branch, Format::Address];
        let longest = frequent.iter().map(|format| layout.max_format_bits(*format)).max();
        Self {
            ones: compat == Compat::PythonModel && layout.params().irdepth_bits() > 0,
            narrow: layout.unit() != Unit::RvTracer && longest.is_some_and(|bits| bits <= 128),
            address_bits: layout.params().address_bits(),
            irdepth_bits: layout.params().irdepth_bits(),
            layout,
        }
    }

    /// The layout of the payloads.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Packs one payload; `options` are the modes in force.
    ///
    /// # Errors
    ///
    /// As [`Payload::emit`].
    // Where the format is known, most of it disappears.
    #[inline(always)]
    pub fn pack(&self, payload: &Payload, options: Ioptions) -> Result<Packed, EmitError> {
        match fast::emit(self, options, payload) {
            Some(packed) => Ok(packed),
            None => self.pack_by_table(payload, options),
        }
    }

    /// Like [`Packer::pack`], but writes every format field by field from the table. It is slower;
    /// tests check `pack` against it.
    #[inline(never)]
    pub fn pack_by_table(&self, payload: &Payload, options: Ioptions) -> Result<Packed, EmitError> {
        let mut bytes = [0; BUFFER_BYTES];
        let mut out = BitWriter::new(&mut bytes);
        payload.emit_filled(&self.layout, options, self.ones, &mut out)?;
        let len = match self.layout.unit() {
            Unit::RvTracer => out.finish_padded(),
            Unit::Reference | Unit::Hartrace => out.finish_compressed(),
        };
        Ok(Packed { bytes, len })
    }
}

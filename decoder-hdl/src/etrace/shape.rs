//! Where the bytes of a packet go.

use super::Config;
use hartrace_etrace::Layout;

/// The sizes that follow from a configuration.
///
/// The bytes after a header have positions: whole bytes of srcID, the timestamp, and the body that `length` counts.
/// Packets without a timestamp leave out its positions. The body has only as many as the longest payload needs;
/// all bytes after them repeat the sign.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Bytes per cycle.
    pub(super) unroll: u32,
    /// The fields of payloads.
    pub(super) layout: Layout,
    /// Bits of srcID.
    pub(super) source_bits: u32,
    /// Bits of the type, and its value for instruction trace.
    pub(super) kind: (u32, u32),
    /// Whole bytes of srcID.
    pub(super) source_bytes: u32,
    /// Bytes of the timestamp.
    pub(super) stamp_bytes: u32,
    /// Bits of the body before the payload.
    pub(super) start: u32,
    /// Bits of the longest payload.
    pub(super) payload_bits: u32,
}

impl Shape {
    /// Expects parameters that [`Config::check`] accepts, apart from those of [`Layout`].
    pub(super) fn new(config: &Config) -> Result<Self, super::ConfigError> {
        let layout = config.params.layout(config.unit)?;
        let encap = &config.encap;
        let (source_bits, type_bits) = (u32::from(encap.src_id_bits()), encap.type_bits().into());
        Ok(Self {
            unroll: config.unroll,
            source_bits,
            kind: (type_bits, encap.instruction_type().into()),
            source_bytes: source_bits / 8,
            stamp_bytes: encap.timestamp_bytes().into(),
            start: source_bits % 8 + type_bits,
            payload_bits: layout.max_bits(),
            layout,
        })
    }

    /// Packets that can end in one cycle.
    pub(super) fn slots(&self) -> u32 {
        self.unroll.div_ceil(2)
    }

    /// The lanes of a slot.
    pub(super) fn lanes(&self, slot: u32) -> std::ops::Range<u32> {
        2 * slot..(2 * slot + 2).min(self.unroll)
    }

    /// The most bytes after a header.
    pub(super) fn longest(&self) -> u32 {
        self.body() + 31
    }

    /// The position of the first byte of the body.
    pub(super) fn body(&self) -> u32 {
        self.source_bytes + self.stamp_bytes
    }

    /// The number of positions.
    pub(super) fn positions(&self) -> u32 {
        self.body() + (self.start + self.payload_bits).div_ceil(8)
    }

    /// How many bytes after its header a byte at this position is, at least.
    pub(super) fn distance(&self, position: u32) -> u32 {
        if position < self.body() { position + 1 } else { position + 1 - self.stamp_bytes }
    }
}

//! Siemens messaging, as used by the reference flow and other projects.
//!
//! ```text
//! byte 0       length 5, type 2, time-tag flag 1
//! then         time tag   2 bytes, if flagged
//!              hart index hart_index_bits, padded to a byte
//!              payload    length bytes
//! ```
//!
//! The example in the E-Trace text, which puts srcID and type in a byte that `length` counts, is
//! an [`Encap`](crate::Framing::Encap) frame with instruction type 2.

use crate::{
    EmitError, Frame, FrameError, FrameHeader, Framing, Item, Kind, LENGTH, ParamsError, Parsed,
    complete, first, length_of, put,
};
use hartrace_bits::{BitReader, Tail, mask};

const TAGGED: u8 = 0x80;

/// Type code of instruction trace; data trace uses 3.
const INSTRUCTION: u8 = 2;

/// Field widths of Siemens messages. They are not in the stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct SmiParams {
    hart_index_bits: u8,
}

impl SmiParams {
    /// A hart index of 0 to 16 bits.
    pub const fn new(hart_index_bits: u8) -> Result<Self, ParamsError> {
        if hart_index_bits > 16 {
            return Err(ParamsError::HartIndexBits(hart_index_bits));
        }
        Ok(Self { hart_index_bits })
    }

    /// Width of the hart index.
    pub const fn hart_index_bits(&self) -> u8 {
        self.hart_index_bits
    }

    fn hart_index_bytes(&self) -> u8 {
        self.hart_index_bits.div_ceil(8)
    }
}

/// Whether a frame that carries trace may start with this byte.
pub(crate) const fn is_header(byte: u8) -> bool {
    byte >> 5 & 3 >= INSTRUCTION && byte & LENGTH != 0
}

#[inline]
pub(crate) fn parse(params: SmiParams, bytes: &[u8]) -> Result<Parsed<'_>, FrameError> {
    let head = first(bytes)?;
    let length = head & LENGTH;
    let tag_bytes = if head & TAGGED != 0 { 2 } else { 0 };
    let fixed = params.hart_index_bytes().saturating_add(tag_bytes).saturating_add(1);
    let used = usize::from(fixed.saturating_add(length));
    complete(bytes, used)?;
    if length == 0 {
        return Err(FrameError::TooShort { length, skip: used });
    }
    let frame = Frame::new(Framing::Smi(params), bytes, fixed, length, 0);
    Ok(Parsed { used, item: Item::Frame(frame) })
}

/// The header of a parsed frame.
pub(crate) fn header(params: SmiParams, bytes: &[u8]) -> FrameHeader {
    let mut bits = BitReader::new(bytes, Tail::Zero);
    let mut field = |width: u8| bits.read(width.into()).unwrap_or(0);
    let head = field(8) as u8;
    let timestamp = (head & TAGGED != 0).then(|| field(16));
    let hart_index = field(params.hart_index_bits) as u16;
    FrameHeader {
        source: (params.hart_index_bits > 0).then_some(hart_index),
        timestamp,
        kind: Kind::of(head >> 5 & 3, INSTRUCTION),
        ..FrameHeader::default()
    }
}

pub(crate) fn emit(
    params: SmiParams,
    header: &FrameHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, EmitError> {
    header.no_flow()?;
    header.no_index()?;
    let length = length_of(payload, 0)?;
    let kind = header.kind.code(INSTRUCTION).filter(|code| *code <= 3);
    let kind = kind.ok_or(EmitError::Kind(header.kind))?;
    let hart_index = match header.source {
        None if params.hart_index_bits == 0 => 0,
        Some(id) if params.hart_index_bits > 0 => id,
        source => return Err(EmitError::Source(source)),
    };
    if u64::from(hart_index) & !mask(params.hart_index_bits.into()) != 0 {
        return Err(EmitError::Source(header.source));
    }
    let tag = match header.timestamp.map(u16::try_from) {
        None => None,
        Some(Ok(tag)) => Some(tag.to_le_bytes()),
        Some(Err(_)) => return Err(EmitError::Timestamp(header.timestamp)),
    };

    let head = length | kind << 5 | if tag.is_some() { TAGGED } else { 0 };
    let hart_index = hart_index.to_le_bytes();
    put(
        &[
            &[head],
            tag.as_ref().map_or(&[], |tag| tag.as_slice()),
            hart_index.get(..params.hart_index_bytes().into()).unwrap_or_default(),
            payload,
        ],
        out,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_FRAME;

    #[test]
    fn hart_index_and_time_tag() {
        let params = SmiParams::new(12).unwrap();
        let bytes = [0xe2, 0x34, 0x12, 0xbc, 0x0a, 0x1f, 0x04];
        let header = FrameHeader {
            source: Some(0xabc),
            timestamp: Some(0x1234),
            kind: Kind::Data,
            ..Default::default()
        };
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(params, &header, &[0x1f, 0x04], &mut out), Ok(7));
        assert_eq!(out[..7], bytes);
        let parsed = parse(params, &bytes).unwrap();
        assert_eq!(parsed.used, 7);
        let Item::Frame(frame) = parsed.item else { panic!("null") };
        assert_eq!(frame.header(), header);
        assert_eq!(frame.payload_bytes(), Some(&[0x1f, 0x04][..]));
    }

    #[test]
    fn without_hart_index_it_is_the_reference_file() {
        let params = SmiParams::new(0).unwrap();
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(params, &FrameHeader::default(), &[0x1f, 0x04], &mut out), Ok(3));
        assert_eq!(out[..3], [0x42, 0x1f, 0x04]);
    }

    #[test]
    fn empty_message() {
        let params = SmiParams::new(8).unwrap();
        assert_eq!(parse(params, &[0x40]), Err(FrameError::Incomplete { missing: 1 }));
        let error = FrameError::TooShort { length: 0, skip: 2 };
        assert_eq!(parse(params, &[0x40, 1]), Err(error));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refuse = |bits, header| {
            emit(SmiParams::new(bits).unwrap(), &header, &[1], &mut [0; MAX_FRAME]).unwrap_err()
        };
        let good = FrameHeader { source: Some(3), ..Default::default() };
        assert_eq!(refuse(1, good), EmitError::Source(Some(3)));
        assert_eq!(refuse(0, good), EmitError::Source(Some(3)));
        assert_eq!(refuse(2, FrameHeader { source: None, ..good }), EmitError::Source(None));
        let timestamp = Some(0x1_0000);
        assert_eq!(refuse(2, FrameHeader { timestamp, ..good }), EmitError::Timestamp(timestamp));
        for kind in [Kind::Other(2), Kind::Other(4)] {
            assert_eq!(refuse(2, FrameHeader { kind, ..good }), EmitError::Kind(kind));
        }
        assert_eq!(SmiParams::new(17), Err(ParamsError::HartIndexBits(17)));
    }
}

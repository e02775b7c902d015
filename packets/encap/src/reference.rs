//! `te_inst_raw` files: `0x40 | length`, then `length` payload bytes.
//!
//! The files seen have at most 30 payload bytes; 31, the largest value of the field, is accepted.

use crate::{
    EmitError, Frame, FrameError, FrameHeader, Framing, Item, LENGTH, Parsed, complete, first,
    length_of, put,
};

/// Instruction trace in the type field of Siemens messaging, on which the format is based.
const INSTRUCTION: u8 = 0x40;

/// Whether a frame may start with this byte.
pub(crate) const fn is_header(byte: u8) -> bool {
    byte & !LENGTH == INSTRUCTION && byte & LENGTH != 0
}

#[inline]
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed<'_>, FrameError> {
    let head = first(bytes)?;
    if !is_header(head) {
        return Err(FrameError::Header(head));
    }
    let length = head & LENGTH;
    let used = usize::from(length).saturating_add(1);
    complete(bytes, used)?;
    let frame = Frame::new(Framing::Reference, bytes, 1, length, 0);
    Ok(Parsed { used, item: Item::Frame(frame) })
}

pub(crate) fn emit(
    header: &FrameHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, EmitError> {
    header.no_source()?;
    header.no_timestamp()?;
    header.no_flow()?;
    header.no_data()?;
    header.no_index()?;
    put(&[&[INSTRUCTION | length_of(payload, 0)?], payload], out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, MAX_FRAME};

    #[test]
    fn support_packet() {
        let bytes = [0x42, 0x1f, 0x04];
        let Item::Frame(frame) = parse(&bytes).unwrap().item else { panic!("null") };
        assert_eq!(frame.header(), FrameHeader::default());
        assert_eq!(frame.payload_bytes(), Some(&bytes[1..]));
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(&frame.header(), &bytes[1..], &mut out), Ok(3));
        assert_eq!(out[..3], bytes);
    }

    #[test]
    fn other_headers_are_refused() {
        for head in [0x00, 0x40, 0x02, 0x62, 0xc2] {
            assert_eq!(parse(&[head, 1, 2]), Err(FrameError::Header(head)));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let none = FrameHeader::default();
        let refuse =
            |header, payload: &[u8]| emit(&header, payload, &mut [0; MAX_FRAME]).unwrap_err();
        let (source, timestamp, index) = (Some(1), Some(1), Some(1));
        assert_eq!(refuse(FrameHeader { source, ..none }, &[1]), EmitError::Source(source));
        assert_eq!(
            refuse(FrameHeader { timestamp, ..none }, &[1]),
            EmitError::Timestamp(timestamp)
        );
        assert_eq!(refuse(FrameHeader { index, ..none }, &[1]), EmitError::Index(index));
        assert_eq!(refuse(FrameHeader { flow: 1, ..none }, &[1]), EmitError::Flow(1));
        let kind = Kind::Data;
        assert_eq!(refuse(FrameHeader { kind, ..none }, &[1]), EmitError::Kind(kind));
        assert_eq!(refuse(none, &[]), EmitError::PayloadLength(0));
        assert_eq!(refuse(none, &[1; 32]), EmitError::PayloadLength(32));
    }
}

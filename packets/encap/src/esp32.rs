//! Trace memory of the ESP32-C6.
//!
//! ```text
//! byte 0       length 5, zero 3; length counts all bytes of the frame
//! then         packet index  2 bytes
//!              payload       length - 3 bytes
//! ```
//!
//! A zero byte where a header should be is padding.

use crate::{
    EmitError, Frame, FrameError, FrameHeader, Framing, Item, LENGTH, Null, Parsed, complete,
    first, length_of, put,
};

/// Header byte and packet index.
const FIXED: u8 = 3;

/// Whether a frame or padding may start with this byte.
pub(crate) const fn is_header(byte: u8) -> bool {
    byte == 0 || byte & !LENGTH == 0 && byte > FIXED
}

#[inline]
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed<'_>, FrameError> {
    let head = first(bytes)?;
    if !is_header(head) {
        return Err(FrameError::Header(head));
    }
    if head == 0 {
        return Ok(Parsed { used: 1, item: Item::Null(Null::Padding) });
    }
    let used = head.into();
    complete(bytes, used)?;
    let length = head.saturating_sub(FIXED);
    let frame = Frame::new(Framing::Esp32, bytes, FIXED, length, 0);
    Ok(Parsed { used, item: Item::Frame(frame) })
}

/// The header of a parsed frame.
pub(crate) fn header(bytes: &[u8]) -> FrameHeader {
    let index = match bytes {
        [_, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
        _ => None,
    };
    FrameHeader { index, ..FrameHeader::default() }
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
    let index = header.index.ok_or(EmitError::Index(None))?;
    put(&[&[length_of(payload, FIXED.into())?], &index.to_le_bytes(), payload], out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Framing, MAX_FRAME};
    use std::vec::Vec;

    #[test]
    fn frame_between_padding() {
        let bytes = [0, 0, 5, 0x34, 0x12, 0x1f, 0x04, 0];
        let items: Vec<_> = Framing::Esp32.frames(&bytes).map(Result::unwrap).collect();
        let offsets: Vec<_> = items.iter().map(|(offset, _)| *offset).collect();
        assert_eq!(offsets, [0, 1, 2, 7]);
        let Item::Frame(frame) = items[2].1 else { panic!("null") };
        assert_eq!(frame.header().index, Some(0x1234));
        assert_eq!(frame.payload_bytes(), Some(&[0x1f, 0x04][..]));
        for at in [0, 1, 3] {
            assert_eq!(items[at].1, Item::Null(Null::Padding));
        }
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(&frame.header(), &[0x1f, 0x04], &mut out), Ok(5));
        assert_eq!(out[..5], bytes[2..7]);
    }

    #[test]
    fn length_must_cover_the_header() {
        for head in [1, 2, 3, 0x20, 0x85] {
            assert_eq!(parse(&[head; 8]), Err(FrameError::Header(head)));
        }
    }

    #[test]
    fn limits() {
        let header = FrameHeader { index: Some(0), ..Default::default() };
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(&header, &[1; 28], &mut out), Ok(31));
        assert_eq!(emit(&header, &[1; 29], &mut out), Err(EmitError::PayloadLength(29)));
        assert_eq!(emit(&FrameHeader::default(), &[1], &mut out), Err(EmitError::Index(None)));
    }
}

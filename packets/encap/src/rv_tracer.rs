//! rv_tracer captures: records of 40 bytes, last byte first.
//!
//! | record byte | content |
//! |---|---|
//! | 39 | `length`, `flow`, `extend` = 1 |
//! | 38 down to 31 | timestamp, least significant byte at 38 |
//! | 30 down | payload |
//! | rest | 0 |
//!
//! Reversed, a record is a standard encapsulation with an 8-byte timestamp, padded to 40 bytes.
//! Payloads of this encoder are padded with zeros, not with their sign.

use crate::encap::{self, EXTEND};
use crate::{
    EmitError, EncapParams, Frame, FrameError, FrameHeader, Framing, Item, LENGTH, Null, Parsed,
    complete, put,
};

/// Bytes in a record.
pub(crate) const RECORD: usize = 40;

/// Position of the header byte.
const HEAD: usize = 39;

/// Position where the reversed payload ends and the timestamp begins.
const PAYLOAD_END: u8 = 31;

#[inline]
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed<'_>, FrameError> {
    complete(bytes, RECORD)?;
    let head = bytes.get(HEAD).copied().unwrap_or(0);
    let length = head & LENGTH;
    let item = match (length, head & EXTEND != 0) {
        (0, false) => Item::Null(Null::Idle),
        (0, true) => Item::Null(Null::Alignment),
        (_, false) => return Err(FrameError::Record(head)),
        (_, true) => {
            let lowest = PAYLOAD_END.saturating_sub(length);
            Item::Frame(Frame::new(Framing::RvTracer, bytes, lowest, length, 0))
        }
    };
    // A null packet uses a whole record as well.
    Ok(Parsed { used: RECORD, item })
}

/// The header of a parsed record.
pub(crate) fn header(bytes: &[u8]) -> FrameHeader {
    let timestamp = bytes.get(PAYLOAD_END.into()..).and_then(<[u8]>::first_chunk);
    FrameHeader {
        timestamp: timestamp.map(|bytes| u64::from_be_bytes(*bytes)),
        flow: bytes.get(HEAD).map_or(0, |head| head >> 5 & 3),
        ..FrameHeader::default()
    }
}

pub(crate) fn emit(
    header: &FrameHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, EmitError> {
    if header.timestamp.is_none() {
        return Err(EmitError::Timestamp(None));
    }
    let mut record = [0; RECORD];
    encap::emit(EncapParams::STAMPED, header, payload, &mut record)?;
    record.reverse();
    put(&[&record], out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_FRAME, Null};

    #[test]
    fn record_layout() {
        let mut record = [0; RECORD];
        record[39] = 0x80 | 3;
        record[31..39].copy_from_slice(&0x0102_0304_0506_0708u64.to_be_bytes());
        record[30] = 0x1f;
        record[29] = 0x04;
        record[28] = 0x80;
        let header = FrameHeader { timestamp: Some(0x0102_0304_0506_0708), ..Default::default() };

        let parsed = parse(&record).unwrap();
        assert_eq!(parsed.used, RECORD);
        let Item::Frame(frame) = parsed.item else { panic!("null") };
        assert_eq!(frame.header(), header);
        assert_eq!(frame.payload_bytes(), None);
        assert_eq!(frame.payload().bit_len(), 24);
        // Zeros past the end, although the last bit is 1.
        assert_eq!(frame.payload().read(64), Ok(0x80_041f));

        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(&header, &[0x1f, 0x04, 0x80], &mut out), Ok(RECORD));
        assert_eq!(out[..RECORD], record);
    }

    #[test]
    fn longest_payload_fills_the_record() {
        let header = FrameHeader { timestamp: Some(0), ..Default::default() };
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(&header, &[0x55; 31], &mut out), Ok(RECORD));
        assert_eq!(out[..31], [0x55; 31]);
    }

    #[test]
    fn empty_record_is_null() {
        let parsed = Parsed { used: RECORD, item: Item::Null(Null::Idle) };
        assert_eq!(parse(&[0; RECORD]), Ok(parsed));
    }

    #[test]
    fn record_without_timestamp() {
        let mut record = [0; RECORD];
        record[39] = 0x02;
        assert_eq!(parse(&record), Err(FrameError::Record(0x02)));
        let error = emit(&FrameHeader::default(), &[1], &mut [0; MAX_FRAME]);
        assert_eq!(error, Err(EmitError::Timestamp(None)));
    }
}

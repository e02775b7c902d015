//! Standard encapsulation v1.0.
//!
//! ```text
//! byte 0       length 5, flow 2, extend 1
//! then, LSB first and without gaps
//!              srcID      src_id_bits
//!              timestamp  timestamp_bytes * 8, if extend
//!              type       type_bits
//!              payload
//! ```
//!
//! `length` counts the bytes after the last whole srcID byte, without the timestamp: the odd srcID
//! bits, the type and the payload. `length` 0 is a null packet of one byte.
//!
//! Spec: RISC-V Trace Encapsulation 1.0, chapter 2.

use crate::{
    EmitError, Frame, FrameError, FrameHeader, Framing, Item, Kind, LENGTH, MAX_LENGTH, Null,
    ParamsError, Parsed, complete, first, put,
};
use hartrace_bits::{BitReader, BitWriter, Tail, mask};

/// The `extend` bit of a header byte.
pub(crate) const EXTEND: u8 = 0x80;

/// Field widths of a standard encapsulation. They are not in the stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct EncapParams {
    src_id_bits: u8,
    timestamp_bytes: u8,
    type_bits: u8,
    instruction_type: u8,
}

impl EncapParams {
    /// An 8-byte timestamp and nothing else, as in rv_tracer.
    pub(crate) const STAMPED: Self =
        Self { src_id_bits: 0, timestamp_bytes: 8, type_bits: 0, instruction_type: 0 };

    /// A srcID of 0 to 16 bits, a timestamp of 0 to 8 bytes, a type of 0 to 8 bits.
    ///
    /// With a timestamp width of 0, `extend` is ignored except in null packets.
    pub const fn new(
        src_id_bits: u8,
        timestamp_bytes: u8,
        type_bits: u8,
    ) -> Result<Self, ParamsError> {
        if src_id_bits > 16 {
            return Err(ParamsError::SrcIdBits(src_id_bits));
        }
        if timestamp_bytes > 8 {
            return Err(ParamsError::TimestampBytes(timestamp_bytes));
        }
        if type_bits > 8 {
            return Err(ParamsError::TypeBits(type_bits));
        }
        Ok(Self { src_id_bits, timestamp_bytes, type_bits, instruction_type: 0 })
    }

    /// Changes the type code of instruction trace from the standard's 0; data trace uses the next.
    ///
    /// The examples in the E-Trace text use 2, the code of Siemens messaging.
    pub const fn with_instruction_type(self, code: u8) -> Result<Self, ParamsError> {
        if code as u64 & !mask(self.type_bits as u32) != 0 {
            return Err(ParamsError::InstructionType(code));
        }
        Ok(Self { instruction_type: code, ..self })
    }

    /// Width of srcID.
    pub const fn src_id_bits(&self) -> u8 {
        self.src_id_bits
    }

    /// Width of the timestamp in frames that have one.
    pub const fn timestamp_bytes(&self) -> u8 {
        self.timestamp_bytes
    }

    /// Width of the type field.
    pub const fn type_bits(&self) -> u8 {
        self.type_bits
    }

    /// Type code of instruction trace.
    pub const fn instruction_type(&self) -> u8 {
        self.instruction_type
    }

    /// Whole bytes between the header and the first byte that `length` counts.
    fn uncounted(&self, timestamp: bool) -> u8 {
        let timestamp_bytes = if timestamp { self.timestamp_bytes } else { 0 };
        (self.src_id_bits >> 3).saturating_add(timestamp_bytes)
    }

    /// Bits that `length` counts before the payload; at most 15.
    fn start(&self) -> u8 {
        (self.src_id_bits & 7).saturating_add(self.type_bits)
    }

    /// A run of this many bytes with `length` 0 cannot lie within one frame.
    pub(crate) fn null_run(&self) -> usize {
        // N + 1, where N is the longest that can follow a header.
        usize::from(self.uncounted(true)).saturating_add(MAX_LENGTH).saturating_add(1)
    }
}

/// Parses a frame of `framing`, whose fields are those of `params`.
#[inline]
pub(crate) fn parse(
    framing: Framing,
    params: EncapParams,
    bytes: &[u8],
) -> Result<Parsed<'_>, FrameError> {
    let head = first(bytes)?;
    let length = head & LENGTH;
    let extend = head & EXTEND != 0;
    if length == 0 {
        let null = if extend { Null::Alignment } else { Null::Idle };
        return Ok(Parsed { used: 1, item: Item::Null(null) });
    }

    let fixed = params.uncounted(extend).saturating_add(1);
    let used = usize::from(fixed.saturating_add(length));
    complete(bytes, used)?;
    let start = params.start();
    if start >= length.saturating_mul(8) {
        return Err(FrameError::TooShort { length, skip: used });
    }
    let frame = Frame::new(framing, bytes, fixed, length, start);
    Ok(Parsed { used, item: Item::Frame(frame) })
}

/// The header of a parsed frame.
pub(crate) fn header(params: EncapParams, bytes: &[u8]) -> FrameHeader {
    let mut bits = BitReader::new(bytes, Tail::Zero);
    let mut field = |width: u8| bits.read(width.into()).unwrap_or(0);
    let head = field(8) as u8;
    let source = field(params.src_id_bits) as u16;
    let stamped = head & EXTEND != 0 && params.timestamp_bytes > 0;
    let timestamp = stamped.then(|| field(params.timestamp_bytes.saturating_mul(8)));
    FrameHeader {
        source: (params.src_id_bits > 0).then_some(source),
        timestamp,
        flow: head >> 5 & 3,
        kind: Kind::of(field(params.type_bits) as u8, params.instruction_type),
        index: None,
    }
}

pub(crate) fn emit(
    params: EncapParams,
    header: &FrameHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, EmitError> {
    let too_long = EmitError::PayloadLength(payload.len());
    if payload.is_empty() || payload.len() > MAX_LENGTH {
        return Err(too_long);
    }
    if header.flow > 3 {
        return Err(EmitError::Flow(header.flow));
    }
    header.no_index()?;

    // Room for the widest fields and the longest payload, before compression.
    let mut body = [0; 2 + 8 + 2 + MAX_LENGTH];
    let mut bits = BitWriter::new(&mut body);
    let source = match (header.source, params.src_id_bits) {
        (None, 0) => 0,
        (Some(id), 1..) => id,
        (source, _) => return Err(EmitError::Source(source)),
    };
    bits.write(source.into(), params.src_id_bits.into())
        .map_err(|_| EmitError::Source(header.source))?;
    if let Some(timestamp) = header.timestamp {
        let width = u32::from(params.timestamp_bytes).saturating_mul(8);
        let written = if width == 0 { None } else { bits.write(timestamp, width).ok() };
        written.ok_or(EmitError::Timestamp(header.timestamp))?;
    }
    let code = header.kind.code(params.instruction_type);
    code.and_then(|code| bits.write(code.into(), params.type_bits.into()).ok())
        .ok_or(EmitError::Kind(header.kind))?;
    for &byte in payload {
        bits.write(byte.into(), 8).map_err(|_| too_long)?;
    }

    let extend = header.timestamp.is_some();
    let uncounted = usize::from(params.uncounted(extend));
    let start = params.start();
    let len = if start & 7 == 0 {
        bits.finish_padded()
    } else {
        // The compression must keep the srcID and type bits, and one bit to extend.
        let least = uncounted.saturating_add((start >> 3).into()).saturating_add(1);
        bits.finish_compressed().max(least)
    };
    let length = len.saturating_sub(uncounted);
    if length > MAX_LENGTH {
        return Err(too_long);
    }
    let head = length as u8 | header.flow << 5 | if extend { EXTEND } else { 0 };
    put(&[&[head], body.get(..len).unwrap_or_default()], out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Framing, MAX_FRAME};

    fn frame(params: EncapParams, bytes: &[u8]) -> Frame<'_> {
        let parsed = parse(Framing::Encap(params), params, bytes).unwrap();
        assert_eq!(parsed.used, bytes.len());
        let Item::Frame(frame) = parsed.item else { panic!("null") };
        frame
    }

    /// Bytes, header and payload, in both directions.
    fn check(params: EncapParams, header: FrameHeader, payload: &[u8], bytes: &[u8]) {
        let read = frame(params, bytes);
        assert_eq!(read.header(), header);
        assert_eq!(read.payload_bytes(), Some(payload));
        let mut out = [0xaa; MAX_FRAME];
        let len = emit(params, &header, payload, &mut out).unwrap();
        assert_eq!(&out[..len], bytes);
    }

    #[test]
    fn worked_examples_of_the_text() {
        let params = EncapParams::new(6, 0, 2).unwrap().with_instruction_type(2).unwrap();
        let header = |source| FrameHeader { source: Some(source), ..Default::default() };
        check(
            params,
            header(5),
            &[0x73, 0, 0, 0, 0, 0x91, 0x82, 0, 0x10],
            &[0x0a, 0x85, 0x73, 0, 0, 0, 0, 0x91, 0x82, 0, 0x10],
        );
        check(params, header(1), &[0x32, 0x04, 0, 0, 0x02], &[0x06, 0x81, 0x32, 0x04, 0, 0, 0x02]);
        // With the standard's codes the same bytes are neither instruction nor data trace.
        let standard = EncapParams::new(6, 0, 2).unwrap();
        let bytes = [0x06, 0x81, 0x32, 0x04, 0, 0, 0x02];
        assert_eq!(frame(standard, &bytes).header().kind, Kind::Other(2));
    }

    #[test]
    fn with_and_without_timestamp_in_one_stream() {
        let params = EncapParams::new(8, 4, 0).unwrap();
        let header = FrameHeader { source: Some(7), ..Default::default() };
        check(params, header, &[0x1f, 0x04], &[0x02, 7, 0x1f, 0x04]);
        let stamped = FrameHeader { timestamp: Some(0x1234_5678), flow: 1, ..header };
        check(params, stamped, &[0x1f, 0x04], &[0xa2, 7, 0x78, 0x56, 0x34, 0x12, 0x1f, 0x04]);
    }

    #[test]
    fn odd_src_id_shifts_everything_behind_it() {
        // srcID 0x1ab in 9 bits, timestamp 0x55 in 8, type 1 in 1, payload 0x12.
        let params = EncapParams::new(9, 1, 1).unwrap();
        let header = FrameHeader {
            source: Some(0x1ab),
            timestamp: Some(0x55),
            kind: Kind::Data,
            ..Default::default()
        };
        let value = 0x1ab | 0x55 << 9 | 1 << 17 | 0x12 << 18;
        let bytes = [0x81, value as u8, (value >> 8) as u8, (value >> 16) as u8];
        let mut out = [0; MAX_FRAME];
        // The payload's two top bits are both its sign and are dropped.
        assert_eq!(value >> 24, 0);
        assert_eq!(emit(params, &header, &[0x12], &mut out), Ok(4));
        assert_eq!(out[..4], bytes);

        let read = frame(params, &bytes);
        assert_eq!(read.header(), header);
        assert_eq!(read.payload_bytes(), None);
        assert_eq!(read.payload().read(8), Ok(0x12));
        assert_eq!(read.payload().remaining(), 6);
    }

    #[test]
    fn compression_keeps_a_payload_bit() {
        // All zeros: without care, nothing but the first byte would remain.
        let params = EncapParams::new(7, 0, 8).unwrap();
        let header = FrameHeader { source: Some(0), ..Default::default() };
        let mut out = [0; MAX_FRAME];
        assert_eq!(emit(params, &header, &[0, 0, 0], &mut out), Ok(3));
        assert_eq!(out[..3], [2, 0, 0]);
        assert_eq!(frame(params, &out[..3]).payload().remaining(), 1);
    }

    #[test]
    fn nulls_have_one_byte() {
        let framing = Framing::Encap(EncapParams::new(16, 8, 8).unwrap());
        for (byte, null) in [(0x00, Null::Idle), (0x60, Null::Idle), (0x80, Null::Alignment)] {
            let parsed = Parsed { used: 1, item: Item::Null(null) };
            assert_eq!(framing.parse(&[byte, 0xff]), Ok(parsed));
        }
    }

    #[test]
    fn type_without_payload_is_too_short() {
        let params = EncapParams::new(0, 0, 8).unwrap();
        assert_eq!(Framing::Encap(params).parse(&[1]), Err(FrameError::Incomplete { missing: 1 }));
        let error = FrameError::TooShort { length: 1, skip: 2 };
        assert_eq!(Framing::Encap(params).parse(&[1, 0, 5]), Err(error));
        assert_eq!(error.skip(), Some(2));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let params = EncapParams::new(4, 1, 1).unwrap();
        let good = FrameHeader { source: Some(15), timestamp: Some(255), ..Default::default() };
        let refuse = |header, payload: &[u8]| {
            let mut out = [0xaa; MAX_FRAME];
            let error = emit(params, &header, payload, &mut out).unwrap_err();
            assert_eq!(out, [0xaa; MAX_FRAME]);
            error
        };
        let source = |source| FrameHeader { source, ..good };
        let timestamp = Some(256);
        assert_eq!(refuse(source(Some(16)), &[1]), EmitError::Source(Some(16)));
        assert_eq!(refuse(source(None), &[1]), EmitError::Source(None));
        assert_eq!(
            refuse(FrameHeader { timestamp, ..good }, &[1]),
            EmitError::Timestamp(timestamp)
        );
        for kind in [Kind::Other(0), Kind::Other(2)] {
            assert_eq!(refuse(FrameHeader { kind, ..good }, &[1]), EmitError::Kind(kind));
        }
        assert_eq!(refuse(FrameHeader { flow: 4, ..good }, &[1]), EmitError::Flow(4));
        let index = Some(1);
        assert_eq!(refuse(FrameHeader { index, ..good }, &[1]), EmitError::Index(index));
        assert_eq!(refuse(good, &[]), EmitError::PayloadLength(0));
        assert_eq!(refuse(good, &[0x55; 31]), EmitError::PayloadLength(31));
        assert_eq!(
            emit(params, &good, &[1], &mut [0; 2]),
            Err(EmitError::BufferTooSmall { needed: 3 })
        );
        let unstamped = EncapParams::new(4, 0, 1).unwrap();
        assert_eq!(
            emit(unstamped, &good, &[1], &mut [0; MAX_FRAME]),
            Err(EmitError::Timestamp(Some(255)))
        );
    }

    #[test]
    fn parameters_are_checked() {
        assert_eq!(EncapParams::new(17, 0, 0), Err(ParamsError::SrcIdBits(17)));
        assert_eq!(EncapParams::new(0, 9, 0), Err(ParamsError::TimestampBytes(9)));
        assert_eq!(EncapParams::new(0, 0, 9), Err(ParamsError::TypeBits(9)));
        let params = EncapParams::new(0, 0, 1).unwrap();
        assert_eq!(params.with_instruction_type(2), Err(ParamsError::InstructionType(2)));
    }
}

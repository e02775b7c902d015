//! Lists the packets of a stream like OpenCSD.

use crate::Stream;
use hartrace_etmv4::ParseError as Etmv4Error;
use hartrace_ptm::ParseError as PtmError;
use std::ops::Range;

/// A packet, or bytes that are not a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its start in the trace buffer.
    pub index: u64,
    /// Its bytes in the stream.
    pub bytes: Range<usize>,
    /// The name that OpenCSD uses.
    pub name: &'static str,
    /// Sort key among the records of other streams of the buffer.
    pub order: u64,
}

impl Record {
    /// Whether it is numbered: bytes before a synchronisation are not a packet.
    pub fn is_packet(&self) -> bool {
        !matches!(self.name, "I_NOT_SYNC" | "NOTSYNC")
    }
}

/// Bytes that are reported at once before PTM's first synchronisation.
const PTM_PIECE: usize = 16;

/// The packets of an ETMv4 or ETE stream.
pub fn list_etmv4(stream: &Stream, config: &hartrace_etmv4::Config) -> Vec<Record> {
    use hartrace_etmv4::{Found, Headers, Reader};
    let mut records = Vec::new();
    let (mut positions, mut ahead) = (stream.positions(), stream.positions());
    let (mut offset, mut after) = (0usize, None);
    for part in stream.ends() {
        let mut reader = Reader::new(Headers::new(config));
        while let Some(rest) = stream.bytes.get(offset..part)
            && let Some((found, len)) = reader.next(rest)
        {
            let end = offset.saturating_add(len);
            let own = positions.index(offset);
            let name = match found {
                Found::Packet(kind) => kind.name(),
                Found::Unsynchronised => "I_NOT_SYNC",
                Found::Bad(Etmv4Error::Reserved(_)) => "I_RESERVED",
                Found::Bad(Etmv4Error::NotConfigured(_)) => "I_RESERVED_CFG",
                Found::Bad(_) => "I_BAD_SEQUENCE",
            };
            // A piece before the synchronisation counts from the end of the previous one, even if
            // the chunk ended there; but zeros are examined again.
            let index = after.take().filter(|_| rest.first() != Some(&0)).unwrap_or(own);
            let last = positions.index(end.saturating_sub(1));
            let order = match found {
                // OpenCSD reports it only with the next byte, or with the byte after a zero.
                Found::Unsynchronised => {
                    after = Some(last.wrapping_add(1));
                    let zero = stream.bytes.get(end) == Some(&0);
                    let seen = end.saturating_add(zero.into());
                    if seen < part { ahead.order(seen) } else { u64::MAX }
                }
                _ => positions.order(end.saturating_sub(1)),
            };
            records.push(Record { index, bytes: offset..end, name, order });
            offset = end;
        }
        incomplete(stream, offset..part, after.take(), "I_INCOMPLETE_EOT", &mut records);
        offset = part;
    }
    records
}

/// The packets of a PTM stream.
pub fn list_ptm(stream: &Stream, config: &hartrace_ptm::Config) -> Vec<Record> {
    use hartrace_ptm::{Found, Reader};
    let mut records = Vec::new();
    let mut positions = stream.positions();
    let mut offset = 0usize;
    for part in stream.ends() {
        let mut reader = Reader::new(*config);
        while let Some(rest) = stream.bytes.get(offset..part)
            && let Some((found, mut len)) = reader.next(rest)
        {
            let index = positions.index(offset);
            let name = match found {
                Found::Packet(kind) => kind.name(),
                Found::Unsynchronised => {
                    // Chunk by chunk.
                    len = len.min(positions.rest(offset)).clamp(1, PTM_PIECE);
                    "NOTSYNC"
                }
                Found::Bad(PtmError::Reserved(_)) => "RESERVED",
                Found::Bad(_) => "BAD_SEQUENCE",
            };
            let end = offset.saturating_add(len);
            let order = positions.order(end.saturating_sub(1));
            records.push(Record { index, bytes: offset..end, name, order });
            offset = end;
        }
        incomplete(stream, offset..part, None, "INCOMPLETE_EOT", &mut records);
        offset = part;
    }
    records
}

/// The rest at the end of a stream, or of a part of it.
fn incomplete(
    stream: &Stream,
    bytes: Range<usize>,
    index: Option<u64>,
    name: &'static str,
    records: &mut Vec<Record>,
) {
    if bytes.is_empty() {
        return;
    }
    let index = index.unwrap_or_else(|| stream.positions().index(bytes.start));
    let order = match bytes.end < stream.bytes.len() {
        true => stream.positions().order(bytes.end.saturating_sub(1)),
        false => u64::MAX,
    };
    records.push(Record { index, bytes, name, order });
}

//! BASE and NEXS: stream descriptors sent unchanged, or with addresses as differences.

use crate::cost::{Cost, PartKind};
use crate::stream::{End, Stream, StreamCoder};
use crate::{BitSource, Bits, DecodeError, Fault};
use serde::{Deserialize, Serialize};

/// BASE: the address of a stream, unless it is known, and its length.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {}

impl Base {
    /// The register that holds the current stream: its address without the lowest bit, and its length.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        Cost::new(xlen).memory(PartKind::Input, detector_bits(xlen, 1))
    }

    pub(crate) fn coder(self, xlen: u32) -> BaseCoder {
        BaseCoder { xlen }
    }
}

/// Bits of the current stream: address and length.
pub(crate) fn detector_bits(xlen: u32, align: u32) -> u64 {
    u64::from(xlen.saturating_sub(align)) + 8
}

#[derive(Clone, Debug)]
pub(crate) struct BaseCoder {
    xlen: u32,
}

impl StreamCoder for BaseCoder {
    fn encode(&mut self, stream: &Stream, out: &mut Bits) {
        if !stream.known {
            out.put(stream.start, self.xlen);
        }
        stream.put_end(self.xlen, out);
    }

    fn decode(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let start = known.map_or_else(|| from.get(self.xlen), Ok)?;
        Ok(Stream { start, known: known.is_some(), end: End::get(self.xlen, from)? })
    }
}

/// NEXS: like BASE, but only those groups of 6 address bits are sent that differ from the previous
/// stream, as in Nexus messages.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nexs {}

impl Nexs {
    /// The current stream, and the address of the previous one.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        Base {}.cost(xlen).memory(PartKind::Registers, u64::from(xlen))
    }

    pub(crate) fn coder(self, xlen: u32) -> NexsCoder {
        NexsCoder { xlen, previous: 0 }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NexsCoder {
    xlen: u32,
    previous: u64,
}

impl StreamCoder for NexsCoder {
    fn encode(&mut self, stream: &Stream, out: &mut Bits) {
        if !stream.known {
            put_groups(stream.start ^ self.previous, out);
        }
        stream.put_end(self.xlen, out);
        self.previous = stream.start;
    }

    fn decode(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        let start = match known {
            Some(start) => start,
            None => get_groups(self.xlen, from)? ^ self.previous,
        };
        self.previous = start;
        Ok(Stream { start, known: known.is_some(), end: End::get(self.xlen, from)? })
    }
}

/// Writes groups of 6 bits up to the highest that is not zero, the lowest first. Each follows 2 bits
/// that mark whether it is the last.
pub(crate) fn put_groups(mut value: u64, out: &mut Bits) {
    loop {
        let (group, rest) = (value & 0x3f, value >> 6);
        out.put(u64::from(rest == 0), 2);
        out.put(group, 6);
        if rest == 0 {
            return;
        }
        value = rest;
    }
}

/// Reads what [`put_groups`] writes.
pub(crate) fn get_groups(width: u32, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let at = from.clone();
        let malformed = |what| Err(at.error(Fault::Malformed(what)));
        let last = match from.get(2)? {
            0 => false,
            1 => true,
            _ => return malformed("the header of a group is neither 00 nor 01"),
        };
        let group = from.get(6)?;
        if shift + (64 - group.leading_zeros()) > width {
            return malformed("a difference is wider than an address");
        }
        value |= group << shift;
        if last {
            return Ok(value);
        }
        shift += 6;
        if shift >= width {
            return malformed("a difference has more groups than an address");
        }
    }
}

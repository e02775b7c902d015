//! Descriptors of streams through general-purpose compressors: what software can achieve with
//! unlimited memory.

use crate::stream::{End, Stream, StreamCoder, Symbol};
use crate::{BitSource, Bits, CompressError, DecodeError, Fault};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// The largest size of data to unpack at once; no reasonable trace exceeds it.
const LARGEST: u64 = 1 << 28;

/// The general-purpose compressor.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Packed {
    /// gzip at this level, 1 to 9.
    Gzip {
        /// The level.
        level: u32,
    },
    /// bzip2 at this level, 1 to 9.
    Bzip2 {
        /// The level.
        level: u32,
    },
    /// zstd at this level, 1 to 22.
    Zstd {
        /// The level.
        level: i32,
    },
}

impl Packed {
    pub(crate) fn check(&self) -> Result<(), CompressError> {
        let good = match self {
            Self::Gzip { level } | Self::Bzip2 { level } => (1..=9).contains(level),
            Self::Zstd { level } => (1..=22).contains(level),
        };
        let what = "gzip and bzip2 have levels 1 to 9, zstd 1 to 22";
        good.then_some(()).ok_or_else(|| CompressError::Config(what.into()))
    }

    pub(crate) fn coder(self, xlen: u32) -> PackedCoder {
        PackedCoder { packed: self, xlen, bytes: Vec::new(), read: None }
    }

    pub(crate) fn pack(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip { level } => {
                let level = flate2::Compression::new(level);
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Self::Bzip2 { level } => {
                let level = bzip2::Compression::new(level);
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            // This function knows the size of its input, and uses no more memory than that requires.
            Self::Zstd { level } => zstd::bulk::compress(bytes, level),
        }
    }

    /// The contents of one member or frame, and its packed size in bytes.
    pub(crate) fn unpack(self, packed: &[u8]) -> io::Result<(Vec<u8>, usize)> {
        let mut bytes = Vec::new();
        let rest = match self {
            Self::Gzip { .. } => {
                let mut decoder = flate2::bufread::GzDecoder::new(packed);
                (&mut decoder).take(LARGEST).read_to_end(&mut bytes)?;
                decoder.into_inner()
            }
            Self::Bzip2 { .. } => {
                let mut decoder = bzip2::bufread::BzDecoder::new(packed);
                (&mut decoder).take(LARGEST).read_to_end(&mut bytes)?;
                decoder.into_inner()
            }
            Self::Zstd { .. } => {
                let mut decoder = zstd::Decoder::with_buffer(packed)?.single_frame();
                (&mut decoder).take(LARGEST).read_to_end(&mut bytes)?;
                decoder.finish()
            }
        };
        if bytes.len() as u64 == LARGEST {
            return Err(io::Error::other("more than 256 MiB at once; try --sync-every"));
        }
        Ok((bytes, packed.len() - rest.len()))
    }
}

/// Length, address unless known, and the fields of a trap, byte by byte with the lowest first.
#[derive(Clone, Debug)]
pub(crate) struct PackedCoder {
    packed: Packed,
    xlen: u32,
    /// Bytes to be packed, or that were unpacked.
    bytes: Vec<u8>,
    /// For reading: the current position.
    read: Option<usize>,
}

impl PackedCoder {
    fn push_address(&mut self, address: u64) {
        self.bytes.extend(address.to_le_bytes().iter().take(self.xlen as usize / 8));
    }

    fn read(&mut self, bytes: usize, from: &BitSource<'_>) -> Result<u64, DecodeError> {
        let at = self.read.unwrap_or(0);
        let found = self.bytes.get(at..at + bytes).ok_or(from.error(Fault::Truncated))?;
        self.read = Some(at + bytes);
        Ok(found.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
}

impl StreamCoder for PackedCoder {
    fn encode(&mut self, stream: &Stream, _: &mut Bits) {
        self.bytes.push(stream.length());
        if !stream.known {
            self.push_address(stream.start);
        }
        if let End::Trap { retired, handler } = stream.end {
            self.bytes.push(retired);
            self.push_address(handler);
        }
    }

    fn flush(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        // Nothing retired.
        if self.bytes.is_empty() {
            return Ok(());
        }
        let packed = self.packed.pack(&self.bytes);
        out.put_bytes(&packed.map_err(|error| CompressError::Config(error.to_string()))?);
        Ok(())
    }

    fn decode(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError> {
        if self.read.is_none() {
            let unpacked = self.packed.unpack(from.rest());
            let (bytes, used) =
                unpacked.map_err(|error| from.error(Fault::Packed(error.to_string())))?;
            from.skip_bytes(used);
            (self.bytes, self.read) = (bytes, Some(0));
        }
        let address = self.xlen as usize / 8;
        let mut start = known;
        let mut first = true;
        let end = End::read(|symbol| {
            let value =
                self.read(if matches!(symbol, Symbol::Byte) { 1 } else { address }, from)?;
            if std::mem::take(&mut first) && start.is_none() {
                start = Some(self.read(address, from)?);
            }
            Ok::<u64, DecodeError>(value)
        })?;
        Ok(Stream { start: start.unwrap_or(0), known: known.is_some(), end })
    }

    fn pending(&self) -> u64 {
        (self.bytes.len() - self.read.unwrap_or(0)) as u64
    }
}

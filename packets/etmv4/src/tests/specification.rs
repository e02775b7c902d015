//! The packets once more, written directly from the tables of the specification, to check the table of
//! this crate.

use crate::{Config, Kind, ParseError};

/// Reads sections of the specification's shapes.
struct Bytes<'a> {
    bytes: &'a [u8],
    used: usize,
}

impl Bytes<'_> {
    fn byte(&mut self) -> Result<u8, ParseError> {
        let byte = *self.bytes.get(self.used).ok_or(ParseError::Incomplete { missing: 1 })?;
        self.used += 1;
        Ok(byte)
    }

    fn bad<T>(&self, kind: Kind) -> Result<T, ParseError> {
        Err(ParseError::BadSequence { kind, len: self.used as u8 })
    }

    /// FS(n).
    fn fs(&mut self, count: u8) -> Result<(), ParseError> {
        (0..count).try_for_each(|_| self.byte().map(|_| ()))
    }

    /// BC(n).
    fn bc(&mut self, most: u8) -> Result<(), ParseError> {
        for _ in 0..most {
            if self.byte()? < 0x80 {
                break;
            }
        }
        Ok(())
    }

    /// UC, with the bound of deviation O3.
    fn uc(&mut self, kind: Kind, most: u8) -> Result<(), ParseError> {
        for _ in 0..most {
            if self.byte()? < 0x80 {
                return Ok(());
            }
        }
        self.bad(kind)
    }

    fn context(&mut self, config: &Config) -> Result<(), ParseError> {
        let info = self.byte()?;
        if info & 0x40 != 0 {
            self.fs(config.vmid_bytes.min(4))?;
        }
        if info & 0x80 != 0 {
            self.fs(config.context_id_bytes.min(4))?;
        }
        Ok(())
    }
}

/// The kind and length of the packet at the start of `bytes`.
pub(super) fn packet(config: &Config, bytes: &[u8]) -> Result<(Kind, usize), ParseError> {
    use Kind::*;
    let mut b = Bytes { bytes, used: 0 };
    let header = b.byte()?;
    let exists = |exists: bool| if exists { Ok(()) } else { Err(ParseError::Reserved(header)) };
    let given = |given: bool| if given { Ok(()) } else { Err(ParseError::NotConfigured(header)) };
    let ete = config.version >= 0x50;
    match header {
        0x05 => exists(config.v8_m && config.version >= 0x42)?,
        0x07 => given(!ete)?,
        0x09 => exists(config.version >= 0x53)?,
        0x0a | 0x0b | 0xb0..=0xb2 | 0xb4..=0xb9 => exists(ete)?,
        0x20..=0x2c => given(config.data)?,
        0x47 | 0x4b | 0x4f | 0x60..=0x67 => exists(false)?,
        0x40..=0x6f => given(config.conditional)?,
        0x70 => exists(config.version >= 0x43)?,
        0x88 => exists(config.version >= 0x46)?,
        0xa0..=0xaf => exists(config.q)?,
        _ => {}
    }
    let kind = match header {
        0x00 => match b.byte()? {
            0x00 => {
                for expected in [0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80] {
                    if b.byte()? != expected {
                        return b.bad(Async);
                    }
                }
                Async
            }
            0x03 => Discard,
            0x05 => Overflow,
            _ => return b.bad(Extension),
        },
        0x01 => {
            let control = *b.bytes.get(1).ok_or(ParseError::Incomplete { missing: 1 })?;
            b.uc(TraceInfo, 5)?;
            for _ in 0..(control & 0x1f).count_ones() {
                b.uc(TraceInfo, 5)?;
            }
            TraceInfo
        }
        0x02 => b.bc(9).map(|()| Timestamp)?,
        0x03 => b.bc(9).and_then(|()| b.bc(3)).map(|()| Timestamp)?,
        0x04 => TraceOn,
        0x05 => FunctionReturn,
        0x06 if !ete => b.bc(2).map(|()| Exception)?,
        0x06 => {
            let first = b.byte()?;
            let low = first >> 1 & 0x1f;
            let special = low == 0 || low == 0x18;
            let second = if first > 0x7f || special { b.byte()? } else { 0 };
            let high = if first > 0x7f { second & 0x1f } else { 0 };
            match (high, low) {
                (0, 0) => Reset,
                (0, 0x18) => TransactionFail,
                _ => Exception,
            }
        }
        0x07 => ExceptionReturn,
        0x09 => b.fs(9).map(|()| Ite)?,
        0x0a => TransactionStart,
        0x0b => TransactionCommit,
        0x0c | 0x0d => b.fs(1).map(|()| CycleCountF2)?,
        0x0e | 0x0f => {
            if !config.commopt {
                b.uc(CycleCountF1, 5)?;
            }
            if header == 0x0e {
                b.bc(3)?;
            }
            CycleCountF1
        }
        0x10..=0x1f => CycleCountF3,
        0x20..=0x27 => NumberedMarker,
        0x28..=0x2c => UnnumberedMarker,
        0x2d => b.uc(Commit, 5).map(|()| Commit)?,
        0x2e => b.uc(CancelF1, 5).map(|()| CancelF1)?,
        0x2f => b.uc(CancelF1Mispredict, 5).map(|()| CancelF1Mispredict)?,
        0x30..=0x33 => Mispredict,
        0x34..=0x37 => CancelF2,
        0x38..=0x3f => CancelF3,
        0x40..=0x42 => ConditionalF2,
        0x43 => ConditionalFlush,
        0x44..=0x46 => ResultF4,
        0x48..=0x4e => ResultF2,
        0x50..=0x5f => b.fs(1).map(|()| ResultF3)?,
        0x68..=0x6b => b.uc(ResultF1, 6).and_then(|()| b.uc(ResultF1, 6)).map(|()| ResultF1)?,
        0x6c => b.uc(ConditionalF1, 5).map(|()| ConditionalF1)?,
        0x6d => b.fs(1).map(|()| ConditionalF3)?,
        0x6e | 0x6f => b.uc(ResultF1, 6).map(|()| ResultF1)?,
        0x70 => Ignore,
        0x71..=0x7f => Event,
        0x80 => Context,
        0x81 => b.context(config).map(|()| Context)?,
        0x82 => b.fs(4).and_then(|()| b.context(config)).map(|()| AddressContext32Is0)?,
        0x83 => b.fs(4).and_then(|()| b.context(config)).map(|()| AddressContext32Is1)?,
        0x85 => b.fs(8).and_then(|()| b.context(config)).map(|()| AddressContext64Is0)?,
        0x86 => b.fs(8).and_then(|()| b.context(config)).map(|()| AddressContext64Is1)?,
        0x88 => TimestampMarker,
        0x90..=0x92 => AddressMatch,
        0x95 => b.bc(2).map(|()| AddressShortIs0)?,
        0x96 => b.bc(2).map(|()| AddressShortIs1)?,
        0x9a => b.fs(4).map(|()| Address32Is0)?,
        0x9b => b.fs(4).map(|()| Address32Is1)?,
        0x9d => b.fs(8).map(|()| Address64Is0)?,
        0x9e => b.fs(8).map(|()| Address64Is1)?,
        0xa0..=0xa2 | 0xac => b.uc(Q, 5).map(|()| Q)?,
        0xa5 | 0xa6 => b.bc(2).and_then(|()| b.uc(Q, 5)).map(|()| Q)?,
        0xaa | 0xab => b.fs(4).and_then(|()| b.uc(Q, 5)).map(|()| Q)?,
        0xaf => Q,
        0xb0..=0xb2 => SourceMatch,
        0xb4 => b.bc(2).map(|()| SourceShortIs0)?,
        0xb5 => b.bc(2).map(|()| SourceShortIs1)?,
        0xb6 => b.fs(4).map(|()| Source32Is0)?,
        0xb7 => b.fs(4).map(|()| Source32Is1)?,
        0xb8 => b.fs(8).map(|()| Source64Is0)?,
        0xb9 => b.fs(8).map(|()| Source64Is1)?,
        0xd5..=0xd7 | 0xf5 => AtomF5,
        0xd8..=0xdb => AtomF2,
        0xdc..=0xdf => AtomF4,
        0xf6 | 0xf7 => AtomF1,
        0xf8.. => AtomF3,
        0xc0.. => AtomF6,
        _ => return Err(ParseError::Reserved(header)),
    };
    Ok((kind, b.used))
}

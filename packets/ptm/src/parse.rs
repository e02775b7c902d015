use crate::cursor::Cursor;
use crate::{Address, Atoms, Config, Exception, ISync, Isa, Packet, ParseError, Reason, Timestamp};

/// Minimum and maximum number of zeros in an alignment synchronisation.
pub(crate) const ZEROS: core::ops::RangeInclusive<usize> = 5..=15;

impl Packet {
    /// Reads the packet at the start of `bytes` and returns it with its length. Bytes after it do not
    /// matter.
    ///
    /// [`ParseError::Incomplete`] is resumable: call again with at least as many more bytes as it says.
    #[inline]
    pub fn parse(config: &Config, bytes: &[u8]) -> Result<(Self, usize), ParseError> {
        let mut cursor = Cursor::new(bytes);
        let header = cursor.byte()?;
        let packet = match header {
            _ if header & 0x81 == 0x80 => match config.cycle_accurate {
                false => Self::Atoms(Atoms::of(header)),
                true => {
                    let cycles = cursor.cycles(header)?;
                    Self::Atom { taken: header & 2 == 0, cycles }
                }
            },
            _ if header & 1 == 1 => branch(config, header, &mut cursor)?,
            0x00 => async_(&mut cursor)?,
            0x08 => isync(config, &mut cursor)?,
            0x0c => Self::Trigger,
            0x3c => Self::Vmid(cursor.byte()?),
            0x42 | 0x46 => timestamp(config, header, &mut cursor)?,
            0x66 => Self::Ignore,
            0x6e => Self::ContextId(cursor.fixed(config.context_id_bytes)?),
            0x72 => waypoint(&mut cursor)?,
            0x76 => Self::ExceptionReturn,
            _ => return Err(ParseError::Reserved(header)),
        };
        Ok((packet, cursor.used))
    }
}

impl Atoms {
    /// The outcomes of a packet with this header, which must be one of atoms without cycles.
    #[inline]
    pub(crate) fn of(header: u8) -> Self {
        // The outcomes lie below the highest bit set under bit 7, down to bit 1, the oldest at the top; 0
        // is E. A header without such a bit is reserved, and read as one atom.
        let stop = 7u32.saturating_sub((header.wrapping_shl(1)).leading_zeros().wrapping_add(1));
        let len = stop.saturating_sub(1).max(1) as u8;
        let outcomes = !(header >> 1);
        let reversed = outcomes.reverse_bits() >> 8u8.wrapping_sub(len).min(7);
        // `new` masks the bits above; one atom is always valid.
        Atoms::new(len, reversed).unwrap_or(Atoms::ONE)
    }

    /// Reads a packet of atoms without cycles, if it is one.
    #[inline]
    pub fn parse(config: &Config, bytes: &[u8]) -> Option<Self> {
        let header = *bytes.first()?;
        (header & 0x81 == 0x80 && !config.cycle_accurate).then(|| Self::of(header))
    }
}

#[inline(always)]
fn branch(config: &Config, header: u8, cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    let (address, marked) = address(header, cursor)?;
    // A single byte has no room for the mark, so no exception bytes follow it.
    let exception = if marked { Some(exception(cursor)?) } else { None };
    let cycles = count(config.cycle_accurate, cursor)?;
    Ok(Packet::Branch { address, exception, cycles })
}

/// Reads the address bytes after the first, which has been read; returns bit X of the last too.
#[inline(always)]
fn address(first: u8, cursor: &mut Cursor<'_>) -> Result<(Address, bool), ParseError> {
    let mut raw = u32::from((first >> 1) & 0x3f);
    if first & 0x80 == 0 {
        return Ok((Address { raw, bytes: 1, isa: None }, false));
    }
    for (bytes, shift) in [(2, 6u32), (3, 13), (4, 20)] {
        let byte = cursor.byte()?;
        if byte & 0x80 == 0 {
            raw |= u32::from(byte & 0x3f).wrapping_shl(shift);
            return Ok((Address { raw, bytes, isa: None }, byte & 0x40 != 0));
        }
        raw |= u32::from(byte & 0x7f).wrapping_shl(shift);
    }
    let byte = cursor.byte()?;
    let (isa, mask) = match byte & 0x30 {
        0x20 | 0x30 => (Isa::Jazelle, 0x1f),
        0x10 => (Isa::Thumb, 0x0f),
        _ => (Isa::Arm, 0x07),
    };
    raw |= u32::from(byte & mask).wrapping_shl(27);
    Ok((Address { raw, bytes: 5, isa: Some(isa) }, byte & 0x40 != 0))
}

fn exception(cursor: &mut Cursor<'_>) -> Result<Exception, ParseError> {
    let first = cursor.byte()?;
    let second = if first & 0x80 != 0 { Some(cursor.byte()?) } else { None };
    let high = u16::from(second.unwrap_or(0) & 0x1f).wrapping_shl(4);
    Ok(Exception {
        number: high | u16::from((first >> 1) & 0xf),
        ns: first & 1 != 0,
        alt_isa: first & 0x40 != 0,
        hyp: second.map(|byte| byte & 0x20 != 0),
    })
}

fn count(there: bool, cursor: &mut Cursor<'_>) -> Result<Option<u32>, ParseError> {
    if !there {
        return Ok(None);
    }
    let first = cursor.byte()?;
    cursor.cycles(first).map(Some)
}

fn async_(cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    loop {
        let byte = cursor.byte()?;
        let zeros = cursor.used.saturating_sub(1);
        match byte {
            0x80 if ZEROS.contains(&zeros) => {
                return Ok(Packet::Async { extra: zeros.saturating_sub(*ZEROS.start()) as u8 });
            }
            0x00 if zeros < *ZEROS.end() => {}
            _ => return Err(ParseError::BadAsync { len: cursor.used as u8 }),
        }
    }
}

fn isync(config: &Config, cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    let address = cursor.fixed(4)?;
    let info = cursor.byte()?;
    let isa = match (address & 1, info & 4) {
        (0, _) => Isa::Arm,
        (_, 0) => Isa::Thumb,
        _ => Isa::ThumbEe,
    };
    let reason = match (info >> 5) & 3 {
        0 => Reason::Periodic,
        1 => Reason::TraceOn,
        2 => Reason::Overflow,
        _ => Reason::DebugExit,
    };
    let cycles = count(config.cycle_accurate && reason != Reason::Periodic, cursor)?;
    let context_id = match config.context_id_bytes {
        0 => None,
        bytes => Some(cursor.fixed(bytes)?),
    };
    let (ns, hyp) = (info & 8 != 0, info & 2 != 0);
    Ok(Packet::ISync(ISync { address: address & !1, isa, reason, ns, hyp, cycles, context_id }))
}

fn timestamp(config: &Config, header: u8, cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    // The last byte has eight bits of 64, or six of 48.
    let (most, last, last_bits) = if config.timestamp_64 { (9, 0xff, 8) } else { (7, 0x3f, 6) };
    let (mut value, mut bits) = (0, 0u8);
    for index in 1..=most {
        let byte = cursor.byte()?;
        let (mask, width) = if index == most { (last, last_bits) } else { (0x7f, 7) };
        value |= u64::from(byte & mask).wrapping_shl(bits.into());
        bits = bits.wrapping_add(width);
        if byte & 0x80 == 0 {
            break;
        }
    }
    let cycles = count(config.cycle_accurate, cursor)?;
    Ok(Packet::Timestamp(Timestamp { value, bits, clock_changed: header & 4 != 0, cycles }))
}

fn waypoint(cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    let first = cursor.byte()?;
    let (address, marked) = address(first, cursor)?;
    // In shorter addresses the bit is not defined.
    let alt_isa = match marked && address.bytes == 5 {
        true => Some(cursor.byte()? & 0x40 != 0),
        false => None,
    };
    Ok(Packet::Waypoint { address, alt_isa })
}

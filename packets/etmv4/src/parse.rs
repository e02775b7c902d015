use crate::cursor::Cursor;
use crate::packet::{
    Atoms, Cancel, ConditionalResult, Context, CycleCount, Exception, Packet, Q, Return, Timestamp,
    TraceInfo,
};
use crate::{Address, Class, Config, Form, Headers, Is, Kind, ParseError};

impl Packet {
    /// Reads the packet at the start of `bytes`; returns it with its length. Bytes behind it do not
    /// matter.
    ///
    /// [`ParseError::Incomplete`] is resumable: call again with more bytes.
    #[inline]
    pub fn parse(headers: &Headers, bytes: &[u8]) -> Result<(Self, usize), ParseError> {
        let header = *bytes.first().ok_or(ParseError::Incomplete)?;
        let atoms = headers.atoms(header);
        if !atoms.is_empty() {
            return Ok((Self::Atoms(atoms), 1));
        }
        longer(headers, header, bytes)
    }
}

/// A packet that is not atoms.
fn longer(headers: &Headers, header: u8, bytes: &[u8]) -> Result<(Packet, usize), ParseError> {
    let mut cursor = Cursor::new(bytes);
    cursor.byte()?;
    let packet = match headers.class(header) {
        Class::Packet(kind) => rest(headers.config(), kind, header, &mut cursor)?,
        Class::Reserved => return Err(ParseError::Reserved(header)),
        Class::NotConfigured(_) => return Err(ParseError::NotConfigured(header)),
    };
    Ok((packet, cursor.used))
}

fn rest(
    config: &Config,
    kind: Kind,
    header: u8,
    cursor: &mut Cursor<'_>,
) -> Result<Packet, ParseError> {
    use {Is::*, Kind as K};
    Ok(match kind {
        K::Extension => extension(cursor)?,
        K::TraceInfo => trace_info(cursor)?,
        K::Timestamp => Packet::Timestamp(timestamp(config, header, cursor)?),
        K::TraceOn => Packet::TraceOn,
        K::FunctionReturn => Packet::FunctionReturn,
        K::Exception => match exception(config.is_ete(), cursor)? {
            (exception @ Exception { number: 0x00, .. }, Some(byte)) => {
                Packet::Reset(exception, byte)
            }
            (exception @ Exception { number: 0x18, .. }, Some(byte)) => {
                Packet::TransactionFail(exception, byte)
            }
            (exception, _) => Packet::Exception(exception),
        },
        K::ExceptionReturn => Packet::ExceptionReturn,
        K::Ite => Packet::Ite { el: cursor.byte()?, value: cursor.fixed(8)? },
        K::TransactionStart => Packet::TransactionStart,
        K::TransactionCommit => Packet::TransactionCommit,
        K::CycleCountF1 => {
            let commit = if config.commopt { None } else { Some(cursor.unbounded(kind)?) };
            let count = match header & 1 {
                0 => Some(cursor.bounded(3)?.0 as u32),
                _ => None,
            };
            Packet::CycleCount(CycleCount::F1 { commit, count })
        }
        K::CycleCountF2 => {
            let byte = cursor.byte()?;
            let (commit, count) = (byte >> 4, byte & 0xf);
            Packet::CycleCount(CycleCount::F2 { far: header & 1 == 1, commit, count })
        }
        K::CycleCountF3 => {
            Packet::CycleCount(CycleCount::F3 { commit: (header >> 2) & 3, count: header & 3 })
        }
        K::NumberedMarker => Packet::NumberedMarker(header & 7),
        K::UnnumberedMarker => Packet::UnnumberedMarker(header & 7),
        K::Commit => Packet::Commit(cursor.unbounded(kind)?),
        K::CancelF1 | K::CancelF1Mispredict => {
            let mispredict = kind == K::CancelF1Mispredict;
            Packet::Cancel(Cancel::F1 { count: cursor.unbounded(kind)?, mispredict })
        }
        K::Mispredict => Packet::Mispredict(hint(header)),
        K::CancelF2 => Packet::Cancel(Cancel::F2(hint(header))),
        K::CancelF3 => {
            let count = ((header >> 1) & 3).wrapping_add(2);
            Packet::Cancel(Cancel::F3 { atom: header & 1 == 1, count })
        }
        K::ConditionalF1 => Packet::ConditionalF1(cursor.unbounded(kind)?),
        K::ConditionalF2 => Packet::ConditionalF2(header & 3),
        K::ConditionalF3 => {
            let byte = cursor.byte()?;
            Packet::ConditionalF3 { z: byte & 1 == 1, num: (byte >> 1) & 0x3f }
        }
        K::ConditionalFlush => Packet::ConditionalFlush,
        K::ResultF1 => {
            let first = result(cursor, header & 1 == 1)?;
            let one = header & 0xfc == 0x6c;
            let second = if one { None } else { Some(result(cursor, header & 2 == 2)?) };
            Packet::ResultF1(first, second)
        }
        K::ResultF2 => Packet::ResultF2 { two: header & 4 == 4, token: header & 3 },
        K::ResultF3 => {
            Packet::ResultF3(u16::from(header & 0xf).wrapping_shl(8) | u16::from(cursor.byte()?))
        }
        K::ResultF4 => Packet::ResultF4(header & 3),
        K::Ignore => Packet::Ignore,
        K::Event => Packet::Event(header & 0xf),
        K::TimestampMarker => Packet::TimestampMarker,
        K::Context if header & 1 == 0 => Packet::Context(None),
        K::Context => Packet::Context(Some(context(config, cursor)?)),
        K::AddressContext32Is0
        | K::AddressContext32Is1
        | K::AddressContext64Is0
        | K::AddressContext64Is1 => {
            let (address, context) = address_and_context(config, kind, cursor)?;
            Packet::AddressContext(address, context)
        }
        K::AddressMatch
        | K::AddressShortIs0
        | K::AddressShortIs1
        | K::Address32Is0
        | K::Address32Is1
        | K::Address64Is0
        | K::Address64Is1 => Packet::Address(address(kind, header, cursor)?),
        K::SourceMatch
        | K::SourceShortIs0
        | K::SourceShortIs1
        | K::Source32Is0
        | K::Source32Is1
        | K::Source64Is0
        | K::Source64Is1 => Packet::Source(address(kind, header, cursor)?),
        K::Q => {
            let address = match header & 0xf {
                0..=2 => Some(matched(header)),
                5 => Some(short_address(cursor, Is0)?),
                6 => Some(short_address(cursor, Is1)?),
                0xa => Some(long_address(cursor, Is0, Form::Long32)?),
                0xb => Some(long_address(cursor, Is1, Form::Long32)?),
                _ => None,
            };
            let count = if header == 0xaf { None } else { Some(cursor.unbounded(kind)?) };
            Packet::Q(Q { count, address })
        }
        // By the class of the header the atoms are the only ones left, and they have been dealt with.
        _ => return Err(ParseError::Reserved(header)),
    })
}

fn extension(cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    match cursor.byte()? {
        0x00 => {}
        0x03 => return Ok(Packet::Discard),
        0x05 => return Ok(Packet::Overflow),
        _ => return Err(cursor.bad(Kind::Extension)),
    }
    for _ in 2..11 {
        if cursor.byte()? != 0 {
            return Err(cursor.bad(Kind::Async));
        }
    }
    match cursor.byte()? {
        0x80 => Ok(Packet::Async),
        _ => Err(cursor.bad(Kind::Async)),
    }
}

fn trace_info(cursor: &mut Cursor<'_>) -> Result<Packet, ParseError> {
    let control = cursor.byte()?;
    let mut more = control & 0x80 != 0;
    while more {
        more = cursor.byte()? & 0x80 != 0;
        if cursor.used > 6 {
            return Err(cursor.bad(Kind::TraceInfo));
        }
    }
    let mut section = |bit: u8| match control & bit {
        0 => Ok(None),
        _ => cursor.unbounded(Kind::TraceInfo).map(Some),
    };
    Ok(Packet::TraceInfo(TraceInfo {
        info: section(0x01)?,
        key: section(0x02)?,
        speculation: section(0x04)?,
        threshold: section(0x08)?,
        window: section(0x10)?,
    }))
}

#[inline]
fn timestamp(
    config: &Config,
    header: u8,
    cursor: &mut Cursor<'_>,
) -> Result<Timestamp, ParseError> {
    let (value, bits) = cursor.bounded(9)?;
    let cycles = match header & 1 {
        0 => None,
        _ => Some(cursor.bounded(3)?.0 as u32 & config.cycle_count_mask()),
    };
    Ok(Timestamp { value, bits, cycles })
}

/// An exception, and the byte behind it that a reset and a failed transaction of ETE have, whatever
/// bit 7 says.
#[inline]
fn exception(ete: bool, cursor: &mut Cursor<'_>) -> Result<(Exception, Option<u8>), ParseError> {
    let first = cursor.byte()?;
    let returns = match (first & 0x40 != 0, first & 1 != 0) {
        (false, false) => Return::None,
        (false, true) => Return::Address,
        (true, false) => Return::Target,
        (true, true) => Return::Reserved,
    };
    let low = u16::from((first >> 1) & 0x1f);
    let always = ete && matches!(low, 0x00 | 0x18);
    let second = if first & 0x80 != 0 || always { Some(cursor.byte()?) } else { None };
    let extended = second.filter(|_| first & 0x80 != 0);
    let high = extended.map_or(0, |byte| u16::from(byte & 0x1f).wrapping_shl(5));
    let fault_pending = extended.is_some_and(|byte| byte & 0x20 != 0);
    let exception = Exception { number: high | low, returns, fault_pending };
    Ok((exception, second.filter(|_| always)))
}

/// The atoms that the two low bits of a header stand for.
fn hint(header: u8) -> Option<Atoms> {
    match header & 3 {
        0 => None,
        1 => Some(Atoms::raw(1, 1)),
        2 => Some(Atoms::raw(2, 3)),
        _ => Some(Atoms::raw(1, 0)),
    }
}

fn result(cursor: &mut Cursor<'_>, ci: bool) -> Result<ConditionalResult, ParseError> {
    let first = cursor.byte()?;
    let mut key = u32::from((first >> 4) & 7);
    if first & 0x80 != 0 {
        key |= cursor.unbounded(Kind::ResultF1)?.wrapping_shl(3);
    }
    Ok(ConditionalResult { key, result: first & 0xf, ci })
}

/// The address of a packet that has nothing else.
#[inline]
fn address(kind: Kind, header: u8, cursor: &mut Cursor<'_>) -> Result<Address, ParseError> {
    use {Is::*, Kind as K};
    match kind {
        K::AddressMatch | K::SourceMatch => Ok(matched(header)),
        K::AddressShortIs0 | K::SourceShortIs0 => short_address(cursor, Is0),
        K::AddressShortIs1 | K::SourceShortIs1 => short_address(cursor, Is1),
        K::Address32Is0 | K::Source32Is0 => long_address(cursor, Is0, Form::Long32),
        K::Address32Is1 | K::Source32Is1 => long_address(cursor, Is1, Form::Long32),
        K::Address64Is0 | K::Source64Is0 => long_address(cursor, Is0, Form::Long64),
        K::Address64Is1 | K::Source64Is1 => long_address(cursor, Is1, Form::Long64),
        _ => Err(ParseError::Reserved(header)),
    }
}

const fn matched(header: u8) -> Address {
    Address { form: Form::Match(header & 3), is: Is::Is0, value: 0 }
}

fn short_address(cursor: &mut Cursor<'_>, is: Is) -> Result<Address, ParseError> {
    let first = cursor.byte()?;
    let (two, value) = match first & 0x80 {
        0 => (false, u64::from(first)),
        _ => (true, u64::from(first & 0x7f) | u64::from(cursor.byte()?).wrapping_shl(7)),
    };
    Ok(Address { form: Form::Short { two }, is, value: value.wrapping_shl(is.shift()) })
}

fn long_address(cursor: &mut Cursor<'_>, is: Is, form: Form) -> Result<Address, ParseError> {
    let raw = if form == Form::Long64 { cursor.eight()? } else { cursor.four()? };
    let low = match is {
        Is::Is0 => (raw & 0x7f).wrapping_shl(2) | ((raw >> 8) & 0x7f).wrapping_shl(9),
        Is::Is1 => (raw & 0x7f).wrapping_shl(1) | (raw & 0xff00),
    };
    Ok(Address { form, is, value: (raw & !0xffff) | low })
}

#[inline]
fn address_and_context(
    config: &Config,
    kind: Kind,
    cursor: &mut Cursor<'_>,
) -> Result<(Address, Context), ParseError> {
    use {Is::*, Kind as K};
    let (is, form) = match kind {
        K::AddressContext32Is0 => (Is0, Form::Long32),
        K::AddressContext32Is1 => (Is1, Form::Long32),
        K::AddressContext64Is0 => (Is0, Form::Long64),
        _ => (Is1, Form::Long64),
    };
    let address = long_address(cursor, is, form)?;
    Ok((address, context(config, cursor)?))
}

#[inline]
fn context(config: &Config, cursor: &mut Cursor<'_>) -> Result<Context, ParseError> {
    let info = cursor.byte()?;
    // One that is not traced takes no bytes: O4.
    let mut identifier = |bit: u8, bytes: u8| match (info & bit, bytes) {
        (0, _) | (_, 0) => Ok(None),
        _ => cursor.fixed(bytes).map(|value| Some(value as u32)),
    };
    let vmid = identifier(0x40, config.vmid_bytes)?;
    let context_id = identifier(0x80, config.context_id_bytes)?;
    Ok(Context {
        el: info & 3,
        sf: info & 0x10 != 0,
        ns: info & 0x20 != 0,
        nse: info & 0x08 != 0,
        vmid,
        context_id,
    })
}

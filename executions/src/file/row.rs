//! One row as bytes, relative to the previous row.

use hartrace_etrace::ingress::{CType, IType, Privilege, Retired, Trigger};

// First byte: itype in the low bits, then these.
const JUMPED: u8 = 0x10;
const SIJUMP: u8 = 0x20;
const WIDE: u8 = 0x40;
const MORE: u8 = 0x80;

// Second byte, with MORE.
const PRIVILEGE: u8 = 0x01;
const CONTEXT: u8 = 0x02;
const CTYPE: u8 = 0x04;
const TIME: u8 = 0x08;
const CYCLES: u8 = 0x10;
const SIGNALS: u8 = 0x20;
const TRAP: u8 = 0x40;
const SIZE: u8 = 0x80;

/// The state that a row is relative to.
#[derive(Copy, Clone, Debug)]
pub(super) struct Before {
    address: u64,
    privilege: Privilege,
    context: u64,
    ctype: CType,
    time: u64,
}

impl Before {
    /// The state at the start of a chunk.
    pub(super) fn new(address: u64) -> Self {
        Self { address, privilege: Privilege::M, context: 0, ctype: CType::Unreported, time: 0 }
    }

    fn after(row: &Retired) -> Self {
        Self {
            address: row.next_address(),
            privilege: row.privilege,
            context: row.context,
            ctype: row.ctype,
            time: row.time,
        }
    }
}

/// Appends `row` and makes it the previous row.
pub(super) fn emit(row: &Retired, before: &mut Before, out: &mut Vec<u8>) {
    let flag = |condition: bool, bit: u8| if condition { bit } else { 0 };
    let signals = flag(row.trigger.on, 1)
        | flag(row.trigger.off, 2)
        | flag(row.trigger.notify, 4)
        | flag(row.halted, 8)
        | flag(row.reset, 16);
    let more = flag(row.privilege != before.privilege, PRIVILEGE)
        | flag(row.context != before.context, CONTEXT)
        | flag(row.ctype != before.ctype, CTYPE)
        | flag(row.time != before.time, TIME)
        | flag(row.cycles != 1, CYCLES)
        | flag(signals != 0, SIGNALS)
        | flag(row.cause != 0 || row.tval != 0, TRAP)
        | flag(row.ilastsize > 1, SIZE);
    let first = row.itype.raw()
        | flag(row.iaddr != before.address, JUMPED)
        | flag(row.sijump, SIJUMP)
        | flag(row.ilastsize & 1 == 1, WIDE)
        | flag(more != 0, MORE);
    out.push(first);
    if more != 0 {
        out.push(more);
    }
    number(row.iretire.into(), out);
    if first & JUMPED != 0 {
        number(fold(row.iaddr.wrapping_sub(before.address)), out);
    }
    if more & PRIVILEGE != 0 {
        out.push(row.privilege.0);
    }
    if more & CONTEXT != 0 {
        number(row.context, out);
    }
    if more & CTYPE != 0 {
        out.push(row.ctype as u8);
    }
    if more & TIME != 0 {
        number(fold(row.time.wrapping_sub(before.time)), out);
    }
    if more & CYCLES != 0 {
        number(row.cycles.into(), out);
    }
    if more & SIGNALS != 0 {
        out.push(signals);
    }
    if more & TRAP != 0 {
        number(row.cause, out);
        number(row.tval, out);
    }
    if more & SIZE != 0 {
        out.push(row.ilastsize & 3);
    }
    *before = Before::after(row);
}

/// Removes a row from the front of `bytes`, or returns what is wrong.
pub(super) fn parse(bytes: &mut &[u8], before: &mut Before) -> Result<Retired, &'static str> {
    let first = byte(bytes)?;
    let more = if first & MORE != 0 { byte(bytes)? } else { 0 };
    let itype = IType::try_from(first & 15).map_err(|_| "itype 7 is reserved")?;
    let iretire = narrow(bytes, "more half-words than fit")?;
    let mut row = Retired {
        itype,
        iretire,
        ilastsize: u8::from(first & WIDE != 0),
        sijump: first & SIJUMP != 0,
        privilege: before.privilege,
        context: before.context,
        ctype: before.ctype,
        time: before.time,
        ..Retired::plain(before.address)
    };
    if first & JUMPED != 0 {
        row.iaddr = before.address.wrapping_add(unfold(wide(bytes)?));
    }
    if more & PRIVILEGE != 0 {
        row.privilege = Privilege(byte(bytes)?);
    }
    if more & CONTEXT != 0 {
        row.context = wide(bytes)?;
    }
    if more & CTYPE != 0 {
        row.ctype = CType::from_raw(byte(bytes)?);
    }
    if more & TIME != 0 {
        row.time = before.time.wrapping_add(unfold(wide(bytes)?));
    }
    if more & CYCLES != 0 {
        row.cycles = narrow(bytes, "more cycles than fit")?;
    }
    if more & SIGNALS != 0 {
        let signals = byte(bytes)?;
        let is_set = |bit: u8| signals & bit != 0;
        row.trigger = Trigger { on: is_set(1), off: is_set(2), notify: is_set(4) };
        row.halted = is_set(8);
        row.reset = is_set(16);
    }
    if more & TRAP != 0 {
        row.cause = wide(bytes)?;
        row.tval = wide(bytes)?;
    }
    if more & SIZE != 0 {
        row.ilastsize = byte(bytes)? & 3;
    }
    *before = Before::after(&row);
    Ok(row)
}

/// Maps a signed difference so that small differences of either sign become small numbers.
fn fold(difference: u64) -> u64 {
    let signed = difference as i64;
    (signed << 1 ^ signed >> 63) as u64
}

fn unfold(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

/// Writes seven bits per byte, the lowest first; the eighth bit marks that more follow.
fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn byte(bytes: &mut &[u8]) -> Result<u8, &'static str> {
    let (&first, rest) = bytes.split_first().ok_or("ends within a row")?;
    *bytes = rest;
    Ok(first)
}

fn wide(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(bytes)?;
        let bits = u64::from(next & 0x7f);
        if shift == 63 && next > 1 {
            break;
        }
        value |= bits << shift;
        if next < 0x80 {
            return Ok(value);
        }
    }
    Err("a number of more than 64 bits")
}

fn narrow(bytes: &mut &[u8], what: &'static str) -> Result<u32, &'static str> {
    wide(bytes)?.try_into().map_err(|_| what)
}

//! Whether a log is of a program.

use crate::Row;
use hartrace_decoder::Image;
use hartrace_etrace::ingress::IType;
use hartrace_isa::Insn;

/// In what a row differs from the program; `None` if it may be of it.
///
/// Every instruction of a block must be there, the last one with its length and its kind, and with its encoding where
/// the log has that.
pub(crate) fn misfit(program: &Image, row: &Row) -> Option<String> {
    let retired = &row.retired;
    let (mut at, mut left) = (retired.iaddr, 2 * u64::from(retired.iretire));
    let xlen = program.isa().xlen;
    while left > 0 {
        let Some(word) = program.encoding(at) else {
            return Some(format!("the program has no code at {at:#x}, which retired"));
        };
        let size = if word & 3 == 3 { 4 } else { 2 };
        if size > left {
            return Some(format!(
                "no instruction of the program ends at {:#x}",
                at.wrapping_add(left)
            ));
        }
        left -= size;
        if left == 0 {
            return last(program, row, at, word);
        }
        at = xlen.wrap(at.wrapping_add(size));
    }
    None
}

/// The same for the last instruction of a row.
fn last(program: &Image, row: &Row, at: u64, word: u32) -> Option<String> {
    if let Some(retired) = row.word.filter(|retired| *retired != word) {
        let digits = |word: u32| if word & 3 == 3 { 8 } else { 4 };
        let (there, logged) = (digits(word) + 2, digits(retired) + 2);
        return Some(format!(
            "the program has {word:#0there$x} at {at:#x}, but {retired:#0logged$x} retired"
        ));
    }
    let size = if word & 3 == 3 { 4 } else { 2 };
    let insn = program.insn(at);
    let fits = size == row.retired.last_bytes()
        && (row.retired.sijump || may_be(insn, row.retired.itype.narrow()));
    (!fits).then(|| format!("the program has another instruction at {at:#x} than retired"))
}

/// Whether an instruction may have been reported so. A trap may follow any instruction.
fn may_be(insn: Option<Insn>, itype: IType) -> bool {
    let known = |taken| insn.map_or(0, |insn| insn.itype(taken));
    let is = |code| IType::try_from(code).is_ok_and(|code| code.narrow() == itype);
    match itype {
        IType::Exception | IType::Interrupt => true,
        // An environment call need not trap, for example where a debugger handles it.
        IType::None => is(known(false)) || known(false) == 1,
        _ => is(known(false)) || is(known(true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_etrace::ingress::Retired;
    use hartrace_isa::{Isa, Xlen};

    const BASE: u64 = 0x8000_0000;

    /// nop, c.nop, beqz x0, ret
    fn program() -> Image {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(BASE, &[0x13, 0, 0, 0, 1, 0, 0xe3, 0x0e, 0x00, 0xfe, 0x82, 0x80]);
        image
    }

    fn found(iaddr: u64, iretire: u32, ilastsize: u8, itype: IType) -> Option<String> {
        let retired = Retired { iretire, ilastsize, itype, ..Retired::plain(iaddr) };
        misfit(&program(), &Row::at(1, retired))
    }

    #[test]
    fn rows_of_the_program() {
        for (iaddr, iretire, ilastsize, itype) in [
            (BASE, 2, 1, IType::None),
            (BASE, 3, 0, IType::None),
            (BASE, 5, 1, IType::Taken),
            (BASE + 6, 2, 1, IType::NotTaken),
            (BASE + 10, 1, 0, IType::Return),
            (BASE + 10, 1, 0, IType::Exception),
            // Nothing retired.
            (0x10, 0, 0, IType::Exception),
        ] {
            assert_eq!(found(iaddr, iretire, ilastsize, itype), None, "{iaddr:#x} {iretire}");
        }
    }

    #[test]
    fn rows_of_another_program() {
        for (iaddr, iretire, ilastsize, itype, expected) in [
            (0x10, 1, 0, IType::None, "no code at 0x10"),
            (BASE, 1, 0, IType::None, "ends at 0x80000002"),
            (BASE, 3, 1, IType::None, "another instruction at 0x80000004"),
            (BASE, 5, 1, IType::None, "another instruction at 0x80000006"),
            (BASE, 2, 1, IType::Taken, "another instruction at 0x80000000"),
            (BASE + 10, 2, 0, IType::None, "no code at 0x8000000c"),
        ] {
            let what = found(iaddr, iretire, ilastsize, itype).unwrap();
            assert!(what.contains(expected), "{what}");
        }
        let row = Row {
            word: Some(0x0010_0013),
            ..Row::at(1, Retired { iretire: 2, ilastsize: 1, ..Retired::plain(BASE) })
        };
        let what = misfit(&program(), &row).unwrap();
        assert_eq!(what, "the program has 0x00000013 at 0x80000000, but 0x00100013 retired");
    }
}

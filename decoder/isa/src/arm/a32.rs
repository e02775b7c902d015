use crate::arm::insn::signed;
use crate::arm::{Insn, Isa, Kind, Return, Rules};

/// Spec: Arm ARM, F4.1 "A32 instruction set encoding".
pub(crate) fn decode(rules: &Rules, address: u32, opcode: u32) -> Insn {
    let always = opcode >> 28 == 0xf;
    let insn = match () {
        () if always => unconditional(rules, address, opcode),
        () => conditional(rules, address, opcode),
    };
    Insn { conditional: opcode >> 28 < 0xe, ..insn }
}

fn target(address: u32, opcode: u32) -> u32 {
    let offset = signed(opcode, 24).wrapping_mul(4);
    address.wrapping_add(8).wrapping_add(offset as u32)
}

fn unconditional(rules: &Rules, address: u32, opcode: u32) -> Insn {
    match opcode {
        _ if opcode & 0xfe50_0000 == 0xf810_0000 => Insn::indirect(4, false, Return::No), // RFE
        _ if opcode & 0xfe00_0000 == 0xfa00_0000 => {
            let half = (opcode >> 23) & 2;
            let to = target(address, opcode).wrapping_add(half);
            Insn::direct(4, to.into(), Isa::T32, true)
        }
        _ => Insn::of(
            4,
            match opcode & 0xfff0_00f0 {
                0xf570_0060 => Kind::Isb,
                0xf570_0040 | 0xf570_0050 if rules.barriers => Kind::Barrier,
                _ => Kind::Other,
            },
        ),
    }
}

fn conditional(rules: &Rules, address: u32, opcode: u32) -> Insn {
    if opcode & 0x0e00_0000 == 0x0a00_0000 {
        let link = opcode & (1 << 24) != 0;
        return Insn::direct(4, target(address, opcode).into(), Isa::A32, link);
    }
    if let Some(returns) = indirect(opcode) {
        let link = opcode & 0x0ff0_00f0 == 0x0120_0030;
        return Insn::indirect(4, link, returns);
    }
    // Writes to coprocessor 15 that served as barriers before barrier instructions existed.
    Insn::of(
        4,
        match opcode & 0x0fff_0fff {
            0x0e07_0f95 => Kind::Isb,
            0x0e07_0f9a | 0x0e07_0fba if rules.barriers => Kind::Barrier,
            _ if rules.wfx && opcode & 0x0fff_fffe == 0x0320_f002 => Kind::Wfx,
            _ => Kind::Other,
        },
    )
}

/// If the instruction writes the program counter: whether it looks like a return.
fn indirect(opcode: u32) -> Option<Return> {
    let implied = |condition| if condition { Return::Implied } else { Return::No };
    let is = |mask, value| opcode & mask == value;
    match () {
        // BX, BLX (register)
        () if is(0x0ff0_00d0, 0x0120_0010) => Some(implied(opcode & 0xff == 0x1e)),
        // BXJ
        () if is(0x0ff0_00f0, 0x0120_0020) => Some(Return::No),
        // LDM with pc
        () if is(0x0e10_8000, 0x0810_8000) => Some(implied(is(0x0fff_a000, 0x08bd_8000))),
        // LDR pc
        () if is(0x0e50_f000, 0x0410_f000) => Some(implied(is(0x01ff_0000, 0x009d_0000))),
        () if is(0x0e50_f010, 0x0610_f000) => Some(Return::No),
        // MOV pc, and shifts
        () if is(0x0fe0_f000, 0x01a0_f000) => Some(implied(is(0x0010_0fff, 0x00e))),
        // Miscellaneous, extended loads and stores, MSR
        () if is(0x0f90_0080, 0x0100_0000)
            || is(0x0f90_00f0, 0x0180_0090)
            || is(0x0fb0_f000, 0x0320_f000) =>
        {
            None
        }
        // Data processing to pc; TST, TEQ, CMP and CMN have no destination.
        () if is(0x0e00_f000, 0x0200_f000) => (!is(0x0f90_f000, 0x0310_f000)).then_some(Return::No),
        () if is(0x0e00_f000, 0x0000_f000) => Some(Return::No),
        () => None,
    }
}

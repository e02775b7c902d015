use crate::arm::insn::signed;
use crate::arm::{Insn, Isa, Kind, Return, Rules, is_wide};

/// Spec: Arm ARM, F3.1 "T32 instruction set encoding". The first half-word is the upper one.
pub(crate) fn decode(rules: &Rules, address: u32, opcode: u32) -> Insn {
    let size = if is_wide((opcode >> 16) as u16) { 4 } else { 2 };
    if let Some(insn) = direct(address, opcode, size) {
        return insn;
    }
    if let Some((link, returns)) = indirect(opcode) {
        return Insn::indirect(size, link, returns);
    }
    let kind = match opcode {
        _ if opcode & 0xffff_fff0 == 0xf3bf_8f60 || opcode & 0xffff_0fff == 0xee07_0f95 => {
            Kind::Isb
        }
        _ if rules.barriers && barrier(opcode) => Kind::Barrier,
        _ if rules.wfx
            && (opcode & 0xffff_fffe == 0xf3af_8002 || opcode & 0xffef_0000 == 0xbf20_0000) =>
        {
            Kind::Wfx
        }
        _ => Kind::Other,
    };
    Insn { it: it(opcode), ..Insn::of(size, kind) }
}

fn barrier(opcode: u32) -> bool {
    matches!(opcode & 0xffff_fff0, 0xf3bf_8f40 | 0xf3bf_8f50)
        || matches!(opcode & 0xffff_0fff, 0xee07_0f9a | 0xee07_0fba)
}

/// Number of instructions in an IT block.
fn it(opcode: u32) -> u8 {
    let mask = (opcode >> 16) & 0xf;
    match opcode >> 24 == 0xbf && mask != 0 {
        true => 4u32.saturating_sub(mask.trailing_zeros()) as u8,
        false => 0,
    }
}

fn direct(address: u32, opcode: u32, size: u8) -> Option<Insn> {
    let bits = |at: u32, count: u32| (opcode >> at) & 1u32.wrapping_shl(count).wrapping_sub(1);
    let from = |base: u32, offset: i64| u64::from(base.wrapping_add(4).wrapping_add(offset as u32));
    let to = |offset: i64, conditional| {
        let insn = Insn::direct(size, from(address, offset), Isa::T32, false);
        Some(Insn { conditional, ..insn })
    };
    let is = |mask, value| opcode & mask == value;
    match () {
        // B, conditional, short
        () if is(0xf000_0000, 0xd000_0000) && bits(25, 3) != 7 => {
            to(signed(bits(16, 8), 8).wrapping_mul(2), true)
        }
        // B, short
        () if is(0xf800_0000, 0xe000_0000) => to(signed(bits(16, 11), 11).wrapping_mul(2), false),
        // B, conditional
        () if is(0xf800_d000, 0xf000_8000) && bits(23, 3) != 7 => {
            let field = bits(26, 1).wrapping_shl(19)
                | bits(11, 1).wrapping_shl(18)
                | bits(13, 1).wrapping_shl(17)
                | bits(16, 6).wrapping_shl(11)
                | bits(0, 11);
            to(signed(field, 20).wrapping_mul(2), true)
        }
        // B; BL
        () if is(0xf800_9000, 0xf000_9000) => {
            let insn = to(long(opcode), false)?;
            Some(Insn { link: bits(14, 1) == 1, ..insn })
        }
        // BLX, to ARM
        () if is(0xf800_d001, 0xf000_c000) => {
            let target = from(address & !3, long(opcode));
            Some(Insn::direct(size, target, Isa::A32, true))
        }
        // CBZ, CBNZ: forward only
        () if is(0xf500_0000, 0xb100_0000) => {
            let field = bits(25, 1).wrapping_shl(5) | bits(19, 5);
            to(i64::from(field).wrapping_mul(2), true)
        }
        () => None,
    }
}

/// The offset of B, BL and BLX of four bytes.
fn long(opcode: u32) -> i64 {
    let sign = (opcode >> 26) & 1;
    // Two bits are stored inverted: a bit is set if it equals the sign.
    let bit = |at: u32| ((opcode >> at) & 1) ^ sign ^ 1;
    let field = sign.wrapping_shl(23)
        | bit(13).wrapping_shl(22)
        | bit(11).wrapping_shl(21)
        | ((opcode >> 16) & 0x3ff).wrapping_shl(11)
        | (opcode & 0x7ff);
    signed(field, 24).wrapping_mul(2)
}

/// If the instruction writes the program counter: whether it sets the link register, and whether it
/// looks like a return.
fn indirect(opcode: u32) -> Option<(bool, Return)> {
    let implied = |condition| if condition { Return::Implied } else { Return::No };
    let is = |mask, value| opcode & mask == value;
    let plain = Some((false, Return::No));
    match () {
        // BX, BLX
        () if is(0xff00_0000, 0x4700_0000) => {
            Some((is(1 << 23, 1 << 23), implied(is(0x00f8_0000, 0x0070_0000))))
        }
        // BXJ
        () if is(0xfff0_d000, 0xf3c0_8000) => plain,
        // POP with pc
        () if is(0xff00_0000, 0xbd00_0000) => Some((false, Return::Implied)),
        // MOV, ADD to pc
        () if is(0xfd87_0000, 0x4487_0000) => Some((false, implied(is(0xffff_0000, 0x46f7_0000)))),
        // TBB, TBH
        () if is(0xfff0_ffe0, 0xe8d0_f000) => plain,
        // RFE
        () if is(0xffd0_0000, 0xe810_0000) || is(0xffd0_0000, 0xe990_0000) => plain,
        // SUBS pc, lr; ERET
        () if is(0xfff0_d000, 0xf3d0_8000) => plain,
        // LDR pc
        () if is(0xfff0_f000, 0xf8d0_f000) || is(0xff7f_f000, 0xf85f_f000) => plain,
        () if is(0xfff0_f800, 0xf850_f800) => Some((false, implied(is(0x000f_0f00, 0x000d_0b00)))),
        () if is(0xfff0_ffc0, 0xf850_f000) => plain,
        // LDM with pc
        () if is(0xfe50_8000, 0xe810_8000) => Some((false, implied(is(0x0fff_0000, 0x08bd_0000)))),
        () => None,
    }
}

use crate::arm::insn::signed;
use crate::arm::{Arch, Insn, Isa, Kind, Return, Rules};

/// Spec: Arm ARM, C4.1 "A64 instruction set encoding", branches, exception generating and system.
#[inline]
pub(crate) fn decode(rules: &Rules, address: u64, opcode: u32) -> Insn {
    // Branches and system instructions all have 101 in bits 28:26, including the compare and branch
    // instructions of Armv9.6 and the returns with an address offset.
    if opcode & 0x1c00_0000 != 0x1400_0000 {
        return Insn::other(4);
    }
    if let Some(insn) = indirect(rules, opcode) {
        return insn;
    }
    let to = |field: u32, bits| address.wrapping_add_signed(signed(field, bits).wrapping_mul(4));
    let direct = |target, link| Insn::direct(4, target, Isa::A64, link);
    let conditional = |target| Insn { conditional: true, ..direct(target, false) };
    match opcode {
        _ if opcode & 0x7c00_0000 == 0x1400_0000 => direct(to(opcode, 26), opcode >> 31 == 1),
        _ if opcode & 0xff00_0000 == 0x5400_0000 => conditional(to(opcode >> 5, 19)),
        _ if opcode & 0x7e00_0000 == 0x3400_0000 => conditional(to(opcode >> 5, 19)),
        _ if opcode & 0x7e00_0000 == 0x3600_0000 => conditional(to(opcode >> 5, 14)),
        _ if compare_and_branch(opcode) => conditional(to(opcode >> 5, 9)),
        _ => Insn::of(4, system(rules, opcode)),
    }
}

fn indirect(rules: &Rules, opcode: u32) -> Option<Insn> {
    let link = opcode & (1 << 21) != 0;
    let branch = Some(Insn::indirect(4, link, Return::No));
    let ret = Some(Insn::indirect(4, false, Return::Ret));
    let eret = Some(Insn::indirect(4, false, Return::Eret));
    match opcode {
        _ if opcode & 0xffdf_fc1f == 0xd61f_0000 => branch,
        _ if opcode & 0xffff_fc1f == 0xd65f_0000 => ret,
        0xd69f_03e0 => eret,
        _ if rules.arch < Arch::V8r3 => None,
        _ if opcode & 0xffdf_f800 == 0xd71f_0800 => branch,
        _ if opcode & 0xffdf_f81f == 0xd61f_081f => branch,
        _ if opcode & 0xffff_fbff == 0xd69f_0bff => eret,
        // RETAA and RETAB; with another register, their forms with the address in that register.
        _ if opcode & 0xffff_fbe0 == 0xd65f_0be0 => ret,
        _ if opcode & 0xffc0_001f == 0x5500_001f => ret,
        _ => None,
    }
}

/// CB, CBB and CBH.
fn compare_and_branch(opcode: u32) -> bool {
    let (low, high) = (opcode & (1 << 14) != 0, opcode & (1 << 15) != 0);
    match opcode >> 24 {
        0x74 => high || !low,
        0xf4 => !high && !low,
        0x75 | 0xf5 => !low,
        _ => false,
    }
}

fn system(rules: &Rules, opcode: u32) -> Kind {
    match opcode & 0xffff_f0ff {
        0xd503_30df => return Kind::Isb,
        0xd503_309f | 0xd503_30bf if rules.barriers => return Kind::Barrier,
        _ => {}
    }
    let later = rules.arch >= Arch::Later;
    match opcode {
        _ if rules.wfx && opcode & 0xffff_ffdf == 0xd503_205f => Kind::Wfx,
        _ if rules.wfx && later && opcode & 0xffff_ffc0 == 0xd503_1000 => Kind::Wfx,
        _ if later && opcode & 0xffff_ffe0 == 0xd523_3060 => Kind::TransactionStart,
        _ => Kind::Other,
    }
}

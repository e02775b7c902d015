//! Compressed instructions behave like the wide instructions that they stand for.

use crate::machine::{CODE, Code, DATA, Machine};
use hartrace_iss::Xlen::{self, Rv32, Rv64};

/// Integer and floating-point registers, memory, and the next address.
type State = (Vec<u64>, [u64; 32], Vec<u8>, u64);

/// State after one instruction, with registers that point into memory.
fn after(xlen: Xlen, code: Code) -> Option<State> {
    let mut machine = Machine::new(xlen);
    machine.enter(crate::machine::M, 3 << 13);
    for number in 1..32 {
        machine.hart.set_register(number, DATA + 0x400 * u64::from(number) + 8);
        machine
            .store(DATA + 0x400 * u64::from(number) + 8, 0x1234_5678_9abc_def0 ^ u64::from(number));
    }
    // One register is zero, for branches.
    machine.hart.set_register(9, 0);
    machine.place(CODE, &[code]);
    machine.go(1);
    if machine.trap().is_some() {
        return None;
    }
    let size = u64::from(machine.steps[0].size);
    let registers = machine.hart.registers();
    // The next address and the link, if they directly follow, as if the instruction had four bytes.
    let wide = |pc| if pc == CODE + size { CODE + 4 } else { pc };
    let mut x = registers.x.to_vec();
    x[1] = if x[1] & 0xffff_ffff == CODE + size { CODE + 4 } else { x[1] };
    let memory = machine.hart.read_memory(DATA, 0x9000).expect("memory").to_vec();
    Some((x, registers.f, memory, wide(registers.pc)))
}

#[test]
fn each_is_its_wide_form() {
    let table: &[(Xlen, Code, Code)] = &[
        (Rv64, ("c.addi4spn s0,sp,1020", 0x1fe0), ("addi s0,sp,1020", 0x3fc1_0413)),
        (Rv64, ("c.addi4spn a5,sp,4", 0x005c), ("addi a5,sp,4", 0x0041_0793)),
        (Rv64, ("c.addi16sp sp,-512", 0x7101), ("addi sp,sp,-512", 0xe001_0113)),
        (Rv64, ("c.addi16sp sp,496", 0x617d), ("addi sp,sp,496", 0x1f01_0113)),
        (Rv64, ("c.lw a0,124(a1)", 0x5de8), ("lw a0,124(a1)", 0x07c5_a503)),
        (Rv64, ("c.ld a0,248(a1)", 0x7de8), ("ld a0,248(a1)", 0x0f85_b503)),
        (Rv64, ("c.sw a0,64(a1)", 0xc1a8), ("sw a0,64(a1)", 0x04a5_a023)),
        (Rv64, ("c.sd a0,192(a1)", 0xe1e8), ("sd a0,192(a1)", 0x0ca5_b023)),
        (Rv64, ("c.fld fa0,0(a1)", 0x2188), ("fld fa0,0(a1)", 0x0005_b507)),
        (Rv64, ("c.fsd fa0,8(a1)", 0xa588), ("fsd fa0,8(a1)", 0x00a5_b427)),
        (Rv32, ("c.flw fa0,0(a1)", 0x6188), ("flw fa0,0(a1)", 0x0005_a507)),
        (Rv32, ("c.fsw fa0,4(a1)", 0xe1c8), ("fsw fa0,4(a1)", 0x00a5_a227)),
        (Rv32, ("c.flwsp fs11,252(sp)", 0x7dfe), ("flw fs11,252(sp)", 0x0fc1_2d87)),
        (Rv32, ("c.fswsp fs11,252(sp)", 0xffee), ("fsw fs11,252(sp)", 0x0fb1_2e27)),
        (Rv64, ("c.lwsp t6,252(sp)", 0x5ffe), ("lw t6,252(sp)", 0x0fc1_2f83)),
        (Rv64, ("c.ldsp t6,504(sp)", 0x7ffe), ("ld t6,504(sp)", 0x1f81_3f83)),
        (Rv64, ("c.swsp t6,252(sp)", 0xdffe), ("sw t6,252(sp)", 0x0ff1_2e23)),
        (Rv64, ("c.sdsp t6,504(sp)", 0xfffe), ("sd t6,504(sp)", 0x1ff1_3c23)),
        (Rv64, ("c.fldsp ft0,504(sp)", 0x307e), ("fld ft0,504(sp)", 0x1f81_3007)),
        (Rv64, ("c.fsdsp ft0,504(sp)", 0xbf82), ("fsd ft0,504(sp)", 0x1e01_3c27)),
        (Rv64, ("c.addi t6,-32", 0x1f81), ("addi t6,t6,-32", 0xfe0f_8f93)),
        (Rv32, ("c.addi t6,-32", 0x1f81), ("addi t6,t6,-32", 0xfe0f_8f93)),
        (Rv64, ("c.addiw t6,31", 0x2ffd), ("addiw t6,t6,31", 0x01ff_8f9b)),
        (Rv64, ("c.addiw t6,0", 0x2f81), ("addiw t6,t6,0", 0x000f_8f9b)),
        (Rv64, ("c.li t6,-32", 0x5f81), ("addi t6,x0,-32", 0xfe00_0f93)),
        (Rv64, ("c.lui t6,0xfffe0", 0x7f81), ("lui t6,0xfffe0", 0xfffe_0fb7)),
        (Rv64, ("c.lui ra,31", 0x60fd), ("lui ra,31", 0x0001_f0b7)),
        (Rv64, ("c.srli a0,63", 0x917d), ("srli a0,a0,63", 0x03f5_5513)),
        (Rv64, ("c.srai a0,33", 0x9505), ("srai a0,a0,33", 0x4215_5513)),
        (Rv32, ("c.srai a0,31", 0x857d), ("srai a0,a0,31", 0x41f5_5513)),
        (Rv64, ("c.andi a0,-32", 0x9901), ("andi a0,a0,-32", 0xfe05_7513)),
        (Rv64, ("c.sub a0,a1", 0x8d0d), ("sub a0,a0,a1", 0x40b5_0533)),
        (Rv32, ("c.sub a0,a1", 0x8d0d), ("sub a0,a0,a1", 0x40b5_0533)),
        (Rv64, ("c.xor a0,a1", 0x8d2d), ("xor a0,a0,a1", 0x00b5_4533)),
        (Rv64, ("c.or a0,a1", 0x8d4d), ("or a0,a0,a1", 0x00b5_6533)),
        (Rv64, ("c.and a0,a1", 0x8d6d), ("and a0,a0,a1", 0x00b5_7533)),
        (Rv64, ("c.subw a0,a1", 0x9d0d), ("subw a0,a0,a1", 0x40b5_053b)),
        (Rv64, ("c.addw a0,a1", 0x9d2d), ("addw a0,a0,a1", 0x00b5_053b)),
        (Rv64, ("c.slli t6,63", 0x1ffe), ("slli t6,t6,63", 0x03ff_9f93)),
        (Rv64, ("c.mv t6,ra", 0x8f86), ("add t6,x0,ra", 0x0010_0fb3)),
        (Rv64, ("c.add t6,ra", 0x9f86), ("add t6,t6,ra", 0x001f_8fb3)),
        (Rv64, ("c.jr a0", 0x8502), ("jalr x0,0(a0)", 0x0005_0067)),
        (Rv64, ("c.jalr a0", 0x9502), ("jalr ra,0(a0)", 0x0005_00e7)),
        (Rv64, ("c.jalr ra", 0x9082), ("jalr ra,0(ra)", 0x0000_80e7)),
        (Rv64, ("c.j .-2048", 0xb001), ("jal x0,.-2048", 0x801f_f06f)),
        (Rv64, ("c.j .+1366", 0xab99), ("jal x0,.+1366", 0x5560_006f)),
        (Rv32, ("c.jal .+682", 0x246d), ("jal ra,.+682", 0x2aa0_00ef)),
        (Rv64, ("c.beqz s1,.-256", 0xd081), ("beq s1,x0,.-256", 0xf004_80e3)),
        (Rv64, ("c.beqz s1,.+170", 0xc4cd), ("beq s1,x0,.+170", 0x0a04_8563)),
        (Rv64, ("c.beqz s0,.+84", 0xc831), ("beq s0,x0,.+84", 0x0404_0a63)),
        (Rv64, ("c.bnez s0,.+254", 0xec7d), ("bne s0,x0,.+254", 0x0e04_1f63)),
        (Rv64, ("c.bnez s1,.+254", 0xecfd), ("bne s1,x0,.+254", 0x0e04_9f63)),
    ];
    for &(xlen, short, wide) in table {
        let want = after(xlen, wide);
        assert!(want.is_some(), "{}", wide.0);
        assert!(after(xlen, short) == want, "{xlen:?} {}", short.0);
    }
}

#[test]
fn hints_do_nothing() {
    let table = [
        ("c.nop", 0x0001),
        ("c.nop 1", 0x0005),
        ("c.addi a0,0", 0x0501),
        ("c.li x0,1", 0x4005),
        ("c.lui x0,1", 0x6005),
        ("c.mv x0,a0", 0x802a),
        ("c.add x0,a0", 0x902a),
        ("c.slli x0,1", 0x0006),
        ("c.slli a0,0", 0x0502),
        ("c.srli a0,0", 0x8101),
        ("c.srai a0,0", 0x8501),
    ];
    for xlen in [Rv32, Rv64] {
        for code in table {
            assert!(after(xlen, code) == after(xlen, ("nop", 0x0000_0013)), "{xlen:?} {}", code.0);
        }
    }
}

#[test]
fn reserved_encodings_are_illegal() {
    let both = [
        ("zeros", 0x0000),
        ("c.addi4spn a0,sp,0", 0x0008),
        ("quadrant 0, funct3 4", 0x8000),
        ("c.addi16sp 0", 0x6101),
        ("c.lui a0,0", 0x6501),
        ("c.lui x0,0", 0x6001),
        ("c.lwsp x0", 0x4002),
        ("c.jr x0", 0x8002),
        ("quadrant 1, arithmetic, 1 and 2", 0x9c41),
        ("quadrant 1, arithmetic, 1 and 3", 0x9c61),
    ];
    let rv32 = [
        ("c.slli a0,32", 0x1502),
        ("c.srli a0,32", 0x9101),
        ("c.srai a0,32", 0x9501),
        ("c.subw a0,a1", 0x9d0d),
        ("c.addw a0,a1", 0x9d2d),
    ];
    let rv64 = [("c.addiw x0,1", 0x2005), ("c.ldsp x0", 0x6002)];
    let cases = [(Rv32, &both[..]), (Rv64, &both), (Rv32, &rv32), (Rv64, &rv64)];
    for (xlen, table) in cases {
        for &code in table {
            assert!(after(xlen, code).is_none(), "{xlen:?} {}", code.0);
        }
    }
}

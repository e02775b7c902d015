//! The host at `tohost` and `fromhost`.

use crate::machine::{Code, DATA, RAM, SIZE, Screen, elf};
use hartrace_iss::{Exit, Hart, HartConfig, Range, Step, Xlen};

/// A program with `tohost` at [`DATA`], directly followed by `fromhost`.
fn program(xlen: Xlen, code: &[Code]) -> Vec<u8> {
    let mut bytes = elf(xlen, RAM, code);
    let names = b"\0tohost\0fromhost\0";
    let (text, symbols) = (bytes.len(), bytes.len() + names.len());
    bytes.extend(names);
    let wide = xlen == Xlen::Rv64;
    let word = if wide { 8 } else { 4 };
    let mut put = |size: usize, value: u64| bytes.extend(&value.to_le_bytes()[..size]);
    for (name, address) in [(0, 0), (1, DATA), (8, DATA + 8)] {
        put(4, name);
        if wide {
            put(4, 0);
        }
        put(word, address);
        put(word, 0);
        if !wide {
            put(4, 0);
        }
    }
    // Sections: none, the names, the symbols.
    let symbol = if wide { 24 } else { 16 };
    let sections = symbols + 3 * symbol;
    for [kind, offset, size, link, entry] in
        [[0; 5], [3, text, names.len(), 0, 0], [2, symbols, 3 * symbol, 1, symbol]]
    {
        put(4, 0);
        put(4, kind as u64);
        put(word, 0);
        put(word, 0);
        put(word, offset as u64);
        put(word, size as u64);
        put(4, link as u64);
        put(4, 0);
        put(word, 1);
        put(word, entry as u64);
    }
    let (place, shape, size) = if wide { (40, 58, 64) } else { (32, 46, 40) };
    bytes[place..place + 4].copy_from_slice(&(sections as u32).to_le_bytes());
    bytes[shape..shape + 6].copy_from_slice(&[size, 0, 3, 0, 1, 0]);
    bytes
}

/// Returns how the program ends and what it prints; `a0` is [`DATA`].
fn run(xlen: Xlen, code: &[Code], registers: &[(u8, u64)]) -> (Exit, String) {
    let memory = vec![Range { base: RAM, size: SIZE }];
    let mut hart = Hart::new(HartConfig { xlen, memory, ..HartConfig::default() });
    let screen = Screen::default();
    hart.set_console(Box::new(screen.clone()));
    let entry = hart.load_elf(&program(xlen, code)).expect("a program");
    assert_eq!(entry.tohost, Some(DATA));
    hart.write_memory(DATA + 0x100, b"text");
    hart.set_register(10, DATA);
    registers.iter().for_each(|&(register, value)| hart.set_register(register, value));
    (hart.run(1000, &mut |_: &Step| {}), screen.text())
}

#[test]
fn exit_codes() {
    let end = [("sw a1,0(a0)", 0x00b5_2023), ("j .", 0x0000_006f)];
    let again =
        [("sw a1,0(a0)", 0x00b5_2023), ("sw zero,4(a0)", 0x0005_2223), ("j .-8", 0xff9f_f06f)];
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        assert_eq!(run(xlen, &end, &[(11, 1)]).0, Exit::Exited(0));
        assert_eq!(run(xlen, &end, &[(11, 7)]).0, Exit::Exited(3));
        assert_eq!(run(xlen, &again, &[(11, 7)]).0, Exit::Exited(3));
    }
}

#[test]
fn characters() {
    let wide = [("sd a1,0(a0)", 0x00b5_3023), ("sd a2,0(a0)", 0x00c5_3023), ("j .", 0x0000_006f)];
    let (a, end) = (0x0101_0000_0000_0061, 1);
    let printed = (Exit::Exited(0), "a".to_owned());
    assert_eq!(run(Xlen::Rv64, &wide, &[(11, a), (12, end)]), printed);
    // In two halves, either of them first; then it waits until the host has accepted it.
    let (low, high) = (("sw a1,0(a0)", 0x00b5_2023), ("sw a2,4(a0)", 0x00c5_2223));
    for [first, second] in [[low, high], [high, low]] {
        let code = [
            first,
            second,
            ("lw a4,0(a0)", 0x0005_2703),
            ("bnez a4,.-4", 0xfe07_1ee3),
            ("sw a3,0(a0)", 0x00d5_2023),
            ("j .", 0x0000_006f),
        ];
        let registers = [(11, 0x61), (12, 0x0101_0000), (13, end)];
        assert_eq!(run(Xlen::Rv32, &code, &registers), printed, "{} first", first.0);
    }
}

#[test]
fn calls_through_memory() {
    // write(1, text, 4) at DATA + 64; the result replaces the number, and the reply is accepted
    // before the exit with that result.
    let code = [
        ("li t0,64", 0x0400_0293),
        ("sd t0,64(a0)", 0x0455_3023),
        ("li t0,1", 0x0010_0293),
        ("sd t0,72(a0)", 0x0455_3423),
        ("addi t0,a0,256", 0x1005_0293),
        ("sd t0,80(a0)", 0x0455_3823),
        ("li t0,4", 0x0040_0293),
        ("sd t0,88(a0)", 0x0455_3c23),
        ("addi t0,a0,64", 0x0405_0293),
        ("sd t0,0(a0)", 0x0055_3023),
        ("ld t1,8(a0)", 0x0085_3303),
        ("beqz t1,.-4", 0xfe03_0ee3),
        ("sd zero,8(a0)", 0x0005_3423),
        ("ld t0,64(a0)", 0x0405_3283),
        ("slli t0,t0,1", 0x0012_9293),
        ("ori t0,t0,1", 0x0012_e293),
        ("sd t0,0(a0)", 0x0055_3023),
        ("j .", 0x0000_006f),
    ];
    assert_eq!(run(Xlen::Rv64, &code, &[]), (Exit::Exited(4), "text".to_owned()));
}

//! Millions of instructions per second, with a sink that only counts.
//!
//! Runs a small loop, and with `HARTRACE_DATA` also programs of the reference vectors.

use hartrace_iss::{Exit, Hart, HartConfig, Range, Retire, Step, Xlen};
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

const RAM: u64 = 0x8000_0000;

/// Copies 256 double-words and adds them up, for ever: ld, sd, add, addi, addi, bne; mv, j.
const LOOP: [u32; 10] = [
    0x0010_0437, // lui s0, 0x100
    0x0094_1413, // slli s0, s0, 9: 0x20000000, unused space is at +4096
    0x0024_1413, // slli s0, s0, 2: 0x80000000
    0x0004_0513, // mv a0, s0
    0x4000_0593, // li a1, 1024
    0x0005_3603, // ld a2, 0(a0)
    0x40c5_3023, // sd a2, 1024(a0)
    0x0085_0513, // addi a0, a0, 8
    0xff85_8593, // addi a1, a1, -8
    0xfe05_98e3, // bnez a1, -16
];
/// j -28, to the start of the copy.
const AGAIN: u32 = 0xfe5f_f06f;

#[derive(Default)]
struct Count(u64);

impl Retire for Count {
    fn retire(&mut self, _: &Step) {
        self.0 += 1;
    }
}

fn main() {
    let limit = 200_000_000;
    let memory =
        vec![Range { base: RAM, size: 0x40_0000 }, Range { base: 0x2001_0000, size: 0x4_0000 }];
    let config = HartConfig { memory, reset_pc: RAM + 0x1000, ..HartConfig::default() };
    let mut hart = Hart::new(config.clone());
    let code: Vec<u8> = LOOP.into_iter().chain([AGAIN]).flat_map(u32::to_le_bytes).collect();
    hart.write_memory(RAM + 0x1000, &code);
    measure("copy_loop", hart, limit);

    let Some(data) = env::var_os("HARTRACE_DATA") else { return };
    for (name, xlen) in [
        ("coremark", Xlen::Rv64),
        ("dhrystone", Xlen::Rv64),
        ("embench-nettle-aes", Xlen::Rv32),
        ("embench-picojpeg", Xlen::Rv32),
    ] {
        let file = Path::new(&data).join(format!("etrace-reference/elf/{name}.riscv"));
        let bytes = fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut hart = Hart::new(HartConfig { xlen, ..config.clone() });
        hart.load_elf(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        measure(name, hart, limit);
    }
}

fn measure(name: &str, mut hart: Hart, limit: u64) {
    let mut count = Count::default();
    let start = Instant::now();
    let exit = hart.run(limit, &mut count);
    let seconds = start.elapsed().as_secs_f64();
    assert!(matches!(exit, Exit::Limit | Exit::Exited(0) | Exit::Stuck { .. }), "{exit:?}");
    println!("figure iss_{name}_instructions {}", count.0);
    println!("figure iss_{name}_mips {:.1}", count.0 as f64 / seconds / 1e6);
}

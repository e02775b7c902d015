//! Any bytes may be a program: nothing panics, and the reported steps are consistent.

use crate::machine::{Machine, RAM, SIZE, elf};
use hartrace_iss::{
    Clock, Environment, Exit, Hart, HartConfig, Misaligned, Range, Retire, Step, Xlen,
};

/// Opcodes of 4-byte instructions that exist, so that most words are valid.
const OPCODES: [u32; 18] = [
    0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37, 0x3b, 0x43, 0x53, 0x63, 0x67,
    0x6f, 0x73,
];
/// CSRs that change what happens next.
const CSRS: [u32; 12] =
    [0x001, 0x003, 0x100, 0x104, 0x105, 0x180, 0x300, 0x302, 0x303, 0x304, 0x305, 0x344];

fn word(random: &mut fastrand::Rng) -> u32 {
    let word = random.u32(..);
    match random.u32(0..8) {
        0 => word,
        1 => word & !3 | random.u32(0..3),
        2 => random.choice(CSRS).unwrap_or(0) << 20 | word & 0xf_ff80 | 0x73,
        _ => word & !0x7f | random.choice(OPCODES).unwrap_or(0x13),
    }
}

fn address(random: &mut fastrand::Rng) -> u64 {
    match random.u32(0..8) {
        0 => random.u64(..),
        1 => random.u64(0..0x100).wrapping_neg(),
        2 => 0x200_0000 + random.choice([0, 0x4000, 0xbff8]).unwrap_or(0),
        _ => RAM + random.u64(0..0x8000),
    }
}

/// Checks each step against the previous one.
struct Watch {
    rv32: bool,
    next: Option<u64>,
    steps: u64,
}

impl Retire for Watch {
    const DETAIL: bool = true;

    fn retire(&mut self, step: &Step) {
        self.steps += 1;
        assert!(self.next.is_none_or(|next| next == step.pc), "{step:x?}");
        self.next = Some(step.next_pc);
        assert!(step.pc.is_multiple_of(2) && matches!(step.privilege.0, 0 | 1 | 3), "{step:x?}");
        assert!(!self.rv32 || step.next_pc < 1 << 32, "{step:x?}");
        assert_eq!(step.trap.is_some(), step.kind.is_trap(), "{step:x?}");
        if let Some((_, value)) = step.write.filter(|_| self.rv32)
            && step.write.is_some_and(|(to, _)| matches!(to, hartrace_iss::Register::Integer(_)))
        {
            assert_eq!(value, value as i32 as u64, "{step:x?}");
        }
        let row = step.retired();
        assert_eq!(row.iretire * 2, if step.retires { step.size.into() } else { 0 }, "{step:x?}");
    }
}

#[test]
fn random_words_as_code() {
    let mut total = [0; 2];
    for seed in 0..600 {
        let mut random = fastrand::Rng::with_seed(seed);
        let rv32 = seed % 2 == 0;
        let config = HartConfig {
            xlen: if rv32 { Xlen::Rv32 } else { Xlen::Rv64 },
            misaligned: random
                .choice([Misaligned::Supported, Misaligned::Trap])
                .unwrap_or_default(),
            clock: match random.u32(0..3) {
                0 => Clock::Rounds { instructions: 50, ticks: 5 },
                1 => Clock::Instructions(0),
                _ => Clock::Instructions(random.u64(1..100)),
            },
            environment: Environment::Bare,
            ..HartConfig::default()
        };
        let mut machine = Machine::with(config);
        for at in (0..0x8000).step_by(4) {
            machine.hart.write_memory(RAM + at, &word(&mut random).to_le_bytes());
        }
        machine.set_csr(0x305, RAM + random.u64(0..0x8000));
        machine.set_csr(0x105, RAM + random.u64(0..0x8000));
        machine.set_csr(0x300, random.u64(..));
        let mut watch = Watch { rv32, next: None, steps: 0 };
        // Whenever the hart is stuck, it starts at another address.
        for _ in 0..60 {
            machine.hart.set_pc(RAM + random.u64(0..0x8000));
            for register in 1..32 {
                machine.hart.set_register(register, address(&mut random));
            }
            watch.next = None;
            machine.hart.run(100, &mut watch);
            assert_eq!(machine.x(0), 0);
        }
        total[usize::from(rv32)] += watch.steps;
    }
    assert!(total.iter().all(|&steps| steps > 300_000), "{total:?}");
}

#[test]
fn random_bytes_as_programs() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut loaded, mut ran) = (0, 0);
    for run in 0..3000 {
        let xlen = if random.bool() { Xlen::Rv32 } else { Xlen::Rv64 };
        let code: Vec<_> = (0..64).map(|_| ("random", word(&mut random))).collect();
        let user = run % 4 == 0;
        let mut bytes = elf(xlen, if user { 0x1_0000 } else { RAM }, &code);
        for _ in 0..random.usize(0..6) {
            // Mostly in the headers.
            let end = if random.bool() { 120 } else { bytes.len() };
            let at = random.usize(0..end);
            bytes[at] = random.choice([0, 1, 0x7f, 0x80, 0xff]).unwrap_or(0) ^ random.u8(0..4);
        }
        match random.u32(0..8) {
            0 => bytes.truncate(random.usize(0..bytes.len())),
            1 => bytes.iter_mut().skip(4).for_each(|byte| *byte = random.u8(..)),
            _ => {}
        }
        let environment = match user {
            true => Environment::Linux {
                arguments: vec![],
                variables: vec!["A=b".to_owned()],
                input: vec![],
                files: vec![],
            },
            false => Environment::Htif,
        };
        let memory = vec![Range { base: RAM, size: SIZE }];
        let mut hart = Hart::new(HartConfig { xlen, environment, memory, ..HartConfig::default() });
        if hart.load_elf(&bytes).is_ok() {
            loaded += 1;
            let exit = hart.run(200, &mut |_: &Step| ran += 1);
            assert!(user || !matches!(exit, Exit::Exited(_)));
        }
    }
    assert!(loaded > 500 && ran > 2000, "{loaded} {ran}");
}

//! A hart for testing instructions.

use hartrace_iss::{Exit, Hart, HartConfig, Range, Retire, Step, Trap, Xlen};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Memory: the tests run at [`CODE`], followed by the handlers of M and S mode.
pub(crate) const RAM: u64 = 0x8000_0000;
pub(crate) const CODE: u64 = RAM + 0x1000;
pub(crate) const M_HANDLER: u64 = RAM + 0x2000;
pub(crate) const S_HANDLER: u64 = RAM + 0x3000;
pub(crate) const DATA: u64 = RAM + 0x4000;
pub(crate) const SIZE: u64 = 0x10_0000;

/// Privilege levels.
pub(crate) const U: u8 = 0;
pub(crate) const S: u8 = 1;
pub(crate) const M: u8 = 3;

/// CSR numbers.
pub(crate) mod csr {
    pub(crate) const STVEC: u32 = 0x105;
    pub(crate) const SATP: u32 = 0x180;
    pub(crate) const MSTATUS: u32 = 0x300;
    pub(crate) const MEDELEG: u32 = 0x302;
    pub(crate) const MIDELEG: u32 = 0x303;
    pub(crate) const MIE: u32 = 0x304;
    pub(crate) const MTVEC: u32 = 0x305;
    pub(crate) const MEPC: u32 = 0x341;
    pub(crate) const MCAUSE: u32 = 0x342;
    pub(crate) const MTVAL: u32 = 0x343;
    pub(crate) const MIP: u32 = 0x344;
}

/// An instruction as text and as the assembler encodes it.
pub(crate) type Code = (&'static str, u32);

/// Stores the steps that it receives.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<Step>);

impl Retire for Log {
    const DETAIL: bool = true;

    fn retire(&mut self, step: &Step) {
        self.0.push(*step);
    }
}

pub(crate) struct Machine {
    pub(crate) hart: Hart,
    /// The steps of the last [`Machine::go`].
    pub(crate) steps: Vec<Step>,
}

impl Machine {
    pub(crate) fn new(xlen: Xlen) -> Self {
        Self::with(HartConfig { xlen, ..HartConfig::default() })
    }

    /// With `code` to run and its handlers set up.
    pub(crate) fn with(config: HartConfig) -> Self {
        let memory = vec![Range { base: RAM, size: SIZE }];
        let hart = Hart::new(HartConfig { memory, reset_pc: CODE, ..config });
        let mut machine = Self { hart, steps: Vec::new() };
        machine.set_csr(csr::MTVEC, M_HANDLER);
        machine.set_csr(csr::STVEC, S_HANDLER);
        machine
    }

    /// Writes instructions to memory.
    pub(crate) fn place(&mut self, mut at: u64, code: &[Code]) {
        for (text, word) in code {
            let size = if word & 3 == 3 { 4 } else { 2 };
            assert!(self.hart.write_memory(at, &word.to_le_bytes()[..size]), "{text}");
            at += size as u64;
        }
    }

    /// Executes one instruction at a separate address, and continues at the previous one.
    fn aside(&mut self, word: u32) {
        let pc = self.hart.registers().pc;
        self.hart.write_memory(RAM, &word.to_le_bytes());
        self.hart.set_pc(RAM);
        self.hart.run(1, &mut |step: &Step| assert!(step.trap.is_none(), "{word:08x}: {step:x?}"));
        self.hart.set_pc(pc);
    }

    /// Writes a CSR that may be written at the current level.
    pub(crate) fn set_csr(&mut self, number: u32, value: u64) {
        let before = self.x(5);
        self.hart.set_register(5, value);
        self.aside(number << 20 | 5 << 15 | 1 << 12 | 0x73);
        self.hart.set_register(5, before);
    }

    pub(crate) fn csr(&mut self, number: u32) -> u64 {
        let before = self.x(5);
        self.aside(number << 20 | 2 << 12 | 5 << 7 | 0x73);
        let value = self.x(5);
        self.hart.set_register(5, before);
        value
    }

    /// Switches from M mode to `level`, with the other bits of `mstatus` as given.
    pub(crate) fn enter(&mut self, level: u8, mstatus: u64) {
        self.set_csr(csr::MSTATUS, u64::from(level) << 11 | mstatus);
        self.set_csr(csr::MEPC, CODE);
        self.hart.write_memory(RAM, &0x3020_0073_u32.to_le_bytes());
        self.hart.set_pc(RAM);
        self.hart.run(1, &mut |_: &Step| {});
        assert_eq!(self.hart.registers().privilege.0, level);
    }

    pub(crate) fn go(&mut self, limit: u64) -> Exit {
        let mut log = Log::default();
        let exit = self.hart.run(limit, &mut log);
        self.steps = log.0;
        exit
    }

    pub(crate) fn x(&self, number: usize) -> u64 {
        self.hart.registers().x[number]
    }

    pub(crate) fn pc(&self) -> u64 {
        self.hart.registers().pc
    }

    pub(crate) fn level(&self) -> u8 {
        self.hart.registers().privilege.0
    }

    /// The trap of the last step.
    pub(crate) fn trap(&self) -> Option<Trap> {
        self.steps.last().and_then(|step| step.trap)
    }

    pub(crate) fn load(&self, at: u64) -> u64 {
        let bytes = self.hart.read_memory(at, 8).expect("memory");
        u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
    }

    pub(crate) fn store(&mut self, at: u64, value: u64) {
        assert!(self.hart.write_memory(at, &value.to_le_bytes()));
    }
}

/// A console that stores what is printed.
#[derive(Clone, Default)]
pub(crate) struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("one thread")).into_owned()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// `a0` after one instruction on `a1` and `a2`; `None` if it traps.
pub(crate) fn result(xlen: Xlen, (text, word): Code, a: u64, b: u64) -> Option<u64> {
    let mut machine = Machine::new(xlen);
    machine.place(CODE, &[(text, word)]);
    machine.hart.set_register(11, a);
    machine.hart.set_register(12, b);
    machine.go(1);
    machine.trap().is_none().then(|| machine.x(10))
}

/// A program of one segment, at `address`.
pub(crate) fn elf(xlen: Xlen, address: u64, code: &[Code]) -> Vec<u8> {
    let code: Vec<u8> = code.iter().flat_map(|(_, word)| word.to_le_bytes()).collect();
    let wide = xlen == Xlen::Rv64;
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 1 + u8::from(wide), 1, 1];
    bytes.resize(16, 0);
    let mut put = |size: usize, value: u64| bytes.extend(&value.to_le_bytes()[..size]);
    let word = if wide { 8 } else { 4 };
    let (header, entry) = if wide { (64, 56) } else { (52, 32) };
    put(2, 2);
    put(2, 243);
    put(4, 1);
    put(word, address);
    put(word, header);
    put(word, 0);
    put(4, 0);
    [header, entry, 1, 0, 0, 0].into_iter().for_each(|value| put(2, value));
    let offset = header + entry;
    let size = code.len() as u64;
    put(4, 1);
    if wide {
        put(4, 5);
    }
    [offset, address, address, size, size].into_iter().for_each(|value| put(word, value));
    if !wide {
        put(4, 5);
    }
    put(word, 4096);
    bytes.extend(code);
    bytes
}

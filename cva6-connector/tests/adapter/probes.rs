//! The adapter at the probes of a current core: instructions are fetched, wait, are issued to the scoreboard, and
//! commit, as the core does it; what the adapter says of them is what their encodings say.

use fastrand::Rng;
use hartrace_cva6_connector::{Kind, PROBES};
use hartrace_isa::{Insn, Isa, Kind as Meaning, Xlen, decode};
use hartrace_verilate::{Design, Options, Simulation};
use libtest_mimic::Failed;
use std::collections::VecDeque;

/// Places of the scoreboard.
const PLACES: usize = 8;
/// Instructions that commit in a cycle at most.
const LANES: usize = 2;
/// A request of the debugger, and a breakpoint.
const DEBUG_REQUEST: u64 = 24;
const BREAKPOINT: u64 = 3;

/// An instruction on its way.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    word: u32,
    insn: Insn,
    pc: u64,
    rd: u8,
    rs1: u8,
    taken: bool,
    /// What is left to do before it can commit.
    unresolved: bool,
}

pub(crate) fn probes(xlen: Xlen, issues: usize) -> Result<(), Failed> {
    let design = [crate::PROBED]
        .into_iter()
        .chain(PROBES)
        .fold(Design::files("probed", [""; 0]), |design, (name, text)| design.text(name, text))
        .clock("clk_i")
        .reset("rst_ni", false)
        .argument("-Wall")
        .argument("-Wno-DECLFILENAME")
        .argument(&format!("-GIssues={issues}"));
    let design = if xlen == Xlen::Rv32 { design.argument("-DXLEN_32") } else { design };
    let mut sim = Simulation::build(&design, &Options::default())?;
    sim.reset()?;
    let mut core = Core {
        isa: Isa::new(xlen),
        rng: Rng::with_seed(issues as u64),
        fetched: VecDeque::new(),
        waiting: VecDeque::new(),
        board: VecDeque::new(),
        head: 0,
        before: None,
        loaded: None,
        seen: [0; 3],
    };
    for _ in 0..20_000 {
        core.cycle(&mut sim, issues)?;
    }
    // Nothing was compared if nothing retired.
    assert!(core.seen.iter().all(|seen| *seen > 200), "retired, sijumps, traps: {:?}", core.seen);
    Ok(())
}

struct Core {
    isa: Isa,
    rng: Rng,
    fetched: VecDeque<Instruction>,
    /// Decoded, not issued.
    waiting: VecDeque<Instruction>,
    /// Issued, from the oldest on, which is at place `head`.
    board: VecDeque<Instruction>,
    head: usize,
    /// What retired last, if nothing came between.
    before: Option<(Insn, u64)>,
    /// The register that the newest instruction loads with a constant.
    loaded: Option<u32>,
    /// Instructions, sequentially inferable jumps and traps that were compared.
    seen: [u32; 3],
}

impl Core {
    fn cycle(&mut self, sim: &mut Simulation, issues: usize) -> Result<(), Failed> {
        while self.fetched.len() < issues {
            let next = self.instruction();
            self.fetched.push_back(next);
        }
        let ready = self.board.iter().take(LANES).take_while(|entry| !entry.unresolved).count();
        let commits = self.rng.usize(..=ready);
        let drops = self.rng.u64(..4) & self.rng.u64(..4) & self.rng.u64(..4);
        let trap = commits == 0 && !self.board.is_empty() && self.rng.u8(..16) == 0;
        let flush = trap || self.rng.u8(..32) == 0;
        let debug = self.rng.u8(..32) == 0;
        let level = [0, 1, 3][self.rng.usize(..3)];
        let ebreak = self.rng.u64(..8);
        let top = self.isa.xlen.bits() - 1;
        let cause = [2, BREAKPOINT, DEBUG_REQUEST, 1 << top | 7][self.rng.usize(..4)];
        let tval = self.isa.xlen.wrap(self.rng.u64(..)) & ones(top + 1);
        let issued = self.rng.usize(..=self.waiting.len().min(PLACES - self.board.len()));
        let late: Vec<usize> =
            (0..self.board.len()).filter(|i| self.board[*i].unresolved).collect();
        let resolves = if self.rng.bool() { self.rng.choice(late) } else { None };

        let words =
            |all: &VecDeque<Instruction>, part: &dyn Fn(&Instruction) -> u64, width: u32| {
                let lanes = all.iter().take(2).zip([0, width]);
                lanes.fold(0, |sum, (instruction, shift)| sum | part(instruction) << shift)
            };
        let place = |i: usize| ((self.head + i) % PLACES) as u64;
        let tail = self.board.len();
        let resolved = resolves.map_or((0, 0), |i| (place(i), u64::from(self.board[i].taken)));
        for (name, value) in [
            ("issue_pointer_i", place(tail) | place(tail + 1) << 3),
            ("commit_pointer_i", place(0) | place(1) << 3),
            ("decoded_i", ones(self.waiting.len() as u32)),
            ("issued_i", ones(issued as u32)),
            ("instruction_i", words(&self.fetched, &|i| i.word.into(), 32)),
            ("is_compressed_i", words(&self.fetched, &|i| (i.insn.size == 2).into(), 1)),
            ("op_i", words(&self.board, &|i| operation(i.insn), 8)),
            ("instr_rs1_i", words(&self.board, &|i| i.rs1.into(), 5)),
            ("instr_rd_i", words(&self.board, &|i| i.rd.into(), 5)),
            ("ack_i", ones(commits as u32)),
            ("drop_i", drops),
            ("ex_i", trap.into()),
            ("ex_cause_i", cause),
            ("ex_tval_i", tval),
            ("level_i", level),
            ("debug_mode_i", debug.into()),
            ("ebreak_i", ebreak),
            ("branch_i", resolves.is_some().into()),
            ("branch_id_i", resolved.0),
            ("branch_taken_i", resolved.1),
        ] {
            let input = sim.input(name)?;
            sim.set(input, value);
        }
        let pcs = self.board.iter().take(2).zip([0, 39]);
        let pcs = pcs.fold(0_u128, |sum, (i, shift)| sum | u128::from(i.pc & ones(39)) << shift);
        sim.set_wide(sim.input("instr_pc_i")?, &[pcs as u64, (pcs >> 64) as u64]);
        sim.settle()?;

        let get = |name: &str| Ok::<u64, Failed>(sim.get(sim.output(name)?));
        let retire = ones(commits as u32) & !drops;
        assert_eq!(get("valid_o")?, retire, "valid_o");
        let wanted = ebreak >> [0, 1, 0, 2][level as usize] & 1 == 1;
        let enters = cause == DEBUG_REQUEST || cause == BREAKPOINT && wanted;
        assert_eq!(get("trap_o")? == 1, trap && !enters, "trap_o");
        let same =
            [("cause_o", cause), ("tval_o", tval), ("priv_o", level), ("debug_o", debug.into())];
        for (name, value) in same {
            assert_eq!(get(name)?, value, "{name}");
        }
        assert_eq!(get("interrupt_o")?, cause >> top, "interrupt_o");
        if trap {
            assert_eq!(get("trap_pc_o")?, self.board[0].pc, "trap_pc_o");
            self.seen[2] += 1;
        }
        for (i, entry) in self.board.iter().take(LANES).enumerate() {
            if retire >> i & 1 == 0 {
                continue;
            }
            let lane = |name: &str, width: usize| {
                Ok::<u64, Failed>(get(name)? >> (i * width) & ones(width as u32))
            };
            let pc = sim.get_bits(sim.output("pc_o")?);
            let width = self.isa.xlen.bits();
            assert_eq!(pc.slice(i as u32 * width, width).to_u128(), Some(entry.pc.into()), "pc_o");
            assert_eq!(lane("compressed_o", 1)? == 1, entry.insn.size == 2, "{entry:?}");
            assert_eq!(lane("kind_o", 3)?, kind(entry.insn) as u64, "{entry:?}");
            assert_eq!(lane("rd_o", 5)?, u64::from(entry.rd), "{entry:?}");
            assert_eq!(lane("rs1_o", 5)?, u64::from(entry.rs1), "{entry:?}");
            if entry.insn.is_branch() {
                assert_eq!(lane("taken_o", 1)? == 1, entry.taken, "{entry:?}");
            }
            let sequential = self
                .before
                .and_then(|(before, pc)| entry.insn.sequential_target(self.isa.xlen, before, pc));
            assert_eq!(lane("sijump_o", 1)? == 1, sequential.is_some(), "{entry:?}");
            self.before = Some((entry.insn, entry.pc));
            self.seen[0] += 1;
            self.seen[1] += u32::from(sequential.is_some());
        }
        sim.clock()?;

        if let Some(i) = resolves {
            self.board[i].unresolved = false;
        }
        self.board.drain(..commits);
        self.head = (self.head + commits) % PLACES;
        let issued = self.waiting.drain(..issued);
        if flush {
            drop(issued);
            self.waiting.clear();
            self.fetched.clear();
        } else {
            self.board.extend(issued);
            let room = self.rng.usize(..=issues - self.waiting.len());
            self.waiting.extend(self.fetched.drain(..room));
        }
        if trap {
            self.board.clear();
            self.head = 0;
        }
        if trap || debug {
            self.before = None;
        }
        Ok(())
    }

    /// Anything that the adapter has to tell apart, with few registers.
    fn instruction(&mut self) -> Instruction {
        let rng = &mut self.rng;
        let register = |rng: &mut Rng| [0_u32, 1, 2, 5, 6][rng.usize(..5)];
        let (rd, mut rs1) = (register(rng), register(rng));
        let immediate = rng.u32(..) & 0xffff_f000;
        // Of compressed instructions, the higher half is what follows them.
        let other = rng.u32(..) << 16;
        let mut form = rng.u8(..14);
        if let Some(loaded) = self.loaded.take().filter(|_| rng.bool()) {
            (form, rs1) = ([3, 12][rng.usize(..2)], loaded);
        }
        let (word, uses) = match form {
            0 | 1 => (immediate | rd << 7 | 0x37, (rd, 0)), // lui
            2 => (immediate | rd << 7 | 0x17, (rd, 0)),     // auipc
            3 | 4 => (immediate & 0xfff0_0000 | rs1 << 15 | rd << 7 | 0x67, (rd, rs1)), // jalr
            5 => (immediate | rd << 7 | 0x6f, (rd, 0)),     // jal
            6 => (immediate & 0xfe00_0000 | rs1 << 15 | 0x63, (0, rs1)), // beq
            7 => (immediate & 0xfff0_0000 | rs1 << 15 | rd << 7 | 0x13, (rd, rs1)), // addi
            8 => (0x3020_0073, (0, 0)),                     // mret
            9 | 10 => (other | rd << 7 | 0x6005, (rd, 0)),  // c.lui, c.addi16sp
            11 => (other | 0xa001, (0, 0)),                 // c.j
            12 => (other | 0x8002 | rs1.max(1) << 7 | u32::from(rng.bool()) << 12, (1, rs1.max(1))), // c.jr, c.jalr
            _ => (other | 0x2001 | rd.max(1) << 7, (rd.max(1), rd.max(1))), // c.jal, c.addiw
        };
        self.loaded = matches!(form, 0 | 1 | 2 | 9 | 10).then_some(rd);
        // In a compressed jump, the register of the return address is not a field.
        let rd = if form == 12 { word >> 12 & 1 } else { uses.0 };
        let low = if word & 3 == 3 { word } else { word & 0xffff };
        let insn = decode(self.isa, low).unwrap_or(Insn { size: 2, kind: Meaning::Plain });
        // Addresses of 39 bits, of which the highest is that of all above it.
        let address = (rng.u64(..) << 25) as i64 >> 25;
        Instruction {
            word,
            insn,
            pc: if self.isa.xlen == Xlen::Rv32 {
                address as u64 & ones(32)
            } else {
                address as u64
            },
            rd: rd as u8,
            rs1: uses.1 as u8,
            taken: rng.bool(),
            unresolved: insn.is_branch(),
        }
    }
}

/// The lowest bits.
fn ones(bits: u32) -> u64 {
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The kind that the neutral port has.
fn kind(insn: Insn) -> Kind {
    match insn.kind {
        Meaning::Branch { .. } => Kind::Branch,
        Meaning::Jump { .. } => Kind::DirectJump,
        Meaning::IndirectJump { .. } | Meaning::AbsoluteJump { .. } => Kind::IndirectJump,
        Meaning::TrapReturn => Kind::TrapReturn,
        _ => Kind::Plain,
    }
}

/// The number that the core has for the operation.
fn operation(insn: Insn) -> u64 {
    match kind(insn) {
        Kind::Branch => 17,
        Kind::IndirectJump => 19,
        Kind::TrapReturn => 23,
        Kind::Plain | Kind::DirectJump => 0,
    }
}

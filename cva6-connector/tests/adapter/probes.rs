//! The adapter at the probes of a current core. Instructions are fetched, wait, are issued to the
//! scoreboard, and commit, as in the core; the adapter must report what their encodings mean.

use fastrand::Rng;
use hartrace_cva6_connector::Kind;
use hartrace_hdl_tools::verilate::{Options, Simulation};
use hartrace_isa::{Insn, Isa, Kind as Meaning, Xlen, decode};
use libtest_mimic::Failed;
use std::collections::VecDeque;

/// Places of the scoreboard.
const PLACES: usize = 8;
/// Maximum number of instructions that commit in a cycle.
const LANES: usize = 2;
/// A request of the debugger, and a breakpoint.
const DEBUG_REQUEST: u64 = 24;
const BREAKPOINT: u64 = 3;

/// An instruction in the pipeline.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    word: u32,
    insn: Insn,
    pc: u64,
    rd: u8,
    rs1: u8,
    taken: bool,
    /// Whether something remains to be done before it can commit.
    unresolved: bool,
}

/// `root` has the context be the root of the table of pages.
pub(crate) fn probes(xlen: Xlen, issues: usize, root: bool) -> Result<(), Failed> {
    let design = crate::design("probed", &crate::probed()).argument(&format!("-GIssues={issues}"));
    let design = design.argument(&format!("-GContextIsRoot=1'b{}", u8::from(root)));
    let design = if xlen == Xlen::Rv32 { design.argument("-DXLEN_32") } else { design };
    let mut sim = Simulation::build(&design, &Options::default())?;
    sim.reset()?;
    let mut core = Core {
        isa: Isa::new(xlen),
        root,
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
    // If nothing retired, nothing was compared.
    assert!(core.seen.iter().all(|seen| *seen > 200), "retired, sijumps, traps: {:?}", core.seen);
    Ok(())
}

/// What does not fit, or cannot be traced, is refused when the design is elaborated, and named.
pub(crate) fn refused() -> Result<(), Failed> {
    for (parameter, named) in [
        ("PlaceBits=4", "rvfi_probes_t has other widths"),
        ("Lanes=1", "more commit ports"),
        ("Xlen=32", "another XLEN"),
        ("Zcmp=1", "RVZCMP"),
        ("Zcmt=1", "RVZCMT"),
        ("Hypervisor=1", "RVH"),
        ("LoadData=1", "SdtrigMcontrol6LoadData"),
    ] {
        // Other widths give warnings, too, before this error.
        let design = crate::design("probed", &crate::probed())
            .argument(&format!("-G{parameter}"))
            .argument("-Wno-lint")
            .argument("-Wno-WIDTHCONCAT")
            .argument("-Werror-USERERROR");
        match Simulation::build(&design, &Options::default()) {
            Err(error) if error.to_string().contains(named) => {}
            other => return Err(format!("{parameter}: {other:?}").into()),
        }
    }
    Ok(())
}

/// Where the mode of translation is in `satp`.
fn mode(xlen: u32) -> u32 {
    if xlen == 32 { 31 } else { 60 }
}

/// The events of a cycle.
struct Turn {
    /// Instructions that leave the scoreboard.
    commits: usize,
    acknowledged: u64,
    drops: u64,
    trap: bool,
    /// Whether instructions that have not been issued are lost.
    flush: bool,
    debug: bool,
    level: u64,
    /// Levels whose breakpoints enter debug mode, starting with the lowest.
    ebreak: u64,
    cause: u64,
    tval: u64,
    satp: u64,
    issued: usize,
    /// The branch whose outcome becomes known.
    resolves: Option<usize>,
}

struct Core {
    isa: Isa,
    /// The context is the root of the table of pages.
    root: bool,
    rng: Rng,
    fetched: VecDeque<Instruction>,
    /// Decoded, not issued.
    waiting: VecDeque<Instruction>,
    /// Issued, starting with the oldest, which is at place `head`.
    board: VecDeque<Instruction>,
    head: usize,
    /// The last instruction that retired, if nothing came in between.
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
        let turn = self.turn();
        self.drive(sim, &turn)?;
        sim.settle()?;
        self.compare(sim, &turn)?;
        sim.clock()?;
        self.advance(&turn, issues);
        Ok(())
    }

    /// Chooses the events of this cycle.
    fn turn(&mut self) -> Turn {
        let rng = &mut self.rng;
        let ready = self.board.iter().take(LANES).take_while(|entry| !entry.unresolved).count();
        let commits = rng.usize(..=ready);
        let trap = commits == 0 && !self.board.is_empty() && rng.u8(..16) == 0;
        let late = (0..self.board.len()).filter(|i| self.board[*i].unresolved);
        let late: Vec<usize> = late.collect();
        let bits = self.isa.xlen.bits();
        Turn {
            commits,
            // With a trap, nothing retires, whatever the other signals are.
            acknowledged: if trap { rng.u64(..4) } else { ones(commits as u32) },
            drops: rng.u64(..4) & rng.u64(..4) & rng.u64(..4),
            trap,
            flush: trap || rng.u8(..32) == 0,
            debug: rng.u8(..32) == 0,
            level: [0, 1, 3][rng.usize(..3)],
            ebreak: rng.u64(..8),
            cause: [2, BREAKPOINT, DEBUG_REQUEST, 1 << (bits - 1) | 7][rng.usize(..4)],
            tval: rng.u64(..) & ones(bits),
            // Often without translation.
            satp: rng.u64(..) & ones(if rng.bool() { bits } else { mode(bits) }),
            issued: rng.usize(..=self.waiting.len().min(PLACES - self.board.len())),
            resolves: if rng.bool() { rng.choice(late) } else { None },
        }
    }

    fn drive(&self, sim: &mut Simulation, turn: &Turn) -> Result<(), Failed> {
        let words =
            |all: &VecDeque<Instruction>, part: &dyn Fn(&Instruction) -> u64, width: u32| {
                let lanes = all.iter().take(2).zip([0, width]);
                lanes.fold(0, |sum, (instruction, shift)| sum | part(instruction) << shift)
            };
        let place = |i: usize| ((self.head + i) % PLACES) as u64;
        let tail = self.board.len();
        let resolved = turn.resolves.map_or((0, 0), |i| (place(i), self.board[i].taken.into()));
        for (name, value) in [
            ("issue_pointer_i", place(tail) | place(tail + 1) << 3),
            ("commit_pointer_i", place(0) | place(1) << 3),
            ("decoded_i", ones(self.waiting.len() as u32)),
            ("issued_i", ones(turn.issued as u32)),
            ("instruction_i", words(&self.fetched, &|i| i.word.into(), 32)),
            ("is_compressed_i", words(&self.fetched, &|i| (i.insn.size == 2).into(), 1)),
            ("op_i", words(&self.board, &|i| operation(i.insn), 8)),
            ("instr_rs1_i", words(&self.board, &|i| i.rs1.into(), 5)),
            ("instr_rd_i", words(&self.board, &|i| i.rd.into(), 5)),
            ("ack_i", turn.acknowledged),
            ("drop_i", turn.drops),
            ("ex_i", turn.trap.into()),
            ("ex_cause_i", turn.cause),
            ("ex_tval_i", turn.tval),
            ("satp_i", turn.satp),
            ("level_i", turn.level),
            ("debug_mode_i", turn.debug.into()),
            ("ebreak_i", turn.ebreak),
            ("branch_i", turn.resolves.is_some().into()),
            ("branch_id_i", resolved.0),
            ("branch_taken_i", resolved.1),
        ] {
            let input = sim.input(name)?;
            sim.set(input, value);
        }
        let pcs = self.board.iter().take(2).zip([0, 39]);
        let pcs = pcs.fold(0_u128, |sum, (i, shift)| sum | u128::from(i.pc & ones(39)) << shift);
        sim.set_wide(sim.input("instr_pc_i")?, &[pcs as u64, (pcs >> 64) as u64]);
        Ok(())
    }

    fn compare(&mut self, sim: &Simulation, turn: &Turn) -> Result<(), Failed> {
        let get = |name: &str| Ok::<u64, Failed>(sim.get(sim.output(name)?));
        let width = self.isa.xlen.bits();
        let retire = ones(turn.commits as u32) & !turn.drops;
        let wanted = turn.ebreak >> [0, 1, 0, 2][turn.level as usize] & 1 == 1;
        let enters = turn.cause == DEBUG_REQUEST || turn.cause == BREAKPOINT && wanted;
        let (root, asid) = match width {
            32 => (turn.satp & 0x3f_ffff, turn.satp >> 22 & 0x1ff),
            _ => (turn.satp & 0xfff_ffff_ffff, turn.satp >> 44 & 0xffff),
        };
        let context = match (turn.satp >> mode(width), self.root) {
            (0, _) => 0,
            (_, true) => root,
            (_, false) => asid,
        };
        for (name, value) in [
            ("valid_o", retire),
            ("trap_o", (turn.trap && !enters).into()),
            ("interrupt_o", turn.cause >> (width - 1)),
            ("cause_o", turn.cause),
            ("tval_o", turn.tval),
            ("priv_o", turn.level),
            ("context_o", context),
            ("debug_o", turn.debug.into()),
        ] {
            assert_eq!(get(name)?, value, "{name}");
        }
        if turn.trap {
            assert_eq!(get("trap_pc_o")?, self.board[0].pc, "trap_pc_o");
            self.seen[2] += 1;
        }
        let pcs = sim.get_bits(sim.output("pc_o")?);
        for (i, entry) in (0..LANES as u32).zip(&self.board).filter(|(i, _)| retire >> i & 1 == 1) {
            let lane =
                |name: &str, width: u32| Ok::<u64, Failed>(get(name)? >> (i * width) & ones(width));
            let sequential = self
                .before
                .and_then(|(before, pc)| entry.insn.sequential_target(self.isa.xlen, before, pc));
            let pc = pcs.slice(i * width, width).to_u128();
            assert_eq!(pc, Some(entry.pc.into()), "{entry:?}");
            for (name, width, value) in [
                ("compressed_o", 1, (entry.insn.size == 2).into()),
                ("kind_o", 3, kind(entry.insn) as u64),
                ("rd_o", 5, entry.rd.into()),
                ("rs1_o", 5, entry.rs1.into()),
                ("sijump_o", 1, sequential.is_some().into()),
            ] {
                assert_eq!(lane(name, width)?, value, "{name}: {entry:?}");
            }
            if entry.insn.is_branch() {
                assert_eq!(lane("taken_o", 1)? == 1, entry.taken, "{entry:?}");
            }
            self.before = Some((entry.insn, entry.pc));
            self.seen[0] += 1;
            self.seen[1] += u32::from(sequential.is_some());
        }
        Ok(())
    }

    fn advance(&mut self, turn: &Turn, issues: usize) {
        if let Some(i) = turn.resolves {
            self.board[i].unresolved = false;
        }
        self.board.drain(..turn.commits);
        self.head = (self.head + turn.commits) % PLACES;
        let issued = self.waiting.drain(..turn.issued);
        if turn.flush {
            drop(issued);
            self.waiting.clear();
            self.fetched.clear();
        } else {
            self.board.extend(issued);
            let room = self.rng.usize(..=issues - self.waiting.len());
            self.waiting.extend(self.fetched.drain(..room));
        }
        if turn.trap {
            self.board.clear();
            self.head = 0;
        }
        if turn.trap || turn.debug {
            self.before = None;
        }
    }

    /// Any instruction that the adapter must distinguish, with few registers.
    fn instruction(&mut self) -> Instruction {
        let rng = &mut self.rng;
        let register = |rng: &mut Rng| [0_u32, 1, 2, 5, 6][rng.usize(..5)];
        let (rd, mut rs1) = (register(rng), register(rng));
        let immediate = rng.u32(..) & 0xffff_f000;
        // The higher half of a compressed instruction is the start of the next one.
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
        // Addresses of 39 bits, sign-extended.
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

/// The kind at the neutral port.
fn kind(insn: Insn) -> Kind {
    match insn.kind {
        Meaning::Branch { .. } => Kind::Branch,
        Meaning::Jump { .. } => Kind::DirectJump,
        Meaning::IndirectJump { .. } | Meaning::AbsoluteJump { .. } => Kind::IndirectJump,
        Meaning::TrapReturn => Kind::TrapReturn,
        _ => Kind::Plain,
    }
}

/// The core's number for the operation.
fn operation(insn: Insn) -> u64 {
    match kind(insn) {
        Kind::Branch => 17,
        Kind::IndirectJump => 19,
        Kind::TrapReturn => 23,
        Kind::Plain | Kind::DirectJump => 0,
    }
}

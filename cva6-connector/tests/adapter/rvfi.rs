//! The adapter for RVFI, with the connector behind it: what a hart reports in random cycles has to reach the encoder
//! as what its instructions mean, in their order.

use fastrand::Rng;
use hartrace_cva6_connector::{Config, Interface, Retirement, sources};
use hartrace_hdl_tools::verilate::{Options, Simulation};
use hartrace_isa::{Insn, Isa, Kind as Meaning, Xlen, decode};
use libtest_mimic::Failed;

/// An instruction, as RVFI reports it.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    insn: u32,
    trap: bool,
    halt: bool,
    intr: bool,
    mode: u8,
    pc: u64,
    next: u64,
}

/// One clock cycle of RVFI.
#[derive(Clone, Debug)]
struct Cycle {
    lanes: Vec<Option<Report>>,
    cause: u64,
    tval: u64,
    debug: bool,
}

/// What the encoder has to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Retires { pc: u64, size: u8, itype: u8, mode: u8, sijump: bool },
    Traps { interrupt: bool, pc: u64, cause: u64, tval: u64, mode: u8 },
    Halts,
}

const EXCEPTION: u64 = 1;
const INTERRUPT: u64 = 2;

pub(crate) fn random(xlen: Xlen, lanes: usize) -> Result<(), Failed> {
    let mut sim = build(xlen, lanes)?;
    sim.reset()?;
    let mut hart = Hart::new(xlen, lanes);
    let mut found = Vec::new();
    for _ in 0..20_000 {
        let cycle = hart.cycle();
        step(&mut sim, xlen, &cycle, &mut found)?;
        assert_eq!(sim.get(sim.output("lost_o")?), 0, "{cycle:?}");
    }
    let last = hart.last();
    for cycle in [last, hart.quiet(), hart.quiet(), hart.quiet()] {
        step(&mut sim, xlen, &cycle, &mut found)?;
    }
    let differ = found.iter().zip(&hart.expected).position(|(a, b)| a != b);
    let at = differ.unwrap_or(found.len().min(hart.expected.len()));
    let near = |events: &[Event]| {
        format!("{:x?}", &events[at.min(events.len())..][..1.min(events.len() - at)])
    };
    assert!(
        differ.is_none() && found.len() == hart.expected.len(),
        "event {at} of {}, expected {}: {}, expected {}",
        found.len(),
        hart.expected.len(),
        near(&found),
        near(&hart.expected),
    );
    // If something never happened, it was not compared.
    let count = |of: &dyn Fn(&Event) -> bool| found.iter().filter(|event| of(event)).count();
    let seen = [
        count(&|event| matches!(event, Event::Retires { size: 2, .. })),
        count(&|event| matches!(event, Event::Retires { size: 4, .. })),
        count(&|event| matches!(event, Event::Retires { sijump: true, .. })),
        count(&|event| matches!(event, Event::Traps { interrupt: true, .. })),
        count(&|event| matches!(event, Event::Traps { interrupt: false, .. })),
        count(&|event| matches!(event, Event::Halts)),
    ];
    assert!(seen.iter().all(|seen| *seen > 40), "too few to tell: {seen:?}");
    let itypes = [0, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
    for code in itypes {
        let of = |event: &Event| matches!(event, Event::Retires { itype, .. } if *itype == code);
        assert!(count(&of) > 20, "itype {code}: too few to tell");
    }
    Ok(())
}

/// What a hart must not do is reported, in the cycle that it does it.
pub(crate) fn lost() -> Result<(), Failed> {
    let nop = Report { insn: 0x13, mode: 3, pc: 0x100, next: 0x104, ..Report::default() };
    let handler = Report { intr: true, pc: 0x200, next: 0x204, ..nop };
    let (traps, user) = (Report { trap: true, ..nop }, Report { mode: 0, ..nop });
    let none = [None, None];
    // The lanes of two cycles, whether debug mode ends between them, and whether something is lost.
    for (first, second, debug, lost) in [
        ([Some(nop), None], [Some(handler), Some(nop)], false, 0),
        ([Some(nop), Some(nop)], [None, Some(handler)], false, 1),
        ([Some(nop), Some(nop)], none, false, 0),
        ([Some(nop), Some(traps)], [Some(handler), None], false, 0),
        (none, [Some(nop), Some(handler)], false, 1),
        (none, [Some(traps), Some(nop)], false, 1),
        (none, [Some(nop), Some(user)], false, 1),
        (none, [Some(user), Some(user)], false, 0),
        (none, [Some(handler), None], true, 1),
        (none, [Some(handler), None], false, 0),
    ] {
        let mut sim = build(Xlen::Rv32, 2)?;
        sim.reset()?;
        let cycle = |lanes: &[Option<Report>], debug| Cycle {
            lanes: lanes.into(),
            cause: 0,
            tval: 0,
            debug,
        };
        step(&mut sim, Xlen::Rv32, &cycle(&first, debug), &mut Vec::new())?;
        step(&mut sim, Xlen::Rv32, &cycle(&second, false), &mut Vec::new())?;
        assert_eq!(sim.get(sim.output("lost_o")?), lost, "{first:?} {second:?} {debug}");
    }
    Ok(())
}

/// The files of the adapter, without the ends of their names.
pub(crate) fn adapter(config: &Config) -> Vec<(String, String)> {
    Interface::Rvfi.adapter(config).into_iter().map(stem).collect()
}

fn stem((name, text): (String, String)) -> (String, String) {
    (name.trim_end_matches(".sv").to_owned(), text)
}

/// The adapter and a connector in the module around them.
fn build(xlen: Xlen, lanes: usize) -> Result<Simulation, Failed> {
    // Blocks of one instruction show what becomes of each.
    let config = Config {
        lanes: lanes as u8,
        xlen: xlen.bits() as u8,
        sijump: true,
        retirement: Retirement::Single,
        ..Config::default()
    };
    let mut texts = adapter(&config);
    texts.extend(sources(&config)?.into_iter().map(stem));
    texts.push(("rvfi_connected".to_owned(), include_str!("rvfi.sv").to_owned()));
    let design = crate::design("rvfi_connected", &texts)
        .argument(&format!("-GLanes={lanes}"))
        .argument(&format!("-GXlen={}", xlen.bits()));
    Ok(Simulation::build(&design, &Options::default())?)
}

/// Drives a cycle, and adds what comes out in it. The outputs are then those before its edge.
fn step(
    sim: &mut Simulation,
    xlen: Xlen,
    cycle: &Cycle,
    found: &mut Vec<Event>,
) -> Result<(), Failed> {
    let lanes = |width: u32, of: &dyn Fn(&Report) -> u64| {
        let mut words = vec![0; 2];
        for (i, lane) in (0..).zip(&cycle.lanes) {
            // Signals of a lane without an instruction have no meaning.
            let value = lane.as_ref().map_or(u64::MAX >> (64 - width), of);
            words[(i * width) as usize / 64] |= value << (i * width % 64);
        }
        words
    };
    let mut valid = 0;
    for (i, lane) in cycle.lanes.iter().enumerate() {
        valid |= u64::from(lane.is_some()) << i;
    }
    for (name, words) in [
        ("rvfi_valid_i", vec![valid]),
        ("rvfi_insn_i", lanes(32, &|report| report.insn.into())),
        ("rvfi_trap_i", lanes(1, &|report| report.trap.into())),
        ("rvfi_halt_i", lanes(1, &|report| report.halt.into())),
        ("rvfi_intr_i", lanes(1, &|report| report.intr.into())),
        ("rvfi_mode_i", lanes(2, &|report| report.mode.into())),
        ("rvfi_pc_rdata_i", lanes(xlen.bits(), &|report| report.pc)),
        ("rvfi_pc_wdata_i", lanes(xlen.bits(), &|report| report.next)),
        ("cause_i", vec![cycle.cause]),
        ("tval_i", vec![cycle.tval]),
        ("debug_i", vec![cycle.debug.into()]),
    ] {
        let input = sim.input(name)?;
        sim.set_wide(input, &words);
    }
    let halted_before = sim.get(sim.output("halted_o")?);
    sim.step()?;
    let get = |name: &str| Ok::<u64, Failed>(sim.get(sim.output(name)?));
    let mode = get("priv_o")? as u8;
    let iaddr = sim.get_bits(sim.output("iaddr_o")?);
    for i in 0..cycle.lanes.len() as u32 {
        let (itype, iretire) = (get("itype_o")? >> (i * 4) & 15, get("iretire_o")? >> (i * 5) & 31);
        let pc = iaddr.slice(i * xlen.bits(), xlen.bits()).to_u128().unwrap_or_default() as u64;
        if iretire > 0 {
            assert_eq!(iretire * 2, 2 + 2 * (get("ilastsize_o")? >> i & 1), "one instruction");
            let sijump = get("sijump_o")? >> i & 1 == 1;
            found.push(Event::Retires {
                pc,
                size: iretire as u8 * 2,
                itype: itype as u8,
                mode,
                sijump,
            });
        } else if itype == EXCEPTION || itype == INTERRUPT {
            let (cause, tval) = (get("cause_o")?, get("tval_o")?);
            found.push(Event::Traps { interrupt: itype == INTERRUPT, pc, cause, tval, mode });
        }
    }
    if get("halted_o")? == 1 && halted_before == 0 {
        found.push(Event::Halts);
    }
    Ok(())
}

/// A hart that executes at random, with what it reports and what the encoder has to see.
struct Hart {
    isa: Isa,
    lanes: usize,
    rng: Rng,
    pc: u64,
    mode: u8,
    /// The trap whose handler has not started yet: whether it is an interrupt, and what did not retire.
    trap: Option<(bool, u64)>,
    /// The mode of the newest report.
    reported: u8,
    /// The newest instruction that retired, if nothing came in between.
    before: Option<(Insn, u64)>,
    /// Instructions that retired in the cycle before, and whether it was in debug mode.
    retired: usize,
    debug: bool,
    expected: Vec<Event>,
}

impl Hart {
    fn new(xlen: Xlen, lanes: usize) -> Self {
        Self {
            isa: Isa::new(xlen),
            lanes,
            rng: Rng::with_seed(lanes as u64),
            pc: 0x8000_0000,
            mode: 3,
            trap: None,
            reported: 3,
            before: None,
            retired: 0,
            debug: false,
            expected: Vec::new(),
        }
    }

    /// A cycle without instructions.
    fn quiet(&mut self) -> Cycle {
        let bits = self.isa.xlen.bits();
        let value = |rng: &mut Rng| rng.u64(..) >> (64 - bits);
        let (cause, tval) = (value(&mut self.rng), value(&mut self.rng));
        Cycle { lanes: vec![None; self.lanes], cause, tval, debug: false }
    }

    fn cycle(&mut self) -> Cycle {
        let mut cycle = self.quiet();
        let was_debug = self.debug;
        self.debug = match (was_debug, self.trap) {
            (false, None) => self.rng.u8(..64) == 0,
            (debug, _) => debug && self.rng.u8(..8) != 0,
        };
        cycle.debug = self.debug;
        if self.debug {
            if !was_debug {
                self.expected.push(Event::Halts);
                self.before = None;
            }
            // Instructions of debug mode lead back to where it was entered, and their traps are its own.
            if self.rng.bool() {
                let (insn, trap) = (self.rng.u32(..), self.rng.bool());
                let report =
                    Report { insn, trap, mode: 3, pc: 0x800, next: self.pc, ..Report::default() };
                cycle.lanes[0] = Some(report);
                self.reported = 3;
            }
            self.retired = 0;
            return cycle;
        }
        if self.trap.is_none() && self.rng.u8(..40) == 0 {
            self.trap = Some((true, self.pc));
        }
        // A handler starts where there is room for its trap.
        if self.trap.is_some() && (self.retired == self.lanes || was_debug) {
            self.retired = 0;
            return cycle;
        }
        self.retired = 0;
        for lane in 0..self.lanes {
            // After the first instruction of a cycle no handler starts, and no mode changes.
            let started = cycle.lanes.iter().any(Option::is_some);
            let must_wait = self.trap.is_some() || self.mode != self.reported;
            if self.rng.u8(..3) == 0 || started && must_wait {
                continue;
            }
            let report = self.instruction(cycle.cause, cycle.tval);
            self.retired += usize::from(!report.trap);
            cycle.lanes[lane] = Some(report);
        }
        cycle
    }

    /// The instruction after which the hart halts.
    fn last(&mut self) -> Cycle {
        self.trap = None;
        self.mode = self.reported;
        let mut cycle = self.quiet();
        let report = Report {
            insn: 1,
            halt: true,
            mode: self.mode,
            pc: self.pc,
            next: self.pc + 2,
            ..Report::default()
        };
        self.expected.push(Event::Retires {
            pc: self.pc,
            size: 2,
            itype: 0,
            mode: self.mode,
            sijump: false,
        });
        self.expected.push(Event::Halts);
        cycle.lanes[0] = Some(report);
        cycle
    }

    /// Executes an instruction.
    fn instruction(&mut self, cause: u64, tval: u64) -> Report {
        let intr = self.trap.is_some();
        if let Some((interrupt, pc)) = self.trap.take() {
            // The encoder takes five bits of the cause, and no value of an interrupt.
            let tval = if interrupt { 0 } else { tval };
            let (cause, mode) = (cause & 31, self.reported);
            self.expected.push(Event::Traps { interrupt, pc, cause, tval, mode });
            self.pc = self.address();
            self.mode = [1, 3][self.rng.usize(..2)];
            self.before = None;
        }
        let (word, insn) = self.draw();
        let (pc, mode) = (self.pc, self.mode);
        self.reported = mode;
        let mut report = Report { insn: word, mode, pc, intr, ..Report::default() };
        if insn.kind == Meaning::EnvironmentTrap || reserved(word) || self.rng.u8(..24) == 0 {
            self.trap = Some((false, pc));
            report.trap = true;
            // Some cores report the handler, some what would have been next.
            report.next = self.address();
            // Not all cores mark what an exception leads to.
            return report;
        }
        let sequential = self.isa.xlen.wrap(pc.wrapping_add(insn.size.into()));
        let next = match insn.kind {
            Meaning::Branch { .. } if self.rng.bool() => {
                insn.target(self.isa.xlen, pc).unwrap_or(sequential)
            }
            Meaning::Jump { .. } | Meaning::AbsoluteJump { .. } => {
                insn.target(self.isa.xlen, pc).unwrap_or(sequential)
            }
            Meaning::IndirectJump { .. } => self.address(),
            Meaning::TrapReturn => {
                self.mode = [0, 1, 3][self.rng.usize(..3)];
                self.address()
            }
            _ => sequential,
        };
        let itype = insn.itype(next != sequential);
        let sijump = self.before.is_some_and(|(before, at)| {
            insn.sequential_target(self.isa.xlen, before, at).is_some()
        });
        self.expected.push(Event::Retires { pc, size: insn.size, itype, mode, sijump });
        self.before = Some((insn, pc));
        self.pc = next;
        Report { next, ..report }
    }

    fn address(&mut self) -> u64 {
        self.isa.xlen.wrap(self.rng.u64(..) & !1)
    }

    /// Any instruction: half of them those that lead elsewhere, or load what such a jump takes.
    fn draw(&mut self) -> (u32, Insn) {
        loop {
            let rng = &mut self.rng;
            let register = |rng: &mut Rng| [0_u32, 1, 5, 6][rng.usize(..4)];
            let (rd, rs1, any) = (register(rng), register(rng), rng.u32(..));
            let word = match rng.u8(..16) {
                0 => any & 0xffff_f000 | rd << 7 | 0x37,
                1 => any & 0xffff_f000 | rd << 7 | 0x17,
                2 | 3 => any & 0xfff0_0000 | rs1 << 15 | rd << 7 | 0x67,
                4 => any & 0xffff_f000 | rd << 7 | 0x6f,
                5 => any & !0x7f | 0x63,
                6 => [0x3020_0073, 0x1020_0073, 0x7020_0073, 0x0000_0073][rng.usize(..4)],
                // c.jr, c.jalr, c.lui, c.j, c.jal or c.addiw, c.beqz, each before any half-word.
                7 => any & 0xffff_1000 | rs1 << 7 | 0x8002,
                8 => any & 0xffff_107c | rd << 7 | 0x6001,
                9 => any & 0xffff_1ffc | 0xa001,
                10 => any & 0xffff_1ffc | 0x2001,
                11 => any & 0xffff_3ffc | 0xc001,
                _ => any,
            };
            if let Some(insn) = decode(self.isa, word) {
                return (word, insn);
            }
        }
    }
}

/// Whether there is no such branch, `jalr` or `c.lui`: it never retires, so that it does not matter what it looks like.
fn reserved(word: u32) -> bool {
    let funct = word >> 12 & 7;
    match word & 0x7f {
        0x63 => funct == 2 || funct == 3,
        0x67 => funct != 0,
        low => low & 3 == 1 && word & 0xf07c == 0x6000,
    }
}

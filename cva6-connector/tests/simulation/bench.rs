//! The connector in simulation.

use crate::model::{Event, Model};
use crate::stream::{Cycle, Hart, Instruction, Trap};
use fastrand::Rng;
use hartrace_cva6_connector::{Building, Config, Kind, connector};
use hartrace_etrace::ingress::{Block, CType, Flavour, IType, Privilege};
use hartrace_hdl_tools::verilate::{Options, SimError, Simulation};
use libtest_mimic::Failed;

/// Behaviour of the encoder and of the hart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The encoder stalls at times, and the hart waits with its commits when requested.
    Stalls,
    /// The encoder accepts everything, and the hart never waits.
    Runs,
}

/// What became of a cycle.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fate {
    Taken,
    /// What was committed in it is lost.
    Lost,
    /// There was no room for it, and nothing was committed in it.
    Nothing,
}

const CYCLES: usize = 6_000;

/// The output must equal what the model derives from the input, from the first to the last
/// instruction.
pub(crate) fn compare(config: &Config, drive: Drive) -> Result<(), Failed> {
    let config = &Config { holds: drive == Drive::Stalls, ..config.clone() };
    let mut bench = Bench::new(config)?;
    let mut lost = 0;
    for seed in 0..3 {
        let mut hart = Hart::new(config, seed);
        let mut cycles: Vec<Cycle> = (0..CYCLES).map(|_| hart.cycle()).collect();
        cycles.push(hart.quiet());
        let taken = bench.run(&cycles, drive, &mut hart.rng)?;
        lost += taken.iter().filter(|fate| **fate == Fate::Lost).count();
        let mut model = Model::new(config);
        for (cycle, fate) in cycles.iter().zip(&taken) {
            match fate {
                Fate::Taken => model.cycle(cycle),
                Fate::Lost => model.lose(),
                Fate::Nothing => {}
            }
        }
        assert_same(&bench.events, &model.events);
        let count = |of: fn(&Event) -> bool| model.events.iter().filter(|e| of(e)).count();
        let blocks = count(|e| matches!(e, Event::Block { .. }));
        let (halts, losses) = (count(|e| *e == Event::Halt), count(|e| *e == Event::Lost));
        let enough = blocks > 500 && halts > 20 && losses > 10;
        assert!(enough, "{blocks} blocks, {halts} halts, {losses} losses: too few to tell");
    }
    // This hart commits more than one instruction per cycle, so FIFOs overflow.
    let can_lose = config.building == Building::Serialised && config.lanes > 2;
    assert_eq!(lost > 0, can_lose && drive == Drive::Runs, "{lost} cycles lost");
    Ok(())
}

fn assert_same(found: &[Event], expected: &[Event]) {
    let differ = found.iter().zip(expected).position(|(a, b)| a != b);
    let at = differ.unwrap_or(found.len().min(expected.len()));
    let near = |events: &[Event]| {
        format!("{:#x?}", events.iter().skip(at.max(2) - 2).take(5).collect::<Vec<_>>())
    };
    assert!(
        differ.is_none() && found.len() == expected.len(),
        "event {at} of {} and {}:\n{}\nexpected\n{}",
        found.len(),
        expected.len(),
        near(found),
        near(expected),
    );
}

/// As many branches as lanes, and a trap: the hart must not do that, and the connector reports the
/// loss.
pub(crate) fn trap_without_room() -> Result<(), Failed> {
    let config = Config { lanes: 1, ..Config::default() };
    let branch = Instruction {
        pc: 0x100,
        encoding: 0x463,
        size: 4,
        kind: Kind::Branch,
        ..Instruction::default()
    };
    let trap = Trap { interrupt: false, cause: 2, tval: 7, pc: 0x104 };
    let broken =
        Cycle { lanes: vec![Some(branch)], trap: Some(trap), privilege: 3, ..Cycle::default() };
    let quiet = Cycle { lanes: vec![None], privilege: 3, ..Cycle::default() };
    let mut bench = Bench::new(&config)?;
    let lost_o = bench.sim.output("lost_o")?;
    let stall_i = bench.sim.input("stall_i")?;
    bench.sim.reset()?;
    bench.sim.set(stall_i, 0);
    let mut lost = Vec::new();
    for cycle in [&quiet, &broken, &quiet, &quiet, &quiet] {
        bench.drive(cycle)?;
        bench.sim.settle()?;
        bench.observe()?;
        lost.push(bench.sim.get(lost_o));
        bench.sim.clock()?;
    }
    assert_eq!(lost, [0, 0, 0, 1, 0], "behind what has room");
    let block = Event::Block {
        itype: IType::NotTaken,
        iaddr: 0x100,
        iretire: 2,
        wide: true,
        sijump: false,
        privilege: 3,
        context: 0,
    };
    assert_eq!(bench.events, [Event::Lost, block], "the rest is there");
    Ok(())
}

struct Bench<'a> {
    config: &'a Config,
    sim: Simulation,
    events: Vec<Event>,
}

impl<'a> Bench<'a> {
    fn new(config: &'a Config) -> Result<Self, Failed> {
        let sim = Simulation::build(&connector(config)?, &Options::default())?;
        Ok(Self { config, sim, events: Vec::new() })
    }

    /// Passes all cycles to the connector, and repeats the last until it is empty. Returns what became of them.
    fn run(
        &mut self,
        cycles: &[Cycle],
        drive: Drive,
        rng: &mut Rng,
    ) -> Result<Vec<Fate>, SimError> {
        self.events.clear();
        self.sim.reset()?;
        let stall_i = self.sim.input("stall_i")?;
        let (stall_o, empty_o) = (self.sim.output("stall_o")?, self.sim.output("empty_o")?);
        let (mut at, mut stalled, mut halts, mut fates) = (0, false, false, Vec::new());
        for _ in 0..cycles.len() * 8 {
            let last = cycles.len() - 1;
            let cycle = &cycles[at.min(last)];
            self.drive(cycle)?;
            stalled = drive == Drive::Stalls && rng.u8(..100) < if stalled { 60 } else { 10 };
            self.sim.set(stall_i, stalled.into());
            self.sim.settle()?;
            if !stalled {
                self.observe()?;
            }
            let waits = self.sim.get(stall_o) == 1;
            // Encoders switch it on again only once it is empty.
            let settles = cycle.off && self.sim.get(empty_o) == 0;
            if (!waits || drive == Drive::Runs) && !settles {
                if at <= last {
                    let counts = cycle.commits() || (cycle.halts() && !halts) || cycle.lost;
                    fates.push(match (waits, counts) {
                        (false, _) => Fate::Taken,
                        (true, true) => Fate::Lost,
                        (true, false) => Fate::Nothing,
                    });
                }
                at += 1;
                if !waits && !cycle.off {
                    halts = cycle.halts();
                }
            }
            // The rest of the last cycles may be in a register of the direct way.
            let idle = at > last + 4 && !stalled && self.sim.get(empty_o) == 1;
            self.sim.clock()?;
            if idle {
                return Ok(fates);
            }
        }
        panic!("cycle {at} of {}: it does not get empty", cycles.len());
    }

    fn drive(&mut self, cycle: &Cycle) -> Result<(), SimError> {
        let xlen = u32::from(self.config.xlen);
        let lanes = |width: u32, of: &dyn Fn(&Instruction) -> u64| {
            let mut words = vec![0; 5];
            for (i, lane) in (0..).zip(&cycle.lanes) {
                // Signals of a lane without an instruction have no meaning.
                let value = lane.as_ref().map_or(u64::MAX >> (64 - width), of);
                let at = i * width;
                words[at as usize / 64] |= value << (at % 64);
            }
            words
        };
        let one = |condition: bool| u64::from(condition);
        let trap = cycle.trap;
        let mut valid = lanes(1, &|_| 1);
        valid[0] = (0..).zip(&cycle.lanes).map(|(i, lane)| one(lane.is_some()) << i).sum();
        let ports = [
            ("valid_i", valid),
            ("pc_i", lanes(xlen, &|i| i.pc)),
            ("compressed_i", lanes(1, &|i| one(i.size == 2))),
            ("kind_i", lanes(3, &|i| i.kind as u64)),
            ("taken_i", lanes(1, &|i| one(i.taken))),
            ("rd_i", lanes(5, &|i| i.rd.into())),
            ("rs1_i", lanes(5, &|i| i.rs1.into())),
            ("sijump_i", lanes(1, &|i| one(i.sijump))),
            ("trap_i", vec![one(trap.is_some())]),
            ("interrupt_i", vec![one(trap.is_none_or(|trap| trap.interrupt))]),
            ("cause_i", vec![trap.map_or(5, |trap| trap.cause)]),
            ("tval_i", vec![trap.map_or(6, |trap| trap.tval)]),
            ("trap_pc_i", vec![trap.map_or(7, |trap| trap.pc)]),
            ("priv_i", vec![cycle.privilege.into()]),
            ("context_i", vec![cycle.context]),
            ("debug_i", vec![one(cycle.debug)]),
            ("halted_i", vec![one(cycle.halted)]),
            ("flush_i", vec![one(cycle.flush)]),
            ("lost_i", vec![one(cycle.lost)]),
            ("enable_i", vec![one(!cycle.off)]),
        ];
        for (name, words) in ports {
            let has = match name {
                "sijump_i" => self.config.sijump,
                "context_i" => self.config.context_width_p > 0,
                _ => true,
            };
            if !has {
                continue;
            }
            let input = self.sim.input(name)?;
            self.sim.set_wide(input, &words);
        }
        Ok(())
    }

    /// Reads what the encoder would read.
    fn observe(&mut self) -> Result<(), SimError> {
        let n = usize::from(blocks(self.config));
        let mut blocks = [Block::default(); 4];
        for (i, block) in blocks.iter_mut().enumerate().take(n) {
            let lane = |name: &str| self.lane(name, i);
            let itype = u8::try_from(lane("itype_o")?).expect("few bits");
            *block = Block {
                itype: IType::try_from(itype).expect("a code"),
                iaddr: lane("iaddr_o")?,
                iretire: u32::try_from(lane("iretire_o")?).expect("few bits"),
                ilastsize: u8::try_from(lane("ilastsize_o")?).expect("a bit"),
                sijump: self.config.sijump && lane("sijump_o")? == 1,
                notify: false,
            };
        }
        let value = |name: &str| Ok(self.sim.get(self.sim.output(name)?));
        let privilege = u8::try_from(value("priv_o")?).expect("few bits");
        let (context, ctype) = match self.config.context_width_p {
            0 => (0, CType::Unreported),
            _ => (value("context_o")?, CType::from_raw(value("ctype_o")? as u8)),
        };
        assert_eq!(ctype == CType::Precise, self.config.context_width_p > 0);
        let (cause, tval) = (value("cause_o")?, value("tval_o")?);
        let halted = value("halted_o")? == 1;
        let cycle = hartrace_etrace::ingress::Cycle {
            flavour: Flavour::Block,
            blocks,
            cause,
            tval,
            privilege: Privilege(privilege),
            context,
            ctype,
            time: 0,
            trigger_on: false,
            trigger_off: false,
            halted,
            reset: false,
        };
        cycle.check().unwrap_or_else(|e| panic!("cycle {}: {e}", self.sim.cycle()));
        if value("lost_o")? == 1 && self.events.last() != Some(&Event::Lost) {
            self.events.push(Event::Lost);
        }
        for row in cycle.blocks() {
            self.events.push(match row.itype {
                IType::Exception | IType::Interrupt => {
                    assert_eq!(row.iretire, 0, "traps come by themselves");
                    let interrupt = row.itype == IType::Interrupt;
                    Event::Trap { interrupt, pc: row.iaddr, cause, tval, privilege, context }
                }
                itype => Event::Block {
                    itype,
                    iaddr: row.iaddr,
                    iretire: row.iretire,
                    wide: row.ilastsize == 1,
                    sijump: row.sijump,
                    privilege,
                    context,
                },
            });
        }
        if halted && self.events.last() != Some(&Event::Halt) {
            self.events.push(Event::Halt);
        }
        Ok(())
    }

    fn lane(&self, name: &str, i: usize) -> Result<u64, SimError> {
        let output = self.sim.output(name)?;
        let width = output.width() as usize / usize::from(blocks(self.config));
        let (at, words) = (i * width, self.sim.get_wide(output));
        let bit = |k: usize| words[(at + k) / 64] >> ((at + k) % 64) & 1;
        Ok((0..width).map(|k| bit(k) << k).sum())
    }
}

/// Maximum number of blocks in one cycle.
fn blocks(config: &Config) -> u8 {
    config.blocks.unwrap_or(config.lanes)
}

//! Random accesses to hardware and model.

use crate::configs::Design;
use crate::outputs::{self, Outputs};
use fastrand::Rng;
use hartrace_encoder_hdl::registers::{
    EncoderParams, Inputs, Kind, Model, Table, Write, apb_split, encoder,
};
use hartrace_hdl_tools::verilate::{Input, Options, Output, Simulation};
use hartrace_rtl::Bits;
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// Phase of the bus.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Idle,
    Setup(Access),
    /// With the value that a read must return.
    Access(Access, Option<u32>),
}

#[derive(Clone, Copy, Debug)]
struct Access {
    write: bool,
    address: u32,
    data: u32,
    strobe: u8,
}

/// Hardware and model side by side.
pub(crate) struct Bench {
    design: Design,
    sim: Simulation,
    inputs: BTreeMap<&'static str, (Input, u32)>,
    bus: BTreeMap<&'static str, Input>,
    outputs: BTreeMap<String, Output>,
    table: Table,
    model: Model,
    rng: Rng,
    state: Inputs,
    phase: Phase,
    /// Outputs of the last cycle, if the component was in use then.
    in_use: Option<Outputs>,
    /// Bits that were read as 1 and as 0, by offset.
    seen: BTreeMap<u32, (u32, u32)>,
    /// Inputs do not change.
    quiet: bool,
}

const BUS: [&str; 6] = ["psel", "penable", "pwrite", "paddr", "pwdata", "pstrb"];

impl Bench {
    fn new(design: &Design, table: Table, seed: u64) -> Result<Self, Failed> {
        let mut sim = Simulation::build(&design.component(), &Options::default())?;
        let mut inputs = BTreeMap::new();
        for input in &table.inputs {
            inputs.insert(input.name, (sim.input(&format!("{}_i", input.name))?, input.width));
        }
        let mut bus = BTreeMap::new();
        for name in BUS {
            bus.insert(name, sim.input(&format!("{name}_i"))?);
        }
        let names = sim.model().outputs().iter().map(|port| port.name.clone()).collect::<Vec<_>>();
        let mut outputs = BTreeMap::new();
        for name in names {
            let output = sim.output(&name)?;
            outputs.insert(name.trim_end_matches("_o").to_owned(), output);
        }
        sim.reset()?;
        let model = Model::new(&table);
        let (rng, state) = (Rng::with_seed(seed), Inputs::new());
        let (design, phase, in_use, seen) = (design.clone(), Phase::Idle, None, BTreeMap::new());
        Ok(Self {
            design,
            sim,
            inputs,
            bus,
            outputs,
            table,
            model,
            rng,
            state,
            phase,
            in_use,
            seen,
            quiet: false,
        })
    }

    fn get(&self, name: &str) -> Bits {
        self.sim.get_bits(self.outputs[name])
    }

    /// One clock cycle.
    fn cycle(&mut self) -> Result<(), Failed> {
        self.inputs();
        self.drive();
        self.sim.step()?;
        let now = self.now();
        let write = match self.phase {
            Phase::Access(access, expected) => {
                self.answer(&access, expected)?;
                access.write.then_some(Write {
                    address: access.address,
                    data: access.data,
                    strobe: access.strobe,
                })
            }
            _ => None,
        };
        self.phase = match self.phase {
            Phase::Setup(access) => {
                let expected = self.model.read(access.address, &self.state).ok();
                Phase::Access(access, expected.filter(|_| !access.write))
            }
            Phase::Access(access, _) if access.write && self.rng.bool() => {
                Phase::Setup(Access { write: false, ..access })
            }
            _ if self.rng.u32(0..4) == 0 => Phase::Idle,
            _ => Phase::Setup(self.access()),
        };
        outputs::check(&self.design, &self.model, &now, &mut self.rng)?;
        if let Some(before) = &self.in_use {
            outputs::check_stays(before, &now)?;
        }
        let in_use = self.model.in_use(&self.state);
        let effect = self.model.clock(write, &self.state).unwrap_or_default();
        outputs::check_effect(effect, &now)?;
        self.in_use = in_use.then_some(now);
        Ok(())
    }

    /// Writes a word while nothing else happens, and compares what is traced then, at many
    /// addresses.
    fn put(&mut self, address: u32, data: u32) -> Result<(), Failed> {
        self.phase = Phase::Setup(Access { write: true, address, data, strobe: 0b1111 });
        self.cycle()?;
        self.cycle()?;
        self.phase = Phase::Idle;
        self.cycle()?;
        let now = self.now();
        for _ in 0..8 {
            outputs::check(&self.design, &self.model, &now, &mut self.rng)?;
        }
        Ok(())
    }

    fn now(&self) -> Outputs {
        let bus = ["pready", "prdata", "pslverr"];
        let names = self.outputs.keys().filter(|name| !bus.contains(&name.as_str()));
        names.map(|name| (name.clone(), self.get(name))).collect()
    }

    /// Changes inputs now and then, so that there is time to see their effect.
    fn inputs(&mut self) {
        if self.quiet {
            return;
        }
        for (name, (input, width)) in &self.inputs {
            if self.rng.u32(0..12) == 0 {
                let value = self.rng.u64(..) >> (64 - width);
                // More often than not nothing is going on.
                let quiet = self.rng.u32(0..3) == 0 && *width == 1;
                let value = match *name {
                    "busy" | "stopped" | "outside" | "dropped" if quiet => 0,
                    "empty" if quiet => 1,
                    _ => value,
                };
                self.sim.set(*input, value);
                self.state.insert(name, value);
            }
        }
    }

    fn drive(&mut self) {
        let (psel, penable, access) = match self.phase {
            // Signals on the bus have no meaning then.
            Phase::Idle => (0, self.rng.u64(0..2), self.access()),
            Phase::Setup(access) => (1, 0, access),
            Phase::Access(access, _) => (1, 1, access),
        };
        let values = [
            psel,
            penable,
            access.write.into(),
            access.address.into(),
            access.data.into(),
            access.strobe.into(),
        ];
        for (name, value) in BUS.iter().zip(values) {
            self.sim.set(self.bus[name], value);
        }
    }

    fn access(&mut self) -> Access {
        let rng = &mut self.rng;
        let registers = &self.table.registers;
        let offset = registers[rng.usize(0..registers.len())].offset;
        let address = match rng.u32(0..24) {
            0 => rng.u32(0..0x1000),
            1 => offset ^ (1 << rng.u32(0..12)),
            2..5 => 0,
            _ => offset,
        };
        let data = match rng.u32(0..6) {
            0 => 0,
            1 => u32::MAX,
            2 => 1 << rng.u32(0..32),
            _ => rng.u32(..),
        };
        // Otherwise the component would hardly ever be active, or would nearly always be in use.
        let data = match rng.u32(0..12) {
            0 => data,
            1 if address == 0 => data & !0b11,
            2..5 if address == 0 => data | 0b11,
            _ if address == 0 => data & !0b10 | 1,
            _ => data,
        };
        let strobe = if rng.u32(0..16) == 0 { rng.u8(0..16) } else { 0b1111 };
        Access { write: rng.bool(), address, data, strobe }
    }

    fn answer(&mut self, access: &Access, expected: Option<u32>) -> Result<(), Failed> {
        let legal = access.address.is_multiple_of(4) && (!access.write || access.strobe == 0b1111);
        let got = (self.get("pready"), self.get("pslverr"));
        if got != (Bits::new(1, 1), Bits::new(1, (!legal).into())) {
            return Err(format!("ready and error are {got:?} after {access:x?}").into());
        }
        let data = self.get("prdata");
        match expected {
            Some(value) if data != Bits::new(32, value.into()) => {
                Err(format!("{access:x?} returned {data:?}, not {value:#010x}").into())
            }
            Some(value) => {
                let (ones, zeros) = self.seen.entry(access.address).or_default();
                (*ones, *zeros) = (*ones | value, *zeros | !value);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Checks that every bit that can change has been read as 1 and as 0.
    fn covered(&self) -> Result<(), Failed> {
        for register in &self.table.registers {
            let (ones, zeros) = self.seen.get(&register.offset).copied().unwrap_or_default();
            for field in &register.fields {
                let changes = match field.kind {
                    Kind::Fixed(_) | Kind::Copy { .. } | Kind::Pulse => 0,
                    Kind::Stored { ref choices, .. } if !choices.is_empty() => {
                        choices.iter().fold(0, |bits, choice| bits | choice << field.lsb)
                    }
                    Kind::Stored { from, bits, .. } => {
                        (u32::MAX >> (32 - bits)) << (field.lsb + from)
                    }
                    Kind::Status { bits, .. } | Kind::Pointer { bits, .. } => {
                        (u32::MAX >> (32 - bits)) << field.lsb
                    }
                    _ => field.mask(),
                };
                let missing = changes & !(ones & zeros);
                if missing != 0 {
                    let name = register.name();
                    return Err(format!("bits {missing:#x} of {name} did not change").into());
                }
            }
        }
        Ok(())
    }
}

/// Runs both for some cycles.
pub(crate) fn compare(design: &Design, cycles: u32) -> Result<(), Failed> {
    run(design, design.table(), cycles)
}

fn run(design: &Design, table: Table, cycles: u32) -> Result<(), Failed> {
    let mut bench = Bench::new(design, table, 7)?;
    for cycle in 0..cycles {
        let message =
            |error: Failed| format!("cycle {cycle}: {}", error.message().unwrap_or_default());
        bench.cycle().map_err(message)?;
    }
    bench.covered()
}

/// Random settings of all filters and comparators, compared by what they trace.
pub(crate) fn filters(params: &EncoderParams) -> Result<(), Failed> {
    let design = Design::Encoder(params.clone());
    let mut bench = Bench::new(&design, design.table(), 3)?;
    bench.quiet = true;
    bench.put(0, 1)?;
    let offsets: Vec<u32> = bench.table.registers.iter().map(|register| register.offset).collect();
    for _ in 0..300 {
        // Ranges that are near each other, and not always empty.
        let base = bench.rng.u32(..) & !0xff;
        for offset in &offsets {
            let data = match offset {
                0x00c | 0x400..0x600 => bench.rng.u32(..),
                0x600.. if offset % 8 == 0 => base | bench.rng.u32(0..0x100),
                0x600.. => bench.rng.u32(0..2),
                _ => continue,
            };
            if bench.rng.bool() {
                bench.put(*offset, data)?;
            }
        }
    }
    Ok(())
}

/// Makes sure that agreement means something: a table with one field less does not agree.
pub(crate) fn other_table_is_seen() -> Result<(), Failed> {
    let params = EncoderParams { comparators: 2, filters: 3, ..EncoderParams::everything() };
    let others = [
        EncoderParams { full_address: false, ..params.clone() },
        EncoderParams { comparators: 3, ..params.clone() },
        EncoderParams { address_width: 63, ..params.clone() },
        EncoderParams { context_width: 63, ..params.clone() },
        EncoderParams { tval_comparators: 0, ..params.clone() },
        EncoderParams { causes: 63, ..params.clone() },
        EncoderParams { privilege_levels: 4, ..params.clone() },
        EncoderParams { protocol: (2, 1), ..params.clone() },
    ];
    for other in others {
        let table = encoder(&other)?;
        if run(&Design::Encoder(params.clone()), table, 60_000).is_ok() {
            return Err(format!("no difference seen to {other:?}").into());
        }
    }
    Ok(())
}

/// Every page is selected by its number and answers; accesses after the last page end with an
/// error.
pub(crate) fn split() -> Result<(), Failed> {
    for pages in [2, 3, 4, 5] {
        let mut sim = Simulation::build(&apb_split(pages), &Options::default())?;
        let [page, psel, penable] = ["page_i", "psel_i", "penable_i"].map(|name| sim.input(name));
        let [ready, data, error] =
            ["pready_i", "prdata_i", "pslverr_i"].map(|name| sim.input(name));
        let (page, psel, penable, ready, data, error) =
            (page?, psel?, penable?, ready?, data?, error?);
        let [pready, prdata] = ["pready_o", "prdata_o"].map(|name| sim.output(name));
        let [pslverr, select] = ["pslverr_o", "psel_o"].map(|name| sim.output(name));
        let (pready, prdata, pslverr, select) = (pready?, prdata?, pslverr?, select?);
        let bits = (0..pages).flat_map(|page| (0..32).map(move |bit| (100 + page) >> bit & 1 == 1));
        sim.set_bits(data, &Bits::from_bits(&bits.collect::<Vec<_>>()));
        sim.set(psel, 1);
        sim.set(penable, 1);
        for at in 0..u64::from(pages).next_power_of_two() {
            for bits in 0..1 << pages {
                sim.set(page, at);
                sim.set(ready, bits);
                sim.set(error, !bits & ((1 << pages) - 1));
                sim.settle()?;
                let got = (sim.get(pready), sim.get(pslverr), sim.get(select));
                let expected = match at < pages.into() {
                    true => (bits >> at & 1, !bits >> at & 1, 1 << at),
                    false => (1, 1, 0),
                };
                assert_eq!(got, expected, "page {at} of {pages}");
                if at < pages.into() {
                    assert_eq!(sim.get(prdata), 100 + at, "page {at} of {pages}");
                }
            }
        }
    }
    Ok(())
}

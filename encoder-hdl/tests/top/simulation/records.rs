//! Records of others into memory.

use crate::bus::Memory;
use fastrand::Rng;
use hartrace_encoder_hdl::registers::driver::ram_sink::TrRamControl;
use hartrace_encoder_hdl::registers::{RamSinkParams, ram_sink};
use hartrace_encoder_hdl::top::record_writer;
use hartrace_encoder_hdl::transport::MemorySink;
use hartrace_hdl_tools::verilate::{Input, Options, Simulation};
use libtest_mimic::Failed;

const RECORD: usize = 24;
const START: u32 = 0x1000;
const SIZE: u32 = 0x4000;

struct Writer {
    sim: Simulation,
    memory: Memory,
    random: Rng,
    bus: [Input; 6],
    /// Records that are still to be taken, the next one last.
    waiting: Vec<[u8; RECORD]>,
    offered: bool,
}

impl Writer {
    fn cycle(&mut self) -> Result<u32, Failed> {
        let Self { sim, memory, random, .. } = self;
        let (valid, data) = (sim.input("valid_i")?, sim.input("data_i")?);
        self.offered = self.offered || random.u8(..3) == 0;
        let record = self.waiting.last().filter(|_| self.offered);
        sim.set(valid, record.is_some().into());
        let words = record.copied().unwrap_or_default();
        let (words, _) = words.as_chunks::<8>();
        sim.set_wide(data, &words.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<_>>());
        memory.drive(sim, random, 40);
        sim.settle()?;
        memory.observe(sim);
        let taken = record.is_some() && sim.get(sim.output("ready_o")?) != 0;
        let read = sim.get(sim.output("prdata_o")?) as u32;
        sim.clock()?;
        if taken {
            self.waiting.pop();
            self.offered = false;
        }
        Ok(read)
    }

    fn access(&mut self, register: &str, write: Option<u32>) -> Result<u32, Failed> {
        let params = RamSinkParams { address_width: 32, word_bytes: 8, null_runs: false };
        let offset = ram_sink(&params)?.register(register).ok_or("no such register")?.offset;
        let mut read = 0;
        for enable in [0, 1] {
            let is_write = u64::from(write.is_some());
            let data = write.unwrap_or(0).into();
            let values = [1, enable, is_write, offset.into(), data, 0xf * is_write];
            self.bus.iter().zip(values).for_each(|(port, value)| self.sim.set(*port, value));
            read = self.cycle()?;
        }
        self.sim.set(self.bus[0], 0);
        Ok(read)
    }
}

/// Records that come at any time are in memory after the sink is switched off, in order.
pub(crate) fn records() -> Result<(), Failed> {
    let params = MemorySink { word_bytes: 8, addr_width: 32, burst_words: 4 };
    let mut sim = Simulation::build(&record_writer(RECORD as u32, params)?, &Options::default())?;
    sim.reset()?;
    let names = ["psel_i", "penable_i", "pwrite_i", "paddr_i", "pwdata_i", "pstrb_i"];
    let mut bus = Vec::new();
    for name in names {
        bus.push(sim.input(name)?);
    }
    let memory = Memory::new(&sim, 1 << 16, 8)?;
    let bus = std::array::from_fn(|i| bus[i]);
    let random = Rng::with_seed(1);
    let mut writer = Writer { sim, memory, random, bus, waiting: Vec::new(), offered: false };
    let on = TrRamControl::default().with_active(true);
    writer.access("trRamControl", Some(on.0))?;
    for (register, value) in
        [("trRamStartLow", START), ("trRamLimitLow", START + SIZE - 8), ("trRamWPLow", START)]
    {
        writer.access(register, Some(value))?;
    }
    let mut wanted: Vec<u8> = Vec::new();
    for turn in 0..8 {
        writer.access("trRamControl", Some(on.with_enable(true).0))?;
        for _ in 0..turn * 7 {
            let mut record = [0; RECORD];
            record.fill_with(|| writer.random.u8(..));
            writer.waiting.insert(0, record);
            wanted.extend(record);
        }
        while !writer.waiting.is_empty() {
            writer.cycle()?;
        }
        writer.access("trRamControl", Some(on.0))?;
        for wait in 0.. {
            let control = TrRamControl(writer.access("trRamControl", None)?);
            if control.empty() && !control.enable() {
                break;
            }
            assert!(wait < 1000, "the sink is never empty");
        }
        let end = writer.access("trRamWPLow", None)? as usize;
        let written = &writer.memory.bytes[START as usize..end];
        assert_eq!(written, wanted, "turn {turn}");
    }
    assert!(wanted.len() > 4000);
    Ok(())
}

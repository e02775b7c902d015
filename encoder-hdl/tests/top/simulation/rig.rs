//! The top module in simulation, with harts, the receiver of the sink and a bus.

use crate::bus::Memory;
use crate::hart::Hart;
use crate::port::{Port, Stream};
use crate::software::page;
use fastrand::Rng;
use hartrace_encap::{Deframer, Item};
use hartrace_encoder_hdl::registers::driver::te::TrTsControl;
use hartrace_encoder_hdl::top::{TimeSource, TopConfig, top};
use hartrace_hdl_tools::verilate::{Design, Input, Options, Output, Simulation};
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// Number of reads of a register before software gives up.
const PATIENCE: u32 = 20_000;

pub(crate) struct Rig {
    pub(crate) config: TopConfig,
    pub(crate) sim: Simulation,
    pub(crate) rng: Rng,
    pub(crate) harts: Vec<Hart>,
    pub(crate) port: Port,
    /// Cycles out of 100 in which the receiver of the sink accepts nothing.
    pub(crate) stall: u8,
    bus: [Input; 6],
    prdata: Output,
    pslverr: Output,
    time: Option<Input>,
    now: u64,
    /// What software made of the internal clocks, which are all the same.
    clock: Clock,
    answer: Option<u32>,
}

/// An internal clock.
#[derive(Default)]
struct Clock {
    /// Cycles since it was started.
    cycles: u64,
    counts: bool,
    /// A tick has two to the power of this many cycles.
    shift: u32,
}

impl Rig {
    pub(crate) fn new(config: &TopConfig, seed: u64) -> Result<Self, Failed> {
        Self::of(config, (&top(config)?).into(), seed)
    }

    /// The same for another module with the same ports.
    pub(crate) fn of(config: &TopConfig, design: Design, seed: u64) -> Result<Self, Failed> {
        let options = Options { seed: seed as u32, ..Options::default() };
        let mut sim = Simulation::build(design, &options)?;
        let names = ["psel_i", "penable_i", "pwrite_i", "paddr_i", "pwdata_i", "pstrb_i"];
        let mut bus = Vec::new();
        for name in names {
            bus.push(sim.input(name)?);
        }
        let harts: Result<Vec<Hart>, Failed> =
            (0..config.harts).map(|number| Hart::new(&sim, &config.encoder, number)).collect();
        let (harts, port) = (harts?, Port::new(&sim, config)?);
        sim.reset()?;
        Ok(Self {
            config: config.clone(),
            rng: Rng::with_seed(seed),
            harts,
            port,
            stall: 0,
            bus: bus.try_into().map_err(|_| "six inputs")?,
            prdata: sim.output("prdata_o")?,
            pslverr: sim.output("pslverr_o")?,
            time: sim.input("time_i").ok(),
            now: 0,
            clock: Clock::default(),
            answer: None,
            sim,
        })
    }

    /// One clock cycle.
    pub(crate) fn cycle(&mut self) -> Result<(), Failed> {
        // Faster than the clock, so that low bits do not repeat.
        self.now += 3;
        if let Some(time) = self.time {
            self.sim.set(time, self.now & (u64::MAX >> (64 - time.width())));
        }
        for hart in &mut self.harts {
            hart.drive(&mut self.sim, &mut self.rng);
        }
        self.port.drive(&mut self.sim, &mut self.rng, self.stall);
        self.sim.settle()?;
        let time = match self.config.time {
            TimeSource::External => self.now,
            TimeSource::Internal => self.clock.cycles >> self.clock.shift,
        };
        for hart in &mut self.harts {
            hart.observe(&self.sim, time);
        }
        self.clock.cycles += u64::from(self.clock.counts);
        self.port.observe(&self.sim);
        let data = self.sim.get(self.prdata) as u32;
        self.answer = (self.sim.get(self.pslverr) == 0).then_some(data);
        self.sim.clock()?;
        Ok(())
    }

    /// Starts the internal clock of a hart from 0, with ticks of 4^`prescale` cycles.
    pub(crate) fn start_clock(&mut self, hart: usize, prescale: u32) -> Result<(), Failed> {
        let control = TrTsControl::default().with_count(true).with_reset(true);
        let at = page(hart) + TrTsControl::OFFSET;
        self.write(at, control.with_prescale(prescale).0)?;
        self.clock = Clock { cycles: 0, counts: true, shift: 2 * prescale };
        Ok(())
    }

    pub(crate) fn cycles(&mut self, count: u32) -> Result<(), Failed> {
        for _ in 0..count {
            self.cycle()?;
        }
        Ok(())
    }

    fn access(&mut self, address: u32, write: Option<u32>) -> Result<u32, Failed> {
        let (is_write, data) = (u64::from(write.is_some()), write.unwrap_or_default());
        for penable in [0, 1] {
            let values = [1, penable, is_write, address.into(), data.into(), 0xf * is_write];
            for (input, value) in self.bus.into_iter().zip(values) {
                self.sim.set(input, value);
            }
            self.cycle()?;
        }
        self.sim.set(self.bus[0], 0);
        Ok(self.answer.ok_or_else(|| format!("bus error at {address:#x}"))?)
    }

    pub(crate) fn write(&mut self, address: u32, data: u32) -> Result<(), Failed> {
        self.access(address, Some(data)).map(drop)
    }

    pub(crate) fn read(&mut self, address: u32) -> Result<u32, Failed> {
        self.access(address, None)
    }

    /// Reads until the condition holds.
    pub(crate) fn wait(&mut self, address: u32, until: impl Fn(u32) -> bool) -> Result<(), Failed> {
        for _ in 0..PATIENCE {
            if until(self.read(address)?) {
                return Ok(());
            }
        }
        Err(format!("{address:#x} stays {:#x}", self.read(address)?).into())
    }

    pub(crate) fn memory(&mut self) -> Result<&mut Memory, Failed> {
        match &mut self.port {
            Port::Memory(memory) => Ok(memory),
            Port::Stream(_) => Err("trace does not go to memory".into()),
        }
    }

    pub(crate) fn stream(&mut self) -> Result<&mut Stream, Failed> {
        match &mut self.port {
            Port::Stream(stream) => Ok(stream),
            Port::Memory(_) => Err("trace goes to memory".into()),
        }
    }

    /// The payloads in some bytes, by source, and the number of packets that have a time.
    pub(crate) fn payloads(&self, bytes: &[u8]) -> Result<(Payloads, u64), Failed> {
        let mut deframer = Deframer::new(self.config.framing()?);
        let (mut payloads, mut stamped, mut wrong) = (Payloads::new(), 0, None);
        deframer.feed(bytes, &mut |offset, item| match item {
            Ok(Item::Frame(frame)) => {
                let (header, payload) = (frame.header(), frame.payload_bytes());
                let source = payloads.entry(header.source.unwrap_or(0).into()).or_default();
                source.push(payload.unwrap_or_default().to_vec());
                stamped += u64::from(header.timestamp.is_some());
            }
            Ok(Item::Null(_)) => {}
            Err(error) => wrong = Some(format!("at {offset}: {error}")),
        });
        if let Some((offset, error)) = deframer.finish() {
            return Err(format!("at {offset}: {error}").into());
        }
        match wrong {
            Some(wrong) => Err(wrong.into()),
            None => Ok((payloads, stamped)),
        }
    }

    /// Checks that the trace in some bytes equals that of the golden encoders, from the first
    /// payload to the last.
    pub(crate) fn compare(&self, bytes: &[u8]) -> Result<(), Failed> {
        let (mut payloads, stamped) = self.payloads(bytes)?;
        let mut all = 0;
        for (number, hart) in (0..).zip(&self.harts) {
            let got = payloads.remove(&(self.config.first_source + number)).unwrap_or_default();
            all += got.len() as u64;
            let same = got.iter().zip(&hart.expected).take_while(|(a, b)| a == b).count();
            if got != hart.expected {
                return Err(format!(
                    "hart {number}, payload {same} of {}: {:02x?} instead of {:02x?}, of {}",
                    got.len(),
                    got.get(same),
                    hart.expected.get(same),
                    hart.expected.len(),
                )
                .into());
            }
        }
        if let Some(source) = payloads.keys().next() {
            return Err(format!("source {source} is no hart").into());
        }
        let stamps = if self.has_stamps() { all } else { 0 };
        if stamped == stamps {
            Ok(())
        } else {
            Err(format!("{stamped} of {all} have a time").into())
        }
    }

    fn has_stamps(&self) -> bool {
        use hartrace_encoder_hdl::top::Encapsulation::Standard;
        matches!(self.config.encapsulation, Standard(fields) if fields.timestamp_bytes > 0)
    }
}

/// Payloads of each source.
pub(crate) type Payloads = BTreeMap<u32, Vec<Vec<u8>>>;

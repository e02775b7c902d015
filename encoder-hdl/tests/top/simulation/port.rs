//! Destinations of the trace.

use crate::bus::Memory;
use fastrand::Rng;
use hartrace_encoder_hdl::top::{Sink, TopConfig};
use hartrace_hdl_tools::verilate::{Input, Output, Simulation};
use libtest_mimic::Failed;

/// The receiver of the trace.
pub(crate) enum Port {
    Stream(Box<Stream>),
    Memory(Box<Memory>),
}

/// A port that is a stream of words: AXI4-Stream or ATB.
pub(crate) struct Stream {
    valid: Output,
    ready: Input,
    data: Output,
    /// `tkeep`, or ATBYTES.
    bytes: Output,
    /// `tlast`, or ATID.
    beside: Output,
    /// Requests to flush of the ATB.
    flush: Option<(Input, Output)>,
    flushes: bool,
    is_ready: bool,
    kept: Option<Vec<u64>>,
    pub(crate) received: Vec<u8>,
    /// Transfers at the end of a flush; flushes of the bus that were answered.
    pub(crate) ends: u64,
    pub(crate) answered: u64,
    pub(crate) ids: Vec<u64>,
}

impl Port {
    pub(crate) fn new(sim: &Simulation, config: &TopConfig) -> Result<Self, Failed> {
        let names = match config.sink {
            Sink::Memory { word_bytes, .. } => {
                let memory = Memory::new(sim, 1 << 20, word_bytes as usize)?;
                return Ok(Self::Memory(Box::new(memory)));
            }
            Sink::AxiStream { .. } | Sink::Frames { .. } => {
                ["tvalid_o", "tready_i", "tdata_o", "tkeep_o", "tlast_o"]
            }
            Sink::Atb { .. } => ["atvalid_o", "atready_i", "atdata_o", "atbytes_o", "atid_o"],
        };
        let flush = sim.input("afvalid_i").ok().zip(sim.output("afready_o").ok());
        Ok(Self::Stream(Box::new(Stream {
            valid: sim.output(names[0])?,
            ready: sim.input(names[1])?,
            data: sim.output(names[2])?,
            bytes: sim.output(names[3])?,
            beside: sim.output(names[4])?,
            flush,
            flushes: false,
            is_ready: false,
            kept: None,
            received: Vec::new(),
            ends: 0,
            answered: 0,
            ids: Vec::new(),
        })))
    }

    /// Before a clock edge; nothing is accepted in `stall` of 100 cycles.
    pub(crate) fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng, stall: u8) {
        match self {
            Self::Memory(memory) => memory.drive(sim, rng, stall),
            Self::Stream(stream) => stream.drive(sim, rng, stall),
        }
    }

    pub(crate) fn observe(&mut self, sim: &Simulation) {
        match self {
            Self::Memory(memory) => memory.observe(sim),
            Self::Stream(stream) => stream.observe(sim),
        }
    }
}

impl Stream {
    fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng, stall: u8) {
        self.is_ready = rng.u8(..100) >= stall;
        sim.set(self.ready, self.is_ready.into());
        if let Some((request, _)) = self.flush {
            self.flushes |= rng.u16(..1000) < 3;
            sim.set(request, self.flushes.into());
        }
    }

    fn observe(&mut self, sim: &Simulation) {
        let words: Vec<u64> = [self.valid, self.bytes, self.beside, self.data]
            .iter()
            .flat_map(|output| sim.get_wide(*output).to_vec())
            .collect();
        if let Some(before) = self.kept.take() {
            assert_eq!(words, before, "cycle {}: not kept", sim.cycle());
        }
        if words[0] == 1 && !self.is_ready {
            self.kept = Some(words.clone());
        }
        if words[0] == 1 && self.is_ready {
            let count = match self.flush {
                Some(_) => words[1] as usize + 1,
                None => {
                    assert!((words[1] + 1).is_power_of_two(), "bytes from the first on");
                    words[1].count_ones() as usize
                }
            };
            let bytes = words[3..].iter().flat_map(|word| word.to_le_bytes());
            self.received.extend(bytes.take(count));
            match self.flush {
                Some(_) => self.ids.push(words[2]),
                None => self.ends += words[2],
            }
        }
        if let Some((_, answer)) = self.flush
            && self.flushes
            && sim.get(answer) == 1
        {
            self.flushes = false;
            self.answered += 1;
        }
    }
}

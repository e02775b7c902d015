//! Memory at an AXI4 port, write channels only.

use fastrand::Rng;
use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};
use std::collections::VecDeque;

/// Accepts bursts with random stalls, answers in order, and checks the rules of the bus.
pub(crate) struct Memory {
    pub(crate) bytes: Vec<u8>,
    /// Writes from this address on are refused.
    pub(crate) refuse_from: u64,
    pub(crate) bursts: u64,
    word: usize,
    aw: [Output; 5],
    awready: Input,
    w: [Output; 4],
    wready: Input,
    b: [Input; 2],
    bready: Output,
    addresses: VecDeque<(u64, u64)>,
    data: VecDeque<(Vec<u8>, bool)>,
    answers: VecDeque<u64>,
    ready: [bool; 2],
    answers_now: bool,
    /// Address and data that were offered and not taken.
    kept: [Option<Vec<u64>>; 2],
}

impl Memory {
    pub(crate) fn new(sim: &Simulation, size: usize, word: usize) -> Result<Self, SimError> {
        let output = |name: &str| sim.output(name);
        Ok(Self {
            bytes: vec![0xee; size],
            refuse_from: u64::MAX,
            bursts: 0,
            word,
            aw: [
                output("awvalid_o")?,
                output("awaddr_o")?,
                output("awlen_o")?,
                output("awsize_o")?,
                output("awburst_o")?,
            ],
            awready: sim.input("awready_i")?,
            w: [output("wvalid_o")?, output("wdata_o")?, output("wstrb_o")?, output("wlast_o")?],
            wready: sim.input("wready_i")?,
            b: [sim.input("bvalid_i")?, sim.input("bresp_i")?],
            bready: output("bready_o")?,
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            answers: VecDeque::new(),
            ready: [false; 2],
            answers_now: false,
            kept: [None, None],
        })
    }

    pub(crate) fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng, stall: u8) {
        self.ready = [(); 2].map(|()| rng.u8(..100) >= stall);
        sim.set(self.awready, self.ready[0].into());
        sim.set(self.wready, self.ready[1].into());
        // An answer stays once it was offered, like everything else.
        self.answers_now |= !self.answers.is_empty() && rng.u8(..100) >= stall;
        sim.set(self.b[0], self.answers_now.into());
        sim.set(self.b[1], self.answers.front().copied().unwrap_or(0));
    }

    /// Stops answering.
    pub(crate) fn rest(&self, sim: &mut Simulation) {
        assert!(!self.answers_now && self.answers.is_empty(), "an answer was not waited for");
        sim.set(self.b[0], 0);
    }

    pub(crate) fn observe(&mut self, sim: &Simulation) {
        let channels = [&self.aw[..], &self.w[..]];
        for (i, channel) in channels.into_iter().enumerate() {
            let values: Vec<u64> =
                channel.iter().flat_map(|output| sim.get_wide(*output).to_vec()).collect();
            if let Some(before) = self.kept[i].take() {
                assert_eq!(values, before, "cycle {}: not kept on the bus", sim.cycle());
            }
            if values[0] == 1 && !self.ready[i] {
                self.kept[i] = Some(values);
            }
        }
        let [valid, addr, len, size, burst] = self.aw.map(|output| sim.get(output));
        if valid == 1 && self.ready[0] {
            assert_eq!((1 << size, burst), (self.word, 1));
            let bytes = (len + 1) * self.word as u64;
            assert_eq!(addr / 4096, (addr + bytes - 1) / 4096, "crosses 4 KiB");
            self.addresses.push_back((addr, len + 1));
        }
        if sim.get(self.w[0]) == 1 && self.ready[1] {
            assert_eq!(sim.get(self.w[2]).count_ones() as usize, self.word);
            let bytes = sim.get_wide(self.w[1]).iter().flat_map(|word| word.to_le_bytes());
            self.data.push_back((bytes.take(self.word).collect(), sim.get(self.w[3]) == 1));
        }
        if self.answers_now && sim.get(self.bready) == 1 {
            self.answers.pop_front();
            self.answers_now = false;
        }
        self.store();
    }

    /// Stores the oldest burst once it is complete.
    fn store(&mut self) {
        let Some(&(addr, beats)) = self.addresses.front() else { return };
        if (self.data.len() as u64) < beats {
            return;
        }
        self.addresses.pop_front();
        for beat in 0..beats {
            let (bytes, last) = self.data.pop_front().unwrap();
            assert_eq!(last, beat + 1 == beats, "the last beat is marked");
            let at = (addr + beat * self.word as u64) as usize;
            self.bytes[at..at + self.word].copy_from_slice(&bytes);
        }
        self.bursts += 1;
        self.answers.push_back(if addr >= self.refuse_from { 2 } else { 0 });
    }
}

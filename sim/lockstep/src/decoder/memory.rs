//! Memory at an AXI4 port, write channels only.

use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};
use std::collections::VecDeque;

/// Takes bursts and answers them in order, in cycles that it is asked for; in others, it is not ready.
#[derive(Debug)]
pub(super) struct Memory {
    /// The bytes from [`Memory::START`] on.
    pub(super) bytes: Vec<u8>,
    /// Takes nothing in so many cycles of a thousand.
    stalls: u32,
    random: fastrand::Rng,
    word: usize,
    address: [Output; 2],
    data: [Output; 2],
    ready: [Input; 2],
    answer: Input,
    answered: Output,
    /// Where the next words go.
    next: VecDeque<u64>,
    /// Words that came before their address.
    words: VecDeque<Vec<u8>>,
    beats: Output,
    last: Output,
    answers: u32,
}

impl Memory {
    /// The first address.
    pub(super) const START: u64 = 0x9000_0000;

    pub(super) fn new(
        sim: &Simulation,
        size: usize,
        word: usize,
        stalls: u32,
    ) -> Result<Self, SimError> {
        Ok(Self {
            bytes: vec![0; size],
            stalls,
            random: fastrand::Rng::with_seed(1),
            word,
            address: [sim.output("awvalid_o")?, sim.output("awaddr_o")?],
            data: [sim.output("wvalid_o")?, sim.output("wdata_o")?],
            ready: [sim.input("awready_i")?, sim.input("wready_i")?],
            answer: sim.input("bvalid_i")?,
            answered: sim.output("bready_o")?,
            next: VecDeque::new(),
            words: VecDeque::new(),
            beats: sim.output("awlen_o")?,
            last: sim.output("wlast_o")?,
            answers: 0,
        })
    }

    /// One cycle.
    pub(super) fn clock(&mut self, sim: &mut Simulation) -> Result<(), SimError> {
        let takes = self.random.u32(..1000) >= self.stalls;
        self.ready.iter().for_each(|ready| sim.set(*ready, takes.into()));
        sim.set(self.answer, (self.answers > 0).into());
        sim.settle()?;
        if takes && sim.get(self.address[0]) == 1 {
            let first = sim.get(self.address[1]);
            let beats = sim.get(self.beats) + 1;
            self.next.extend((0..beats).map(|beat| first + beat * self.word as u64));
        }
        if self.answers > 0 && sim.get(self.answered) == 1 {
            self.answers -= 1;
        }
        if takes && sim.get(self.data[0]) == 1 {
            let bytes = sim.get_wide(self.data[1]).iter().flat_map(|word| word.to_le_bytes());
            self.words.push_back(bytes.take(self.word).collect());
            self.answers += sim.get(self.last) as u32;
        }
        while !self.next.is_empty()
            && let Some(word) = self.words.pop_front()
        {
            let at = self.next.pop_front().and_then(|at| at.checked_sub(Self::START));
            let place = at.and_then(|at| self.bytes.get_mut(at as usize..at as usize + word.len()));
            match place {
                Some(place) => place.copy_from_slice(&word),
                None => panic!("a write outside of the buffer"),
            }
        }
        sim.clock()?;
        self.ready.iter().chain([&self.answer]).for_each(|ready| sim.set(*ready, 0));
        Ok(())
    }
}

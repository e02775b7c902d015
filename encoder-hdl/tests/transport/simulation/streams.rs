//! Both ends of a stream.

use fastrand::Rng;
use hartrace_hdl_tools::verilate::{Input, Options, Output, SimError, Simulation};
use hartrace_rtl::Component;
use std::collections::VecDeque;

/// How often either side stalls, in percent: sender, receiver.
pub(crate) const STALLS: [(u8, u8); 7] =
    [(0, 0), (0, 50), (50, 0), (50, 50), (0, 95), (95, 0), (90, 90)];

/// The words of one value, least significant first.
pub(crate) type Words = Vec<u64>;

/// Sends values and keeps each one stable until it is taken.
pub(crate) struct Sender {
    valid: Input,
    ready: Output,
    fields: Vec<Input>,
    queue: VecDeque<Vec<Words>>,
    offers: bool,
}

impl Sender {
    pub(crate) fn new(
        sim: &Simulation,
        [valid, ready]: [&str; 2],
        fields: &[&str],
    ) -> Result<Self, SimError> {
        Ok(Self {
            valid: sim.input(valid)?,
            ready: sim.output(ready)?,
            fields: fields.iter().map(|name| sim.input(name)).collect::<Result<_, _>>()?,
            queue: VecDeque::new(),
            offers: false,
        })
    }

    pub(crate) fn push(&mut self, values: Vec<Words>) {
        assert_eq!(values.len(), self.fields.len());
        self.queue.push_back(values);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.queue.is_empty()
    }

    /// Sets its inputs for this cycle; noise where nothing is offered.
    pub(crate) fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng, stall: u8) {
        let offers = self.offers || (!self.queue.is_empty() && rng.u8(..100) >= stall);
        self.offers = offers;
        sim.set(self.valid, offers.into());
        for (i, input) in self.fields.iter().enumerate() {
            match self.queue.front() {
                Some(values) if offers => sim.set_wide(*input, &values[i]),
                _ => sim.set_wide(*input, &noise(rng, input.width())),
            }
        }
    }

    /// Reads the settled outputs: what is taken at the end of the cycle.
    pub(crate) fn observe(&mut self, sim: &Simulation) -> Option<Vec<Words>> {
        if !self.offers || sim.get(self.ready) == 0 {
            return None;
        }
        self.offers = false;
        self.queue.pop_front()
    }
}

/// Receives values and checks that they are stable until it takes them.
pub(crate) struct Receiver {
    valid: Output,
    ready: Input,
    fields: Vec<Output>,
    takes: bool,
    waits: Option<Vec<Words>>,
}

impl Receiver {
    pub(crate) fn new(
        sim: &Simulation,
        [valid, ready]: [&str; 2],
        fields: &[&str],
    ) -> Result<Self, SimError> {
        Ok(Self {
            valid: sim.output(valid)?,
            ready: sim.input(ready)?,
            fields: fields.iter().map(|name| sim.output(name)).collect::<Result<_, _>>()?,
            takes: false,
            waits: None,
        })
    }

    pub(crate) fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng, stall: u8) {
        self.takes = rng.u8(..100) >= stall;
        sim.set(self.ready, self.takes.into());
    }

    pub(crate) fn observe(&mut self, sim: &Simulation) -> Option<Vec<Words>> {
        let now = (sim.get(self.valid) != 0)
            .then(|| self.fields.iter().map(|f| sim.get_wide(*f).to_vec()).collect::<Vec<_>>());
        if let Some(before) = self.waits.take() {
            assert_eq!(now.as_ref(), Some(&before), "cycle {}: not kept", sim.cycle());
        }
        if self.takes {
            return now;
        }
        self.waits = now;
        None
    }
}

pub(crate) fn build(block: &Component) -> Result<Simulation, SimError> {
    let mut sim = Simulation::build(block, &Options::default())?;
    sim.reset()?;
    Ok(sim)
}

/// Random bits.
pub(crate) fn noise(rng: &mut Rng, width: u32) -> Words {
    let mut words: Words = (0..width.div_ceil(64)).map(|_| rng.u64(..)).collect();
    if let (Some(top), rest @ 1..) = (words.last_mut(), width % 64) {
        *top &= (1 << rest) - 1;
    }
    words
}

/// Bytes as the value of a port of `width` bits, with noise after them.
pub(crate) fn pack(rng: &mut Rng, bytes: &[u8], width: u32) -> Words {
    let mut words = noise(rng, width);
    for (i, byte) in bytes.iter().enumerate() {
        let shift = i % 8 * 8;
        words[i / 8] = words[i / 8] & !(0xff << shift) | u64::from(*byte) << shift;
    }
    words
}

/// The first bytes of a value.
pub(crate) fn unpack(words: &[u64], len: usize) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect()
}

/// Random bytes, often of the shortest or the longest length.
pub(crate) fn packet(rng: &mut Rng, max: usize) -> Vec<u8> {
    let len = match rng.u8(..4) {
        0 => max,
        1 => 1 + rng.usize(..max.min(4)),
        _ => 1 + rng.usize(..max),
    };
    (0..len).map(|_| rng.u8(..)).collect()
}

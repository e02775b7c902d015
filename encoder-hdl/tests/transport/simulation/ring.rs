//! The sink in memory.

use crate::bus::Memory;
use crate::chain::{Reader, Run, chain, framing_of};
use crate::streams::{STALLS, build};
use fastrand::Rng;
use hartrace_encap::{EncapParams, Framing, Item};
use hartrace_encoder_hdl::transport::{Frame, MemorySink, memory_sink};
use hartrace_hdl_tools::verilate::{SimError, Simulation};
use libtest_mimic::{Failed, Trial};

const START: u64 = 0x1f00;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (word_bytes, burst_words) in [(4, 1), (4, 8), (8, 2), (8, 4), (16, 16)] {
        let params = MemorySink { word_bytes, addr_width: 32, burst_words };
        let name = format!("memory/{word_bytes}_burst_{burst_words}");
        trials.push(Trial::test(name, move || ring(params, Frame::Reference)));
    }
    let params = MemorySink { word_bytes: 8, addr_width: 32, burst_words: 4 };
    let stamped = Frame::Encap(EncapParams::new(8, 4, 0).unwrap());
    trials.push(Trial::test("memory/stamped", move || ring(params, stamped)));
    trials.push(Trial::test("memory/wraps", move || wraps(params, stamped, START, 0x400)));
    for (start, size) in [(8, 0x400), (0, 0x3e8), (0x18, 0x3d8), (0x10, 0x8)] {
        let name = format!("memory/wraps_from_{start}_after_{size}");
        let run = move || wraps(params, stamped, START + start, size);
        trials.push(Trial::test(name, run));
    }
    trials.push(Trial::test("memory/stops_on_wrap", move || stops_on_wrap(params, stamped)));
    trials.push(Trial::test("memory/refused_writes", move || refused(params, stamped)));
    trials.push(Trial::test("memory/outside", move || outside(params, stamped)));
    trials
}

/// A sink with its chain, and the memory.
struct Target {
    sim: Simulation,
    memory: Memory,
    word: u64,
}

impl Target {
    fn new(params: MemorySink, frame: Frame) -> Result<Self, SimError> {
        let sink = memory_sink(params);
        let sim = build(&chain(frame, params.word_bytes, true, &sink))?;
        let word = params.word_bytes;
        let memory = Memory::new(&sim, 0x10000, word as usize)?;
        Ok(Self { sim, memory, word: word.into() })
    }

    /// Registers for a ring of `size` bytes from `start` on, as software sets them, except for the bits below
    /// a word, which do not matter.
    fn configure(&mut self, start: u64, size: u64, stop_on_wrap: bool) -> Result<(), SimError> {
        let values = [
            ("start_i", start + self.word - 1),
            ("limit_i", start + size - self.word),
            ("wp_i", start),
            ("wp_we_i", 1),
            ("enable_i", 1),
            ("stop_on_wrap_i", stop_on_wrap.into()),
        ];
        for (name, value) in values {
            let input = self.sim.input(name)?;
            self.sim.set(input, value);
        }
        self.sim.clock()?;
        let input = self.sim.input("wp_we_i")?;
        self.sim.set(input, 0);
        Ok(())
    }

    fn status(&self, name: &str) -> u64 {
        self.sim.get(self.sim.output(name).unwrap())
    }

    /// Sends payloads with flushes in between (per mille of the cycles) and one at the end, and
    /// waits until everything is in memory. Returns the payloads.
    fn send(
        &mut self,
        rng: &mut Rng,
        packets: usize,
        (send, receive): (u8, u8),
        flushes: u16,
    ) -> Result<Vec<Vec<u8>>, Failed> {
        let mut run = Run::new(&self.sim, rng, packets)?;
        let mut last = false;
        let mut idle = false;
        let limit = self.sim.cycle() + 400_000;
        while !(last && !run.requests && idle) {
            assert!(self.sim.cycle() < limit, "does not become idle");
            let flush = rng.u16(..1000) < flushes;
            let at_end = run.input.is_done() && !last && !run.requests;
            last |= at_end;
            run.drive(&mut self.sim, rng, send, at_end || (!last && flush));
            self.memory.drive(&mut self.sim, rng, receive);
            self.sim.settle()?;
            self.memory.observe(&self.sim);
            run.observe(&self.sim);
            self.sim.clock()?;
            idle = self.status("idle_o") == 1;
        }
        run.rest(&mut self.sim);
        self.memory.rest(&mut self.sim);
        Ok(run.taken)
    }

    /// The trace from the start to the write pointer.
    fn read(&self) -> Vec<u8> {
        let end = self.status("wp_o") - self.word + self.status("fill_o");
        self.memory.bytes[START as usize..end as usize].to_vec()
    }
}

/// A ring that is large enough: everything is in memory, and decodes. The framing without null packets
/// is flushed at the end only.
fn ring(params: MemorySink, frame: Frame) -> Result<(), Failed> {
    let mut target = Target::new(params, frame)?;
    let flushes = if frame == Frame::Reference { 0 } else { 10 };
    for (seed, stalls) in STALLS.into_iter().enumerate() {
        target.configure(START, 0x8000, false)?;
        let mut rng = Rng::with_seed(seed as u64);
        let sent = target.send(&mut rng, 300, stalls, flushes)?;
        let mut reader = Reader::new(framing_of(frame));
        reader.feed(&target.read());
        assert_eq!(reader.finish(), sent);
        for flag in ["wrap_o", "stopped_o", "error_o", "lost_o"] {
            assert_eq!(target.status(flag), 0, "{flag}");
        }
    }
    let words = (target.status("wp_o") - START) / target.word;
    assert!(target.memory.bursts > 0 && words > 0);
    Ok(())
}

/// A ring that is too small holds the end of the stream, wherever it starts and ends: it consists of words,
/// not of bursts. It is read from the write pointer on; the test knows where packets start, since it knows
/// everything that was sent.
fn wraps(params: MemorySink, frame: Frame, start: u64, size: u64) -> Result<(), Failed> {
    let mut target = Target::new(params, frame)?;
    for (seed, stalls) in STALLS.into_iter().enumerate() {
        target.configure(start, size, false)?;
        let mut rng = Rng::with_seed(seed as u64);
        // The stream without flushes is known to the byte; the flush at the end pads with zeros.
        let sent = target.send(&mut rng, 200, stalls, 0)?;
        let mut whole: Vec<u8> = sent.iter().flat_map(|payload| emit(frame, payload)).collect();
        whole.resize(whole.len().next_multiple_of(target.word as usize), 0);
        assert_eq!(target.status("wrap_o"), 1);
        assert_eq!(target.status("stopped_o"), 0);
        let wp = target.status("wp_o") as usize;
        let (start, end) = (start as usize, (start + size) as usize);
        let ring = [&target.memory.bytes[wp..end], &target.memory.bytes[start..wp]].concat();
        assert_eq!(ring, whole[whole.len() - size as usize..]);
        assert!(target.memory.bytes[..start].iter().all(|byte| *byte == 0xee), "before the ring");
        assert!(target.memory.bytes[end..].iter().all(|byte| *byte == 0xee), "behind the ring");
    }
    Ok(())
}

/// The frame that the chain makes of a payload.
fn emit(frame: Frame, payload: &[u8]) -> Vec<u8> {
    let header = hartrace_encap::FrameHeader {
        source: Some(0x5a),
        timestamp: Some(0x1234_5678),
        ..Default::default()
    };
    let mut out = [0; hartrace_encap::MAX_FRAME];
    let len = framing_of(frame).emit(&header, payload, &mut out).unwrap();
    out[..len].to_vec()
}

/// The first part of the stream stays, and the rest is lost without waiting.
fn stops_on_wrap(params: MemorySink, frame: Frame) -> Result<(), Failed> {
    let mut target = Target::new(params, frame)?;
    let size = 0x400;
    for (seed, stalls) in STALLS.into_iter().enumerate() {
        let enable = target.sim.input("enable_i")?;
        target.sim.set(enable, 0);
        target.sim.clock()?;
        assert_eq!(target.status("stopped_o"), 0);
        target.configure(START, size, true)?;
        let mut rng = Rng::with_seed(seed as u64);
        let sent = target.send(&mut rng, 200, stalls, 0)?;
        for flag in ["wrap_o", "stopped_o", "lost_o"] {
            assert_eq!(target.status(flag), 1, "{flag}");
        }
        assert_eq!(target.status("wp_o"), START);
        let ring = &target.memory.bytes[START as usize..(START + size) as usize];
        let framing: Framing = framing_of(frame);
        let read: Vec<Vec<u8>> = framing
            .frames(ring)
            .filter_map(|item| match item {
                Ok((_, Item::Frame(frame))) => Some(frame.payload_bytes().unwrap().to_vec()),
                _ => None,
            })
            .collect();
        assert!(read.len() > 10);
        assert_eq!(read, sent[..read.len()]);
        // After that, nothing reaches memory, enabled or not.
        let bursts = target.memory.bursts;
        target.send(&mut rng, 20, stalls, 0)?;
        assert_eq!(target.memory.bursts, bursts);
    }
    Ok(())
}

/// A write that memory refuses is reported and stops the sink: nothing is written after what was on its way.
fn refused(params: MemorySink, frame: Frame) -> Result<(), Failed> {
    let mut target = Target::new(params, frame)?;
    let mut rng = Rng::with_seed(1);
    target.configure(START, 0x8000, false)?;
    target.memory.refuse_from = START + 0x400;
    target.send(&mut rng, 10, (0, 50), 0)?;
    assert_eq!(target.status("error_o"), 0, "not yet");
    target.send(&mut rng, 100, (0, 50), 0)?;
    assert_eq!(target.status("error_o"), 1);
    assert_eq!(target.status("stopped_o"), 1);
    assert_eq!(target.status("lost_o"), 1, "the rest is thrown away");
    target.memory.refuse_from = u64::MAX;
    let bursts = target.memory.bursts;
    target.send(&mut rng, 10, (0, 50), 0)?;
    assert_eq!(target.memory.bursts, bursts, "stopped");
    assert_eq!(target.status("error_o"), 1, "until it is cleared");
    let enable = target.sim.input("enable_i")?;
    target.sim.set(enable, 0);
    target.sim.clock()?;
    target.configure(START, 0x8000, false)?;
    target.sim.settle()?;
    for flag in ["error_o", "stopped_o", "lost_o"] {
        assert_eq!(target.status(flag), 0, "{flag}");
    }
    target.send(&mut rng, 10, (0, 50), 0)?;
    assert!(target.memory.bursts > bursts, "it is on again");
    Ok(())
}

/// A pointer outside of the ring, below or above it, or a ring that ends before it starts: nothing is written, and
/// what comes is lost with a report.
fn outside(params: MemorySink, frame: Frame) -> Result<(), Failed> {
    let mut target = Target::new(params, frame)?;
    let word = target.word;
    let pointers = [START - word, START + 0x400, START + 0x1400, 0];
    let rings = pointers.map(|wp| (START, START + 0x400 - word, wp));
    for (start, limit, wp) in rings.into_iter().chain([(START + word, START, START)]) {
        for (name, value) in [("start_i", start), ("limit_i", limit)] {
            let input = target.sim.input(name)?;
            target.sim.set(input, value);
        }
        let enable = target.sim.input("enable_i")?;
        target.sim.set(enable, 0);
        for (write, value) in [(1, wp), (0, 0)] {
            let [write_port, port] = [target.sim.input("wp_we_i")?, target.sim.input("wp_i")?];
            target.sim.set(write_port, write);
            target.sim.set(port, value);
            target.sim.clock()?;
        }
        target.sim.set(enable, 1);
        target.sim.settle()?;
        assert_eq!(target.status("outside_o"), 1, "{start:#x} {limit:#x} {wp:#x}");
        target.send(&mut Rng::with_seed(2), 50, (50, 50), 0)?;
        assert_eq!(target.memory.bursts, 0, "{start:#x} {limit:#x} {wp:#x}");
        assert_eq!([target.status("lost_o"), target.status("wp_o")], [1, wp]);
    }
    Ok(())
}

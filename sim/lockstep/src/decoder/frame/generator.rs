//! The frame generator: what it writes is what was written, for software and for the frame stage.

use super::{FrameBench, LATENCY, Ports, SOURCES, Token, join};
use fastrand::Rng;
use hartrace_encap::coresight::{Deformatter, Item, Mode};
use hartrace_hdl_tools::verilate::{Input, Output, SimError, Simulation};

/// Frames from one synchronisation to the next.
pub const SYNC_FRAMES: u32 = 5;

/// Bytes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The number of the source.
    pub id: u8,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// A flush follows.
    pub flush: bool,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct GeneratorReport {
    /// Bytes that were written.
    pub written: u64,
    /// Bytes that left the generator.
    pub sent: u64,
    /// Synchronisations among them.
    pub synchronisations: u64,
    /// Cycles.
    pub cycles: u64,
    /// What is wrong, if anything is.
    pub wrong: Option<String>,
}

impl FrameBench {
    /// Sends bytes through the generator and through the stage after it. With `pauses`, neither words nor the receiver
    /// are always ready.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn generate(
        &self,
        writes: &[Write],
        pauses: Option<u64>,
    ) -> Result<GeneratorReport, SimError> {
        let mut sim = self.model.start(1)?;
        let (ports, stage) = (GeneratorPorts::new(&sim)?, Ports::new(&sim)?);
        sim.reset()?;
        sim.set(stage.valid, 0);
        sim.set(stage.sources, join(&SOURCES));
        let mut random = pauses.map(Rng::with_seed);
        let mut words = words(writes).into_iter().peekable();
        let (mut sent, mut seen, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut report = GeneratorReport::default();
        let (mut offered, mut idle, mut kept) = (false, 0, None);
        while idle < 2 * LATENCY {
            let mut pause = || random.as_mut().is_some_and(|random| random.u8(..3) == 0);
            // A word that was offered stays.
            offered = offered || !pause();
            let ready = !pause();
            let word = words.peek().filter(|_| offered);
            idle = if words_end(word, offered) { idle + 1 } else { 0 };
            sim.set(ports.valid, word.is_some().into());
            let word = word.copied().unwrap_or_default();
            sim.set(ports.data, u16::from_le_bytes(word.bytes).into());
            sim.set(ports.len, word.len);
            sim.set(ports.last, word.last.into());
            sim.set(ports.id, word.id.into());
            sim.set(ports.tready, ready.into());
            sim.settle()?;
            let taken = sim.get(ports.ready) != 0 && word.id != 0;
            let out =
                [ports.tvalid, ports.tdata, ports.tkeep, ports.tlast].map(|port| sim.get(port));
            let [valid, data, keep, last] = out;
            if kept.is_some_and(|before| before != out) {
                report.wrong.get_or_insert(format!("{out:x?} was not kept"));
            }
            kept = (valid != 0 && !ready).then_some(out);
            if valid != 0 && ready {
                match keep {
                    0 if last != 0 => {}
                    0xf => sent.extend((data as u32).to_le_bytes()),
                    _ => drop(report.wrong.get_or_insert(format!("tkeep {keep:x}"))),
                }
                if last != 0 {
                    ends.push(sent.len());
                }
                idle = 0;
            }
            report.cycles += 1;
            sim.clock()?;
            if taken {
                words.next();
                offered = false;
            }
            stage.read(&sim, |token| match token {
                Token::Byte { id: 0, .. } => {}
                token => seen.push(token),
            });
        }
        let wanted: Vec<Token> = writes
            .iter()
            .flat_map(|w| w.bytes.iter().map(|&byte| Token::Byte { id: w.id, byte }))
            .collect();
        report.written = wanted.len() as u64;
        report.sent = sent.len() as u64;
        let fsyncs = sent.as_chunks::<4>().0.iter();
        report.synchronisations =
            fsyncs.filter(|word| **word == [0xff, 0xff, 0xff, 0x7f]).count() as u64;
        let mut check = |what: &str, right: bool| {
            if !right {
                report.wrong.get_or_insert(what.to_owned());
            }
        };
        check("software reads other bytes", read(&sent, Mode::Fsync).as_ref() == Some(&wanted));
        check("the stage reads other bytes", seen == wanted);
        check("flushes do not end", ends.len() == writes.iter().filter(|w| w.flush).count());
        // Each part can be read on its own.
        let mut parts = Vec::new();
        let mut from = 0;
        for end in ends {
            parts.extend(read(&sent[from..end], Mode::Fsync).unwrap_or_default());
            from = end;
        }
        check("a part depends on the one before", parts == wanted);
        Ok(report)
    }
}

/// Whether nothing more is written.
fn words_end(word: Option<&Word>, offered: bool) -> bool {
    offered && word.is_none()
}

/// What software reads; `None` if there is a fault, or anything else than bytes of sources and padding.
fn read(frames: &[u8], mode: Mode) -> Option<Vec<Token>> {
    let (mut read, mut right) = (Vec::new(), true);
    let mut deformatter = Deformatter::new(mode);
    let mut out = |item: Item<'_>| match item {
        Item::Data(chunk) => {
            let id = chunk.id.get();
            read.extend(chunk.bytes.iter().map(|&byte| Token::Byte { id, byte }));
        }
        _ => right = false,
    };
    deformatter.feed(frames, &mut out);
    deformatter.finish(&mut out);
    let statistics = deformatter.statistics();
    let other = statistics.unknown + statistics.reserved + statistics.unsynchronised;
    (right && other == 0).then_some(read)
}

/// A word that a packer gives.
#[derive(Copy, Clone, Debug, Default)]
struct Word {
    id: u8,
    bytes: [u8; 2],
    len: u64,
    last: bool,
}

/// The words of writes: all of them are full, but before a flush and before another source.
fn words(writes: &[Write]) -> Vec<Word> {
    let mut words = Vec::new();
    for write in writes {
        for bytes in write.bytes.chunks(2) {
            let (len, second) = (bytes.len() as u64, bytes.get(1).copied());
            let bytes = [bytes[0], second.unwrap_or(0xa5)];
            words.push(Word { id: write.id, bytes, len, last: false });
        }
        // A flush may come with bytes, and without.
        match words.last_mut() {
            Some(word) if write.flush && word.len == 1 && !word.last => word.last = true,
            _ if write.flush => {
                words.push(Word { id: write.id, last: true, ..Word::default() });
            }
            _ => {}
        }
    }
    words
}

/// The ports of the generator.
struct GeneratorPorts {
    valid: Input,
    data: Input,
    len: Input,
    last: Input,
    id: Input,
    ready: Output,
    tready: Input,
    tvalid: Output,
    tdata: Output,
    tkeep: Output,
    tlast: Output,
}

impl GeneratorPorts {
    fn new(sim: &Simulation) -> Result<Self, SimError> {
        Ok(Self {
            valid: sim.input("word_valid_i")?,
            data: sim.input("word_data_i")?,
            len: sim.input("word_len_i")?,
            last: sim.input("word_last_i")?,
            id: sim.input("word_id_i")?,
            ready: sim.output("ready_o")?,
            tready: sim.input("tready_i")?,
            tvalid: sim.output("tvalid_o")?,
            tdata: sim.output("tdata_o")?,
            tkeep: sim.output("tkeep_o")?,
            tlast: sim.output("tlast_o")?,
        })
    }
}

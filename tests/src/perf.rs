//! Writes recordings of Linux perf (`perf.data`), byte by byte from the layouts of its records.
//!
//! It shares nothing with the reader of `hartrace-capture`, so that a recording that is read as it was written
//! checks both. No recording of a real machine was at hand.

/// What a record of the kernel says of itself.
#[derive(Copy, Clone, Debug, Default)]
pub struct Stamp {
    /// When it was written.
    pub time: u64,
    /// On which CPU.
    pub cpu: u32,
    /// By which process.
    pub pid: u32,
    /// By which thread.
    pub tid: u32,
}

/// A mapping.
#[derive(Copy, Clone, Debug)]
pub struct Map<'a> {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// Its address.
    pub address: u64,
    /// Its length.
    pub length: u64,
    /// Where it starts in the file.
    pub pgoff: u64,
    /// The path of the file.
    pub path: &'a str,
}

/// The event of the trace unit samples thread, time, CPU and identifier; another event, which records
/// mappings, samples the period too, so that the two differ.
const TRACE_SAMPLES: u64 = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16;
const OTHER_SAMPLES: u64 = 1 << 1 | 1 << 2 | 1 << 8 | 1 << 16;

/// Identifiers of the two.
const TRACE: u64 = 0x1234_5678_9abc;
const OTHER: u64 = 77;

/// Bytes of an event attribute, as of its fifth version.
const ATTR: u64 = 112;

/// Flags of both: mappings, names, processes, identification of all records.
const ATTR_FLAGS: u64 = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23;

/// A recording in the making.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    records: Vec<u8>,
    features: Vec<(u32, Vec<u8>)>,
}

impl Writer {
    /// An empty recording.
    pub fn new() -> Self {
        Self::default()
    }

    fn record(&mut self, kind: u32, misc: u16, body: &[u8]) {
        let size = u16::try_from(body.len() + 8).expect("a record of 64 KiB at most");
        self.records.extend(kind.to_le_bytes());
        self.records.extend(misc.to_le_bytes());
        self.records.extend(size.to_le_bytes());
        self.records.extend(body);
    }

    /// A record of the event of the trace unit: its fields, then thread, time, CPU and identifier.
    fn of_trace(&mut self, kind: u32, misc: u16, mut body: Vec<u8>, stamp: Stamp) {
        body.extend(stamp.pid.to_le_bytes());
        body.extend(stamp.tid.to_le_bytes());
        body.extend(stamp.time.to_le_bytes());
        body.extend(stamp.cpu.to_le_bytes());
        body.extend([0; 4]);
        body.extend(TRACE.to_le_bytes());
        self.record(kind, misc, &body);
    }

    /// A record of the other event: its fields, then thread, time and identifier.
    fn of_other(&mut self, kind: u32, misc: u16, mut body: Vec<u8>, stamp: Stamp) {
        body.extend(stamp.pid.to_le_bytes());
        body.extend(stamp.tid.to_le_bytes());
        body.extend(stamp.time.to_le_bytes());
        body.extend(OTHER.to_le_bytes());
        self.record(kind, misc, &body);
    }

    /// AUXTRACE_INFO (70): the kind of trace, and words about it.
    pub fn info(&mut self, kind: u32, words: &[u64]) -> &mut Self {
        let mut body = kind.to_le_bytes().to_vec();
        body.extend([0; 4]);
        body.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self.record(70, 0, &body);
        self
    }

    /// AUX_OUTPUT_HW_ID (21).
    pub fn hw_id(&mut self, stamp: Stamp, value: u64) -> &mut Self {
        self.of_trace(21, 0, value.to_le_bytes().to_vec(), stamp);
        self
    }

    /// ITRACE_START (12).
    pub fn itrace_start(&mut self, stamp: Stamp) -> &mut Self {
        let body = [stamp.pid.to_le_bytes(), stamp.tid.to_le_bytes()].concat();
        self.of_trace(12, 0, body, stamp);
        self
    }

    /// AUX (11): a stretch of a buffer, and flags.
    pub fn aux(&mut self, stamp: Stamp, offset: u64, size: u64, flags: u64) -> &mut Self {
        let body = [offset, size, flags].map(u64::to_le_bytes).concat();
        self.of_trace(11, 0, body, stamp);
        self
    }

    /// AUXTRACE (71): a copy of a buffer, padded to eight bytes. The buffer is that of a thread if `cpu` is
    /// all ones.
    pub fn auxtrace(&mut self, cpu: u32, tid: u32, offset: u64, bytes: &[u8]) -> &mut Self {
        let padded = bytes.len().next_multiple_of(8);
        let mut body = [padded as u64, offset, 0x5eed].map(u64::to_le_bytes).concat();
        // The number of the buffer, thread, CPU, and nothing.
        body.extend([cpu, tid, cpu, 0].map(u32::to_le_bytes).concat());
        self.record(71, 0, &body);
        self.records.extend(bytes);
        self.records.resize(self.records.len() + padded - bytes.len(), 0);
        self
    }

    /// MMAP (1).
    pub fn mmap(&mut self, stamp: Stamp, map: Map<'_>) -> &mut Self {
        let mut body = mapped(map);
        body.extend(path(map.path));
        self.of_other(1, 0, body, stamp);
        self
    }

    /// MMAP2 (10) of code, with a build identifier if there is one.
    pub fn mmap2(&mut self, stamp: Stamp, map: Map<'_>, build_id: Option<&[u8]>) -> &mut Self {
        let mut body = mapped(map);
        match build_id {
            Some(id) => {
                body.extend([id.len() as u8, 0, 0, 0]);
                body.extend(id);
                body.resize(body.len() + 20 - id.len(), 0);
            }
            // Device, inode and its generation.
            None => body
                .extend([8, 0, 0, 0, 1, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
        }
        // Readable and executable; private.
        body.extend([5u32, 2].map(u32::to_le_bytes).concat());
        body.extend(path(map.path));
        self.of_other(10, u16::from(build_id.is_some()) << 14, body, stamp);
        self
    }

    /// COMM (3): a thread has a name, perhaps because it executes another program.
    pub fn comm(&mut self, stamp: Stamp, name: &str, exec: bool) -> &mut Self {
        let mut body = [stamp.pid, stamp.tid].map(u32::to_le_bytes).concat();
        body.extend(path(name));
        self.of_other(3, u16::from(exec) << 13, body, stamp);
        self
    }

    /// FORK (7): `stamp` made another process or thread.
    pub fn fork(&mut self, stamp: Stamp, pid: u32, tid: u32) -> &mut Self {
        self.task(7, stamp, pid, tid)
    }

    /// EXIT (4).
    pub fn exit(&mut self, stamp: Stamp) -> &mut Self {
        self.task(4, stamp, stamp.pid, stamp.tid)
    }

    fn task(&mut self, kind: u32, stamp: Stamp, pid: u32, tid: u32) -> &mut Self {
        let mut body = [pid, stamp.pid, tid, stamp.tid].map(u32::to_le_bytes).concat();
        body.extend(stamp.time.to_le_bytes());
        self.of_other(kind, 0, body, stamp);
        self
    }

    /// TEXT_POKE (20): the kernel wrote code.
    pub fn text_poke(&mut self, stamp: Stamp, address: u64, old: &[u8], new: &[u8]) -> &mut Self {
        let mut body = address.to_le_bytes().to_vec();
        body.extend([old.len() as u16, new.len() as u16].map(u16::to_le_bytes).concat());
        body.extend(old.iter().chain(new));
        body.resize(body.len().next_multiple_of(8), 0);
        self.of_other(20, 0, body, stamp);
        self
    }

    /// LOST (2).
    pub fn lost(&mut self, stamp: Stamp, count: u64) -> &mut Self {
        self.of_other(2, 0, [OTHER, count].map(u64::to_le_bytes).concat(), stamp);
        self
    }

    /// FINISHED_ROUND (68), or any other record without fields.
    pub fn bare(&mut self, kind: u32) -> &mut Self {
        self.record(kind, 0, &[]);
        self
    }

    /// The architecture: feature 6.
    pub fn arch(&mut self, name: &str) -> &mut Self {
        self.features.push((6, string(name)));
        self
    }

    /// The number of CPUs, configured and online: feature 7.
    pub fn cpus(&mut self, count: u32) -> &mut Self {
        self.features.push((7, [count, count].map(u32::to_le_bytes).concat()));
        self
    }

    /// Names of PMUs: feature 16.
    pub fn pmus(&mut self, pmus: &[(u32, &str)]) -> &mut Self {
        let mut body = (pmus.len() as u32).to_le_bytes().to_vec();
        for (number, name) in pmus {
            body.extend(number.to_le_bytes());
            body.extend(string(name));
        }
        self.features.push((16, body));
        self
    }

    /// Build identifiers of files: feature 2.
    pub fn build_ids(&mut self, files: &[(&str, [u8; 20])]) -> &mut Self {
        let mut body = Vec::new();
        for (name, id) in files {
            let name = path(name);
            // Type, flags (the size follows the identifier), size, process.
            body.extend(67u32.to_le_bytes());
            body.extend((1u16 << 15).to_le_bytes());
            body.extend((36 + name.len() as u16).to_le_bytes());
            body.extend(u32::MAX.to_le_bytes());
            body.extend(id);
            body.extend([20, 0, 0, 0]);
            body.extend(name);
        }
        self.features.push((2, body));
        self
    }

    /// The recording as a file: header, events, records, features.
    pub fn file(&self) -> Vec<u8> {
        // Identifiers come first, then events.
        let ids = 104u64;
        let attrs = ids + 16;
        let data = attrs + 2 * (ATTR + 16);
        let mut features = self.features.clone();
        features.sort_by_key(|(number, _)| *number);
        let mut flags = [0u8; 32];
        for (number, _) in &features {
            flags[*number as usize / 8] |= 1 << (number % 8);
        }
        let mut file = b"PERFILE2".to_vec();
        let sections = [attrs, 2 * (ATTR + 16), data, self.records.len() as u64, 0, 0];
        file.extend([104, ATTR + 16].into_iter().chain(sections).flat_map(u64::to_le_bytes));
        file.extend(flags);
        file.extend([TRACE, OTHER].map(u64::to_le_bytes).concat());
        for (samples, at) in [(TRACE_SAMPLES, ids), (OTHER_SAMPLES, ids + 8)] {
            file.extend(attr(samples));
            file.extend([at, 8].map(u64::to_le_bytes).concat());
        }
        file.extend(&self.records);
        let mut place = file.len() + 16 * features.len();
        for (_, body) in &features {
            file.extend([place as u64, body.len() as u64].map(u64::to_le_bytes).concat());
            place += body.len();
        }
        file.extend(features.into_iter().flat_map(|(_, body)| body));
        file
    }

    /// The recording as it goes through a pipe: events and features are records (64, 80).
    pub fn pipe(&self) -> Vec<u8> {
        let mut all = Self::new();
        for (samples, id) in [(TRACE_SAMPLES, TRACE), (OTHER_SAMPLES, OTHER)] {
            all.record(64, 0, &[attr(samples), id.to_le_bytes().to_vec()].concat());
        }
        for (number, body) in &self.features {
            all.record(80, 0, &[&u64::from(*number).to_le_bytes()[..], body].concat());
        }
        let mut file = b"PERFILE2".to_vec();
        file.extend(16u64.to_le_bytes());
        file.extend(all.records);
        file.extend(&self.records);
        file
    }
}

/// An event attribute.
fn attr(samples: u64) -> Vec<u8> {
    let mut attr = [8, ATTR as u32].map(u32::to_le_bytes).concat();
    // Configuration, period, what is sampled, read format, flags.
    attr.extend([0, 1, samples, 4, ATTR_FLAGS].map(u64::to_le_bytes).concat());
    attr.resize(ATTR as usize, 0);
    attr
}

fn mapped(map: Map<'_>) -> Vec<u8> {
    let mut body = [map.pid, map.tid].map(u32::to_le_bytes).concat();
    body.extend([map.address, map.length, map.pgoff].map(u64::to_le_bytes).concat());
    body
}

/// Text with a zero at its end, padded to eight bytes.
fn path(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
    bytes
}

/// Text with its length before it, padded to 64 bytes as perf does.
fn string(text: &str) -> Vec<u8> {
    let length = (text.len() + 1).next_multiple_of(64);
    let mut bytes = (length as u32).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes.resize(4 + length, 0);
    bytes
}

/// Words of AUXTRACE_INFO for CoreSight (type 3): version 0, 1 or 2, and for each unit its magic number, its
/// CPU, and registers.
pub fn coresight_info(version: u64, snapshot: bool, units: &[(u64, u64, Vec<u64>)]) -> Vec<u64> {
    let mut words = vec![version, 8 << 32 | units.len() as u64, snapshot.into()];
    for (magic, cpu, registers) in units {
        words.extend([*magic, *cpu]);
        if version > 0 {
            words.push(registers.len() as u64);
        }
        words.extend(registers);
    }
    words
}

/// The magic number of an ETMv3 or PTM.
pub const ETMV3: u64 = 0x3030_3030_3030_3030;
/// The magic number of an ETMv4.
pub const ETMV4: u64 = 0x4040_4040_4040_4040;
/// The magic number of an ETE.
pub const ETE: u64 = 0x5050_5050_5050_5050;

//! A whole recording.

use super::Error;
use super::attrs::{Attrs, SampleId};
use super::aux_area::{Aux, Buffers, Missing, Piece};
use super::changes::{Change, Changes, File};
use super::features::{Features, hex};
use super::fields::Fields;
use super::info::{HwId, Trace};
use super::records::{Record, Records};
use crate::framing::Kind;
use crate::input;
use crate::params::{Draft, Given};
use hartrace_spaces::Log;
use std::borrow::Cow;

use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// What a file starts with.
const MAGIC: &[u8; 8] = b"PERFILE2";

/// Size of the header of a pipe; a file has a longer one.
const PIPE: u64 = 16;

/// Records of the kernel.
const MMAP: u32 = 1;
const LOST: u32 = 2;
const COMM: u32 = 3;
const FORK: u32 = 7;
const MMAP2: u32 = 10;
const AUX: u32 = 11;
const LOST_SAMPLES: u32 = 13;
const TEXT_POKE: u32 = 20;
const HW_ID: u32 = 21;
/// Records of perf.
const USER: u32 = 64;
const HEADER_ATTR: u32 = 64;
const BUILD_ID: u32 = 67;
const AUXTRACE_INFO: u32 = 70;
const AUXTRACE: u32 = 71;
const AUXTRACE_ERROR: u32 = 72;
const HEADER_FEATURE: u32 = 80;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;

/// Flags of records.
const MMAP_DATA: u16 = 1 << 13;
const COMM_EXEC: u16 = 1 << 13;
const FORK_EXEC: u16 = 1 << 13;
const MMAP_BUILD_ID: u16 = 1 << 14;
/// Flag of a mapping: it is executable.
const PROT_EXEC: u32 = 4;

/// Format of AUX records of RISC-V; E-Trace has 1, and 0 if the driver does not say.
const NTRACE: u8 = 2;
/// trTeFormat of E-Trace.
const ETRACE: u64 = 0;

/// A recording that was read and checked.
#[derive(Debug)]
pub struct Recording {
    file: Vec<u8>,
    /// The kind of trace, and its units.
    pub trace: Trace,
    /// What trace units wrote, in the order of time.
    pub pieces: Vec<Piece>,
    /// Trace bytes that cannot be used.
    pub missing: Vec<Missing>,
    /// What CPUs are called in the trace.
    pub hw_ids: Vec<HwId>,
    /// What changed in the address spaces of processes.
    pub log: Log,
    /// The architecture, as `uname -m` prints it.
    pub arch: Option<String>,
    /// Number of CPUs.
    pub cpus: Option<u32>,
    /// What was lost, or cannot be used.
    pub warnings: Vec<String>,
}

/// What was read so far.
#[derive(Default)]
struct Reading<'a> {
    attrs: Attrs,
    features: Features,
    info: Option<Fields<'a>>,
    buffers: Buffers,
    hw_ids: Vec<HwId>,
    changes: Vec<(u64, Change)>,
    lost: u64,
    errors: u64,
}

impl Recording {
    /// Whether a file starts as recordings do.
    pub fn is_one(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        // A pipe can be read only once.
        path.is_file()
            && input::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && start == *MAGIC
    }

    /// Reads a recording.
    pub fn read(file: Vec<u8>) -> Result<Self, Error> {
        let mut reading = Reading::default();
        let mut warnings = Vec::new();
        let part = reading.header(&file, &mut warnings)?;
        let mut records = Records::new(&file, part);
        while let Some(record) = records.next()? {
            reading.record(record)?;
        }
        let Reading { features, info, buffers, hw_ids, mut changes, lost, errors, .. } = reading;
        let trace = Trace::read(info.ok_or(Error::NoTrace)?, &features)?;
        let (pieces, missing) = buffers.cut();
        for (_, change) in &mut changes {
            if let Change::Map { file, .. } = change
                && file.build_id.is_none()
            {
                file.build_id = features.build_ids.get(&file.name).cloned();
            }
        }
        let (log, changes) = Changes::new(file.len()).log(changes);
        if changes.without_file > 0 {
            let count = changes.without_file;
            warnings.push(format!(
                "{count} mappings have no file with their code: kernel, modules, JIT"
            ));
        }
        if changes.is_full() {
            warnings
                .push("there are too many mappings: code of some processes is missing".to_owned());
        }
        if lost > 0 {
            warnings.push(format!("the kernel lost {lost} records; mappings may be missing"));
        }
        if errors > 0 {
            warnings.push(format!("perf reported {errors} errors of the trace"));
        }
        let (arch, cpus) = (features.arch, features.cpus);
        Ok(Self { file, trace, pieces, missing, hw_ids, log, arch, cpus, warnings })
    }

    /// Whether it has N-Trace, of Nexus, which needs another decoder.
    pub fn is_ntrace(&self) -> bool {
        let Trace::Riscv(riscv) = &self.trace else { return false };
        let told = self.pieces.iter().any(|piece| piece.format == NTRACE);
        told || riscv.cpus.iter().any(|cpu| cpu.format != ETRACE)
    }

    /// Completes the parameters of E-Trace, which a recording does not have: drivers copy what a trace unit
    /// wrote, in standard encapsulation, with the CPU as srcID. Returns the width of srcID if it was guessed
    /// from the number of CPUs.
    pub fn complete(&self, draft: &mut Draft, given: &Given) -> Option<u8> {
        let kind = given.framing.unwrap_or(*draft.framing.get_or_insert(Kind::Encap));
        let known = given.fields.src_bits.or(draft.fields.src_bits).is_some();
        let last = self.cpus.and_then(|cpus| cpus.checked_sub(1)).filter(|last| *last > 0)?;
        if kind != Kind::Encap || known {
            return None;
        }
        // Drivers use 12 bits at most.
        let bits = (u32::BITS.saturating_sub(last.leading_zeros()) as u8).min(12);
        draft.fields.src_bits = Some(bits);
        Some(bits)
    }

    /// The bytes of a piece.
    pub fn bytes(&self, piece: &Piece) -> Cow<'_, [u8]> {
        let part = |part: &Range<usize>| self.file.get(part.clone()).unwrap_or_default();
        match &piece.bytes[..] {
            [] => Cow::Borrowed(&[]),
            [all] => Cow::Borrowed(part(all)),
            parts => Cow::Owned(parts.iter().map(part).collect::<Vec<_>>().concat()),
        }
    }
}

impl<'a> Reading<'a> {
    /// Reads the header and, of a file, what it points to. Returns where records are.
    fn header(
        &mut self,
        file: &'a [u8],
        warnings: &mut Vec<String>,
    ) -> Result<Range<usize>, Error> {
        match file.get(..8) {
            Some(start) if start == MAGIC => {}
            Some(b"2ELIFREP") => return Err(Error::BigEndian),
            _ => return Err(Error::Magic),
        }
        let mut header = Fields::new(file, 0, "the header");
        header.take(8)?;
        if header.u64()? == PIPE {
            return Ok(16..file.len());
        }
        let at = header.at();
        let attr_size = header.u64()?;
        let attrs = section(&mut header, file, "the section of events")?;
        // A recording that was not ended properly has no size.
        let from = header.at();
        let (mut data, mut rest) = (header, header);
        let start = data.u64()?;
        let unfinished = data.u64()? == 0;
        let data = if unfinished {
            warnings.push("the recording was not ended properly".to_owned());
            rest.take(16)?;
            let start = usize::try_from(start).ok().filter(|start| *start <= file.len());
            let (what, size) = ("the section of records", file.len() as u64);
            start.ok_or(Error::Short { byte: from, what, end: size, size })?..file.len()
        } else {
            section(&mut rest, file, "the section of records")?
        };
        // Names of events, which are not needed.
        rest.take(16)?;
        let features = rest.take(32)?;
        let part = |part: Range<usize>, what| {
            Fields::new(file.get(part.clone()).unwrap_or_default(), part.start as u64, what)
        };
        let Some(own) = attr_size.checked_sub(16).and_then(|own| usize::try_from(own).ok()) else {
            let what = "the size of an event";
            return Err(Error::Value { byte: at, what, value: attr_size });
        };
        // The same identifiers may be named again and again.
        let mut room = file.len();
        let mut all = part(attrs, "the section of events");
        while !all.is_empty() {
            let (at, bytes) = (all.at(), all.take(own)?);
            self.attrs.add(Fields::new(bytes, at, "an event"))?;
            let byte = all.at();
            let ids = section(&mut all, file, "the identifiers of an event")?;
            let Some(left) = room.checked_sub(ids.len()) else {
                let what = "the start of identifiers that belong to several events";
                return Err(Error::Value { byte, what, value: ids.start as u64 });
            };
            room = left;
            self.attrs.add_ids(part(ids, "the identifiers of an event"));
        }
        if unfinished {
            return Ok(data);
        }
        let mut table = part(data.end..file.len(), "the table of features");
        for (byte, base) in features.iter().zip((0u64..).step_by(8)) {
            for bit in (0..8).filter(|bit| byte & (1 << bit) != 0) {
                let feature = section(&mut table, file, "a feature")?;
                self.features.add(base | bit, part(feature, "a feature"))?;
            }
        }
        Ok(data)
    }

    fn record(&mut self, record: Record<'a>) -> Result<(), Error> {
        let Record { at, kind, misc, mut body, trace } = record;
        if kind < USER {
            let (own, id) = self.attrs.split(body);
            return self.of_kernel(at, kind, misc, own, id);
        }
        match kind {
            HEADER_ATTR => {
                let ids = self.attrs.add(body)?;
                self.attrs.add_ids(ids);
            }
            HEADER_FEATURE => self.features.add(body.u64()?, body)?,
            BUILD_ID => self.features.add_build_id(misc, body)?,
            AUXTRACE_INFO => self.info = Some(body),
            AUXTRACE => {
                let (_size, offset, _reference) = (body.u64()?, body.u64()?, body.u64()?);
                let (_index, tid, cpu) = (body.u32()?, body.u32()?, body.u32()?);
                self.buffers.add(cpu, tid, offset, trace);
            }
            AUXTRACE_ERROR => self.errors = self.errors.saturating_add(1),
            COMPRESSED | COMPRESSED2 => return Err(Error::Compressed { byte: at }),
            _ => {}
        }
        Ok(())
    }

    fn of_kernel(
        &mut self,
        at: u64,
        kind: u32,
        misc: u16,
        mut body: Fields<'a>,
        id: SampleId,
    ) -> Result<(), Error> {
        let time = id.time.unwrap_or(0);
        let change = match kind {
            MMAP | MMAP2 => {
                let (pid, tid) = (body.u32()?, body.u32()?);
                let (range, pgoff) = ((body.u64()?, body.u64()?), body.u64()?);
                let (mut code, mut build_id) = (misc & MMAP_DATA == 0, None);
                if kind == MMAP2 {
                    let mut file = Fields::new(body.take(24)?, 0, "a mapping");
                    if misc & MMAP_BUILD_ID != 0 {
                        let size = usize::from(file.u8()?).min(20);
                        file.take(3)?;
                        build_id = Some(hex(file.take(size)?));
                    }
                    code &= body.u32()? & PROT_EXEC != 0;
                    body.u32()?;
                }
                let file = File { name: body.text(), build_id };
                Change::Map { pid, tid, range, pgoff, code, file }
            }
            COMM => {
                let (pid, tid) = (body.u32()?, body.u32()?);
                Change::Comm { pid, tid, exec: misc & COMM_EXEC != 0 }
            }
            FORK => {
                let (pid, ppid, tid) = (body.u32()?, body.u32()?, body.u32()?);
                Change::Fork { pid, ppid, tid, inherits: misc & FORK_EXEC == 0 }
            }
            TEXT_POKE => {
                let address = body.u64()?;
                let (old, new) = (body.u16()?, body.u16()?);
                body.take(old.into())?;
                Change::Poke { address, code: body.take(new.into())?.to_vec() }
            }
            AUX => {
                let (offset, size, flags) = (body.u64()?, body.u64()?, body.u64()?);
                self.buffers.add_record(Aux { at, id, offset, size, flags });
                return Ok(());
            }
            HW_ID => {
                let value = body.u64()?;
                if let Some(cpu) = id.cpu {
                    self.hw_ids.push(HwId { at, cpu, value });
                }
                return Ok(());
            }
            LOST => {
                body.u64()?;
                self.lost = self.lost.saturating_add(body.u64()?);
                return Ok(());
            }
            LOST_SAMPLES => {
                self.lost = self.lost.saturating_add(body.u64()?);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.changes.push((time, change));
        Ok(())
    }
}

/// Reads the place of a section, and checks that the file has it.
fn section(
    fields: &mut Fields<'_>,
    file: &[u8],
    what: &'static str,
) -> Result<Range<usize>, Error> {
    let byte = fields.at();
    let (offset, length) = (fields.u64()?, fields.u64()?);
    let end = offset.saturating_add(length);
    let size = file.len() as u64;
    match (usize::try_from(offset), usize::try_from(end)) {
        (Ok(start), Ok(stop)) if end <= size => Ok(start..stop),
        _ => Err(Error::Short { byte, what, end, size }),
    }
}

//! What a hart retires, and what software makes of it.

use hartrace_compressors::{Bits, Code, Scheme, SchemeSetup};
use hartrace_decoder::Image;
use hartrace_etrace::ingress::{IType, ITypeWidth, Retired};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::{Port, Program, ProgramError};
use hartrace_golden::walk::{Shape, generate};
use hartrace_isa::{Isa, Xlen};
use libtest_mimic::Failed;

/// The input of a compressor and its output.
pub(super) struct Stimulus {
    code: Code,
    /// Instructions and traps, one by one.
    pub(super) rows: Vec<Retired>,
    /// What software sends.
    pub(super) bits: Bits,
    /// Cycles in a thousand in which nothing retires.
    pub(super) idle: u32,
    /// Cycles in a thousand in which no output is accepted.
    pub(super) back_pressure: u32,
    /// Whether bits are sometimes flushed while nothing retires. Others than TMBP would end a stream there.
    pub(super) flushes: bool,
}

impl Stimulus {
    fn new(
        scheme: &str,
        image: &Image,
        mut rows: Vec<Retired>,
        [idle, back_pressure]: [u32; 2],
    ) -> Result<Self, Failed> {
        // Software drops traps that no instruction follows; hardware does not know that none does.
        let retired = rows.iter().rposition(|row| row.iretire > 0);
        rows.truncate(retired.map_or(0, |last| last + 1));
        let code = Code::new(image);
        let setup = SchemeSetup { code: &code, sync_every: None, tvec: &[] };
        let mut software = scheme.parse::<Scheme>()?.compressor(&setup)?;
        for row in &rows {
            software.retire(row)?;
        }
        let bits = software.finish()?.bits;
        let flushes = scheme.contains("TMBP");
        Ok(Self { code, rows, bits, idle, back_pressure, flushes })
    }

    /// Checks that software recovers every instruction from other bits.
    pub(super) fn check(&self, scheme: &str, bits: &Bits) -> Result<(), Failed> {
        let setup = SchemeSetup { code: &self.code, sync_every: None, tvec: &[] };
        let software = scheme.parse::<Scheme>()?.decompressor(&setup);
        let mut expected = self.rows.iter().filter(|row| row.iretire > 0).map(|row| row.iaddr);
        let (count, mut wrong) = (expected.clone().count() as u64, None);
        software.decompress(bits, count, &mut |pc| {
            let expected = expected.next();
            if expected != Some(pc) {
                wrong.get_or_insert((pc, expected));
            }
        })?;
        match (wrong, expected.next()) {
            (None, None) => Ok(()),
            differs => Err(format!("instructions differ: {differs:x?}").into()),
        }
    }
}

/// A random walk of any shape, without resets.
pub(super) fn walk(scheme: &str, xlen: u32, seed: u64) -> Result<Stimulus, Failed> {
    let xlen = if xlen == 32 { Xlen::Rv32 } else { Xlen::Rv64 };
    let shape = Shape::random(seed).without_sideband();
    let address_bits = xlen.bits() as u8;
    let walk =
        generate(seed, &Shape { xlen, address_bits, itype_width: ITypeWidth::Four, ..shape });
    let mut image = Image::new(Isa::new(xlen));
    for (address, bytes) in &walk.program.segments {
        image.add(*address, bytes);
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    let traffic = [[0, 0], [600, 0], [0, 600], [300, 300]][rng.usize(..4)];
    Stimulus::new(scheme, &image, walk.rows, traffic)
}

/// Straight code about as long as the longest stream, then a trap: with its last instruction, or behind that.
pub(super) fn straight(scheme: &str, xlen: u32) -> Result<Vec<Stimulus>, Failed> {
    let xlen = if xlen == 32 { Xlen::Rv32 } else { Xlen::Rv64 };
    let mut image = Image::new(Isa::new(xlen));
    let nops = 0x13_u32.to_le_bytes().repeat(600);
    let starts = [0x1000, 0x8000];
    starts.iter().for_each(|start| image.add(*start, &nops));
    let plain = |start: u64, count: u64| (0..count).map(move |i| Retired::plain(start + 4 * i));
    let stimulus = |length: u64, retires: bool| {
        let mut rows: Vec<Retired> = plain(starts[0], length).collect();
        let (itype, after) = (IType::Exception, starts[0] + 4 * length);
        rows.push(match retires {
            true => Retired { itype, ..Retired::plain(after) },
            false => Retired { itype, iretire: 0, ..Retired::plain(after) },
        });
        rows.extend(plain(starts[1], 300));
        Stimulus::new(scheme, &image, rows, [0, 0])
    };
    (250..258)
        .flat_map(|length| [(length, false), (length, true)])
        .map(|(length, retires)| stimulus(length, retires))
        .collect()
}

/// So many instructions of each bundled program, with the widths of their addresses.
pub(super) fn programs(
    scheme: &str,
    limit: u64,
) -> Result<Vec<(&'static str, u32, Stimulus)>, Failed> {
    let port = Port { lanes: 1, half_words: 2, rows: 1, itype_width: ITypeWidth::Four };
    PROGRAMS
        .iter()
        .map(|(name, elf)| {
            let program = Program::new(*name, elf.to_vec())?;
            let mut all = Vec::new();
            program.execute_on(port, limit, |rows| -> Result<(), ProgramError> {
                all.extend_from_slice(rows);
                Ok(())
            })?;
            let stimulus = Stimulus::new(scheme, program.image(), all, [0, 0])?;
            Ok((*name, program.xlen().bits(), stimulus))
        })
        .collect()
}

//! Streams to measure with.

use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_decoder::{Config, Image};
use hartrace_etrace::{Params, Unit};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::EncoderConfig;
use hartrace_isa::{Isa, Xlen};
use hartrace_walk::{Shape, generate};
use std::path::{Path, PathBuf};

/// A stream and its program.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    pub(crate) params: Params,
    /// te_inst_raw.
    pub(crate) stream: Vec<u8>,
    pub(crate) segments: Vec<(u64, Vec<u8>)>,
}

const REFERENCE: Params = Params {
    iaddress_width_p: 64,
    iaddress_lsb_p: 1,
    privilege_width_p: 2,
    ecause_width_p: 5,
    context_width_p: 32,
    nocontext_p: true,
    time_width_p: 1,
    notime_p: true,
    f0s_width_p: 0,
    bpred_size_p: 0,
    cache_size_p: 0,
    return_stack_size_p: 0,
    call_counter_size_p: 0,
    sijump_p: false,
};

/// The simulator's reset code, which is in no ELF file.
pub(crate) const BOOT_ROM: [u32; 5] =
    [0x0000_0297, 0x0202_8593, 0xf140_2573, 0x0182_b283, 0x0002_8067];

impl Input {
    /// A stream of the reference flow.
    pub(crate) fn vector(data: &Path, name: &'static str, program: &str) -> Self {
        let folder = data.join("etrace-reference");
        let stream = read(&folder.join(format!("packets/itype4_nocontext_r10/{name}.te_inst_raw")));
        let elf = read(&elf_path(data, program));
        let file = ElfBytes::<LittleEndian>::minimal_parse(&elf).expect("an ELF file");
        let all = file.segments().expect("segments");
        let loads = all.iter().filter(|s| s.p_type == elf::abi::PT_LOAD);
        let mut segments: Vec<(u64, Vec<u8>)> = loads
            .map(|s| (s.p_vaddr, file.segment_data(&s).expect("segment data").to_vec()))
            .collect();
        segments.push((0x1000, BOOT_ROM.iter().flat_map(|word| word.to_le_bytes()).collect()));
        Self { name, params: REFERENCE, stream, segments }
    }

    /// A random walk.
    pub(crate) fn walk() -> Self {
        let shape = Shape { steps: 1_000_000, absolute: 0, ..Shape::default() };
        let walk = generate(1, &shape.without_sideband().without_traps());
        let config = EncoderConfig { params: REFERENCE, ..EncoderConfig::default() };
        let mut encoder = Encoder::new(config).expect("legal");
        let mut stream = Vec::new();
        let mut out = |payload: hartrace_golden::Encoded| {
            stream.push(0x40 | payload.bytes.len() as u8);
            stream.extend(payload.bytes);
        };
        for row in &walk.rows {
            encoder.retire(row, &mut out);
        }
        encoder.finish(&mut out);
        Self { name: "walk", params: REFERENCE, stream, segments: walk.program.segments }
    }

    pub(crate) fn image(&self) -> Image {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        for (address, bytes) in &self.segments {
            image.add(*address, bytes);
        }
        image
    }

    pub(crate) fn config(&self) -> Config {
        Config { params: self.params, unit: Unit::Reference, ..Config::default() }
    }
}

/// Where the ELF file of a program of the reference flow is.
pub(crate) fn elf_path(data: &Path, program: &str) -> PathBuf {
    data.join(format!("etrace-reference/elf/{program}.riscv"))
}

/// A whole file.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

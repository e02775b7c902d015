//! Bundled programs: their executed rows and their code. The benchmark uses this too.

use hartrace_decoder::Image;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_executions::executed::{Port, Steps};
use hartrace_isa::{Isa, Xlen};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Step};
use std::error::Error;

/// A program and its executed rows.
pub(crate) struct Executed {
    pub(crate) image: Image,
    pub(crate) tvec: Vec<(u8, u64)>,
    pub(crate) rows: Vec<Retired>,
}

/// The first steps of a bundled program, as the encoder's port receives them, with at most this
/// many instructions per cycle.
pub(crate) fn bundled(
    name: &str,
    steps: u64,
    config: &Config,
    instructions: u32,
) -> Result<Executed, Box<dyn Error>> {
    let path = format!("{}/../../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    let elf = std::fs::read(path)?;
    let (xlen, hart_xlen) = match elf.get(4) {
        Some(1) => (Xlen::Rv32, hartrace_iss::Xlen::Rv32),
        _ => (Xlen::Rv64, hartrace_iss::Xlen::Rv64),
    };
    let mut image = Image::new(Isa::new(xlen));
    image.add_elf(&elf, 0)?;
    let mut hart = Hart::new(HartConfig {
        xlen: hart_xlen,
        memory: vec![Range { base: 0x8000_0000, size: 1 << 24 }],
        environment: Environment::Htif,
        ..HartConfig::default()
    });
    hart.load_elf(&elf)?;
    let port = Port {
        lanes: config.lanes,
        half_words: (1 << config.iretire_width_p) - 1,
        rows: instructions,
        itype_width: itype_width(config),
    };
    let (mut rows, mut cycles) = (Steps::new(image.isa()), port.cycles());
    hart.run(steps, &mut |step: &Step| cycles.push(&rows.row(step)));
    cycles.close();
    let tvec = hart.trap_vectors().map(|(level, base)| (level.0, base)).to_vec();
    Ok(Executed { image, tvec, rows: cycles.rows })
}

/// Width of the itype signal.
pub(crate) fn itype_width(config: &Config) -> ITypeWidth {
    match config.itype_width_p {
        3 => ITypeWidth::Three,
        _ => ITypeWidth::Four,
    }
}

//! A small core with its trace on an ECP5 board, complete: a PicoRV32 with a program in block RAM, adapter, connector, the
//! encoder `micro`, and a serial line for the trace.
//!
//! The board is a ULX3S with an LFE5U-85F; its parts are in `fpga/ulx3s`. No board was at hand: the design is simulated
//! from the core to the bits on the serial line, and built to a [`bitstream`].

use crate::{FpgaError, Tools};
use hartrace_cva6_connector::{Interface, package as connector};
use hartrace_encoder_hdl::top::{Sink, TopConfig, package};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Xlen};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};
use std::fs;
use std::path::Path;

/// The module with the pins of the board.
pub const TOP: &str = "ulx3s_top";

/// Clock rate of the board, in MHz.
pub const MHZ: f64 = 25.0;

const PARTS: [(&str, &str); 3] = [
    ("traced_picorv32.sv", include_str!("../ulx3s/traced_picorv32.sv")),
    ("trace_uart.sv", include_str!("../ulx3s/trace_uart.sv")),
    ("ulx3s_top.sv", include_str!("../ulx3s/ulx3s_top.sv")),
];
const PINS: &str = include_str!("../ulx3s/ulx3s.lpf");
const DEVICE: [&str; 5] = ["--85k", "--package", "CABGA381", "--speed", "6"];

/// Where memory starts, and its size.
const MEMORY: Range = Range { base: 0x8000_0000, size: 0x1_0000 };

/// The encoder of the board.
///
/// # Errors
///
/// If there is no such configuration any more.
pub fn encoder() -> Result<TopConfig, FpgaError> {
    let config = TopConfig::find("micro", None).map_err(FpgaError::board)?;
    // What one burst of calls produces waits for the serial line.
    Ok(TopConfig { sink: Sink::AxiStream { word_bytes: 2 }, fifo_depth: 64, ..config })
}

/// Names and texts of all modules except the core, in the order that tools require; with [`encoder`], or one with the same
/// ports.
///
/// # Errors
///
/// If the encoder cannot be generated.
pub fn sources(config: &TopConfig) -> Result<Vec<(String, String)>, FpgaError> {
    let (modules, adapter) =
        connector(&config.encoder, &config.prefix, Interface::Rvfi).map_err(FpgaError::board)?;
    let mut files = adapter;
    files.extend(package(config, modules).map_err(FpgaError::board)?);
    files.extend(PARTS.map(|(name, text)| (name.to_owned(), text.to_owned())));
    // The wrapper with structures is for others, and yosys does not know types as parameters.
    files.retain(|(name, _)| name.ends_with(".sv") && !name.ends_with("_structs.sv"));
    Ok(files)
}

/// The contents of memory with a program, for `$readmemh`.
///
/// # Errors
///
/// If the program is not an ELF file for this core, or does not fit.
pub fn memory(elf: &[u8]) -> Result<String, FpgaError> {
    let config = HartConfig {
        xlen: Xlen::Rv32,
        memory: vec![MEMORY],
        environment: Environment::Bare,
        ..HartConfig::default()
    };
    let mut hart = Hart::new(config);
    let entry = hart.load_elf(elf).map_err(FpgaError::board)?;
    if entry.pc != MEMORY.base {
        let (pc, base) = (entry.pc, MEMORY.base);
        return Err(FpgaError::Board(format!(
            "the program starts at 0x{pc:x}, the core at 0x{base:x}"
        )));
    }
    let bytes = hart.read_memory(MEMORY.base, MEMORY.size).unwrap_or_default();
    let mut text = String::new();
    for word in bytes.chunks_exact(4) {
        let word = word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{word:08x}");
    }
    Ok(text)
}

/// A bitstream, and what it takes of the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Bitstream {
    /// The file.
    pub bytes: Vec<u8>,
    /// The clock rate that it reaches after routing, in MHz.
    pub mhz: f64,
    /// Used and available cells, by kind.
    pub cells: BTreeMap<String, Cells>,
}

/// Cells of one kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Cells {
    /// Those that the design uses.
    pub used: u64,
    /// Those that the device has.
    pub available: u64,
}

#[derive(Debug, Deserialize)]
struct Routed {
    fmax: BTreeMap<String, Fmax>,
    utilization: BTreeMap<String, Cells>,
}

#[derive(Debug, Deserialize)]
struct Fmax {
    achieved: f64,
}

/// Builds the design with a program in memory, in an empty folder.
///
/// # Errors
///
/// If the core is not installed, a tool fails, or the design is slower than the clock of the board.
pub fn bitstream(tools: &Tools, folder: &Path, elf: &[u8]) -> Result<Bitstream, FpgaError> {
    let core = tools.picorv32()?;
    fs::copy(core, folder.join("picorv32.v")).map_err(FpgaError::io("picorv32.v"))?;
    let mut files = sources(&encoder()?)?;
    files.push(("program.hex".to_owned(), memory(elf)?));
    files.push(("ulx3s.lpf".to_owned(), PINS.to_owned()));
    let mut script = String::from("read_verilog -sv");
    for (name, text) in &files {
        fs::write(folder.join(name), text).map_err(FpgaError::io(name))?;
        if name.ends_with(".sv") {
            script.push(' ');
            script.push_str(name);
        }
    }
    // The core has RVFI only with this name defined.
    script.push_str("\nread_verilog -DRISCV_FORMAL picorv32.v\n");
    let _ = writeln!(script, "synth_ecp5 -top {TOP} -json ulx3s.json");
    tools.yosys(folder, &script)?;
    let mut args = DEVICE.to_vec();
    args.extend(["--json", "ulx3s.json", "--lpf", "ulx3s.lpf", "--textcfg", "ulx3s.config"]);
    args.extend(["--report", "ulx3s-report.json", "--seed", "1"]);
    tools.nextpnr(folder, "nextpnr.log", &args)?;
    tools.ecppack(folder, &["--compress", "ulx3s.config", "ulx3s.bit"])?;
    let report =
        fs::read(folder.join("ulx3s-report.json")).map_err(FpgaError::io("ulx3s-report.json"))?;
    let unexpected = |problem: String| FpgaError::Unexpected {
        tool: "nextpnr-ecp5",
        file: "ulx3s-report.json",
        problem,
    };
    let routed: Routed =
        serde_json::from_slice(&report).map_err(|error| unexpected(error.to_string()))?;
    let rates = routed.fmax.values().map(|fmax| fmax.achieved);
    let mhz =
        rates.reduce(f64::min).ok_or_else(|| unexpected("there is no clock rate".to_owned()))?;
    let bytes = fs::read(folder.join("ulx3s.bit")).map_err(FpgaError::io("ulx3s.bit"))?;
    let cells = routed.utilization.into_iter().filter(|(_, cells)| cells.used > 0).collect();
    Ok(Bitstream { bytes, mhz, cells })
}

impl Display for Bitstream {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} bytes, {:.1} MHz", self.bytes.len(), self.mhz)?;
        for (kind, Cells { used, available }) in &self.cells {
            writeln!(f, "{kind:<20} {used:>6} of {available:>6}")?;
        }
        Ok(())
    }
}

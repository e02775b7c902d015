//! The board: from the core to the bits on its serial line, and as a bitstream.

mod cva6;

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Event, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{Deframer, Item};
use hartrace_encoder_hdl::top::TopConfig;
use hartrace_fpga::{Tools, board};
use hartrace_hdl_tools::verilate::{Design, Options, Simulation, available};
use hartrace_isa::{Isa, Xlen};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::Path;

/// Clock cycles in a second.
const CLOCK: u64 = 25_000_000;
/// Bits that the serial line carries in a second.
const BAUD: u64 = 3_000_000;

/// Bits of the LEDs.
const ENDED: u64 = 1 << 1;
const WRONG: u64 = 1 << 2;
const STOPPED: u64 = 1 << 3;
const LOST: u64 = 1 << 4;
const SENDING: u64 = 1 << 7;

pub(crate) fn trials() -> Vec<Trial> {
    let core = Tools::find().and_then(|tools| tools.picorv32());
    let simulates = core.is_ok() && available();
    let simulated = |name: &str, run: fn() -> Result<(), Failed>| {
        Trial::test(format!("board/{name}"), run).with_ignored_flag(!simulates)
    };
    // The longest first, so that the others run beside it.
    let mut trials = vec![
        Trial::test("board/bitstream", bitstream).with_ignored_flag(core.is_err()),
        simulated("all_of_a_dense_trace", || {
            let fifo_depth = 256;
            let top = TopConfig { fifo_depth, ..board::encoder()? };
            program_on(&top, "calls", CLOCK, false)
        }),
        simulated("all_of_a_trace_over_the_serial_line", || {
            program_on(&board::encoder()?, "crypto", BAUD, false)
        }),
        simulated("losses_of_the_serial_line_are_recorded", || {
            program_on(&board::encoder()?, "calls", BAUD, true)
        }),
    ];
    trials.extend(cva6::trials());
    trials
}

fn program(name: &str) -> Result<Vec<u8>, Failed> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/programs/elf/picorv32");
    Ok(fs::read(Path::new(folder).join(name).with_extension("elf"))?)
}

fn folder(name: &str) -> Result<std::path::PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("board").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A program from reset to its end: what is decoded from the serial line is what retired.
fn program_on(top: &TopConfig, name: &str, baud: u64, loses: bool) -> Result<(), Failed> {
    let elf = program(name)?;
    let memory = folder(&format!("{name}_{baud}"))?.join("program.hex");
    fs::write(&memory, board::memory(&elf)?)?;
    let mut design = Design::files("simulated", [Tools::find()?.picorv32()?]);
    for (name, text) in board::sources(top)? {
        design = design.text(name.trim_end_matches(".sv"), &text);
    }
    let design = design
        .text("simulated", include_str!("simulated.sv"))
        .clock("clk_i")
        .argument("-DRISCV_FORMAL")
        .argument(&format!("-GBaud={baud}"))
        .argument(&format!("-GMemoryFile=\"{}\"", memory.display()))
        // The core has many warnings.
        .argument("-Wno-lint")
        .argument("-Wno-style");
    let mut sim = Simulation::build(&design, &Options::default())?;
    let outputs = ["line_o", "led_o", "retires_o", "pc_o"].map(|name| sim.output(name));
    let [line, led, retires, pc] = outputs;
    let (line, led, retires, pc) = (line?, led?, retires?, pc?);
    // Registers without a defined start have any value before the first clock edge.
    sim.step()?;
    let mut serial = Serial::new(baud);
    let mut retired = Vec::new();
    let mut quiet = 0;
    // Until the line has been at rest for longer than a packet waits.
    while quiet < 4_000 {
        sim.step()?;
        if sim.get(retires) == 1 {
            retired.push(sim.get(pc));
        }
        serial.sample(sim.get(line) == 1)?;
        let leds = sim.get(led);
        quiet = if leds & ENDED != 0 && leds & SENDING == 0 { quiet + 1 } else { 0 };
        if leds & STOPPED != 0 || sim.cycle() > 40_000_000 {
            return Err(format!("LEDs {leds:08b} in cycle {}", sim.cycle()).into());
        }
    }
    let leds = sim.get(led);
    let mut image = Image::new(Isa::new(Xlen::Rv32));
    image.add_elf(&elf, 0)?;
    let parts = decode(top, &serial.bytes, &image)?;
    let decoded: usize = parts.iter().map(Vec::len).sum();
    println!(
        "{name}, {baud} baud: {} cycles, {} bytes, decoded {decoded} of {} in {} parts",
        sim.cycle(),
        serial.bytes.len(),
        retired.len(),
        parts.len(),
    );
    assert_eq!(leds & (ENDED | WRONG), ENDED, "the exit code is 0");
    assert_eq!(leds & LOST != 0, loses, "LEDs {leds:08b}");
    assert!(retired.len() > 100_000, "{} instructions are too few to tell", retired.len());
    if loses {
        // Every part is a stretch of what retired, one after the other.
        let mut at = 0;
        for part in &parts {
            let found = retired[at..].windows(part.len()).position(|window| window == part);
            let Some(found) = found else {
                return Err(format!(
                    "{} instructions from 0x{:x} did not retire after the {at}th",
                    part.len(),
                    part[0]
                )
                .into());
            };
            at += found + part.len();
        }
        assert!(
            parts.len() > 10 && decoded > 10_000,
            "{decoded} in {} parts: too few to tell",
            parts.len()
        );
    } else {
        assert!(parts.len() == 1 && parts[0] == retired, "{:x?}", difference(&parts[0], &retired));
    }
    Ok(())
}

fn difference(decoded: &[u64], retired: &[u64]) -> String {
    let at = decoded.iter().zip(retired).position(|(a, b)| a != b);
    let at = at.unwrap_or(decoded.len().min(retired.len()));
    format!("instruction {at}: decoded {:x?}, retired {:x?}", decoded.get(at), retired.get(at))
}

/// The receiver: 8 data bits, one stop bit, sampled in the middle.
struct Serial {
    baud: u64,
    /// Cycles since the start of a byte.
    since: Option<u64>,
    /// Bits of it that were sampled.
    sampled: u64,
    byte: u8,
    bytes: Vec<u8>,
}

impl Serial {
    fn new(baud: u64) -> Self {
        Self { baud, since: None, sampled: 0, byte: 0, bytes: Vec::new() }
    }

    fn sample(&mut self, high: bool) -> Result<(), Failed> {
        let since = match self.since {
            None if high => return Ok(()),
            None => 0,
            Some(since) => since + 1,
        };
        self.since = Some(since);
        // The middle of the next bit.
        if since < (2 * self.sampled + 1) * CLOCK / (2 * self.baud) {
            return Ok(());
        }
        self.sampled += 1;
        match self.sampled {
            1 if high => return Err("a start bit is too short".into()),
            1 => {}
            2..=9 => self.byte = self.byte >> 1 | u8::from(high) << 7,
            _ if !high => return Err(format!("byte {} has no stop bit", self.bytes.len()).into()),
            _ => {
                self.bytes.push(self.byte);
                (self.since, self.sampled) = (None, 0);
            }
        }
        Ok(())
    }
}

/// Addresses of the instructions in a trace, in parts between losses.
fn decode(top: &TopConfig, bytes: &[u8], image: &Image) -> Result<Vec<Vec<u64>>, Failed> {
    let config =
        Config { params: top.encoder.etrace, unit: top.encoder.unit(), ..Config::default() };
    let mut tracer = Tracer::new(config, image)?;
    let mut deframer = Deframer::new(top.framing()?);
    // As many null packets as no packet contains announce the trace.
    if top.framing()?.sync_forward(bytes, 0) != Some(32) {
        return Err(format!("the trace is not announced: {:02x?}", bytes.get(..40)).into());
    }
    let (mut parts, mut damage, mut at) = (Parts::default(), None, StreamPos::default());
    deframer.feed(bytes, &mut |offset, item| match item {
        Ok(Item::Frame(frame)) => {
            at.byte = offset;
            let payload = frame.payload_bytes().unwrap_or_default();
            tracer.feed_bits(at, BitReader::new(payload, Tail::Sign), &mut parts);
            at.packet += 1;
        }
        Ok(Item::Null(_)) => {}
        Err(error) => drop(damage.get_or_insert(format!("byte {offset}: {error}"))),
    });
    let end = deframer.finish().map(|(offset, error)| format!("byte {offset}, the last: {error}"));
    tracer.finish(&mut parts);
    match damage.or(end).or(parts.gap) {
        Some(what) => Err(what.into()),
        None => Ok(parts.all.into_iter().filter(|part| !part.is_empty()).collect()),
    }
}

#[derive(Default)]
struct Parts {
    all: Vec<Vec<u64>>,
    gap: Option<String>,
}

impl Sink for Parts {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        if let Some(part) = self.all.last_mut() {
            run.addresses(|address| part.push(address));
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        match event {
            Event::On => self.all.push(Vec::new()),
            // What the encoder loses it says itself; nothing else may be missing.
            Event::Gap(fault) => drop(self.gap.get_or_insert(format!("{at:?}: {fault}"))),
            _ => {}
        }
    }
}

/// The whole design fits, is fast enough, and becomes a file for the device.
fn bitstream() -> Result<(), Failed> {
    let built = board::bitstream(&Tools::find()?, &folder("bitstream")?, &program("crypto")?)?;
    println!("{built}");
    assert!(built.mhz > board::MHZ, "{built}");
    // Memory of 64 KB, without a word for what yosys may add.
    assert_eq!(built.cells["DP16KD"].used, 32, "{built}");
    let share = |kind: &str| built.cells[kind].used as f64 / built.cells[kind].available as f64;
    assert!(share("TRELLIS_COMB") < 0.1 && share("TRELLIS_FF") < 0.05, "{built}");
    // Every pin of the top, and no other.
    assert_eq!(built.cells["TRELLIS_IO"].used, 12, "{built}");
    let text = String::from_utf8_lossy(&built.bytes[..200]);
    assert!(text.contains("LFE5U-85F") && built.bytes.len() > 100_000, "{text}");
    Ok(())
}

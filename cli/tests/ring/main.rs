//! A ring buffer that wrapped several times in simulation, read with `--ring`.
//!
//! A program is executed, traced by the generated top module, and written into a small ring by its memory sink. The
//! bytes of the ring are those that the models predict, and `hartrace decode --ring` returns the last
//! instructions that were executed. Without Verilator, the test shows as ignored.

#[allow(dead_code, reason = "shared with the tests of transport")]
#[path = "../../../encoder-hdl/tests/transport/simulation/bus.rs"]
mod bus;
#[allow(dead_code, reason = "shared with the tests of the top module")]
#[path = "../../../encoder-hdl/tests/top/simulation/hart.rs"]
mod hart;
#[allow(dead_code, reason = "shared with the tests of transport")]
#[path = "../../../encoder-hdl/tests/transport/simulation/nulls.rs"]
mod nulls;
#[allow(dead_code, reason = "shared with the tests of the top module")]
#[path = "../../../encoder-hdl/tests/top/simulation/port.rs"]
mod port;
#[allow(dead_code, reason = "shared with the tests of the top module")]
#[path = "../../../encoder-hdl/tests/top/simulation/rig.rs"]
mod rig;
#[allow(dead_code, reason = "shared with the tests of the top module")]
#[path = "../../../encoder-hdl/tests/top/simulation/software.rs"]
mod software;

use hartrace_decoder::Image;
use hartrace_encap::{FrameHeader, MAX_FRAME};
use hartrace_encoder_hdl::registers::driver::ram_sink::{TrRamControl, TrRamWPLow};
use hartrace_encoder_hdl::top::{TopConfig, params, sources};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_executions::executed::{Instructions, Port, Steps};
use hartrace_isa::{Isa, Xlen};
use hartrace_iss::{Environment, HartConfig, Range, Step};
use hartrace_lockstep::Setting;
use libtest_mimic::{Arguments, Failed, Trial};
use nulls::Nulls;
use rig::Rig;
use software::Session;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A ring that neither starts nor ends at a multiple of a burst.
const START: u32 = 0x2008;
const SIZE: u32 = 0x7e8;

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let modes = [
        ("plain", Ioptions::default()),
        ("returns", Ioptions { implicit_return: true, ..Ioptions::default() }),
        (
            "predicted",
            Ioptions { implicit_return: true, branch_prediction: true, ..Ioptions::default() },
        ),
    ];
    let trials = modes.map(|(name, options)| {
        Trial::test(name, move || comes_back(name, options)).with_ignored_flag(missing)
    });
    libtest_mimic::run(&args, trials.into()).exit();
}

fn comes_back(name: &str, options: Ioptions) -> Result<(), Failed> {
    let encoder = Config::named("full").ok_or("no configuration")?;
    let encoder = Config { overflow: Overflow::Stall, ..encoder };
    let config = TopConfig { encoder, ..TopConfig::default() };
    let program = format!("{}/../tests/programs/elf/sort.elf", env!("CARGO_MANIFEST_DIR"));
    let (rows, addresses) = executed(Path::new(&program), &config.encoder)?;

    let mut rig = Rig::new(&config, 1)?;
    rig.start_ram(START, SIZE, TrRamControl::default().with_async_freq(2))?;
    let setting = Setting { options, resync: (1, 0), ..Setting::default() };
    let session = Session { setting, triggers: false };
    rig.harts[0].idle = 1000;
    rig.start(0, &session)?;
    rig.cycles(10)?;
    rig.harts[0].execute(&rows);
    rig.harts[0].idle = 0;
    // The hart waits for its encoder, so everything is traced.
    while (rig.harts[0].traced as usize) < rows.len() {
        rig.cycles(100)?;
    }
    rig.stop(0, &session)?;
    rig.empty(0)?;
    let oldest = rig.stop_ram()? - START;
    let pointer = TrRamWPLow(rig.read(rig.sink() + TrRamWPLow::OFFSET)?);
    assert!(pointer.wrap(), "the ring has not wrapped");

    let whole = predicted(&config, &rig.harts[0].expected)?;
    assert!(whole.len() > 4 * SIZE as usize, "{} bytes: more is needed", whole.len());
    let (start, end) = (START as usize, (START + SIZE) as usize);
    let memory = &rig.memory()?.bytes;
    let ring = memory[start..end].to_vec();
    assert!(memory[..start].iter().all(|byte| *byte == 0xee), "before the ring");
    assert!(memory[end..].iter().all(|byte| *byte == 0xee), "behind the ring");
    let mut in_order = ring.clone();
    in_order.rotate_left(oldest as usize);
    assert!(in_order == whole[whole.len() - SIZE as usize..], "not what the models predict");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ring").join(name);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("ring.bin"), &ring)?;
    std::fs::write(folder.join("params.toml"), params(&config)?)?;
    let decode =
        |options: &str| hartrace(&folder, &format!("decode ring.bin {options} --elf {program}"));
    for place in [format!("{oldest}"), format!("{oldest:#x}"), "find".to_owned()] {
        let line = format!("--params params.toml --ring {place}");
        let decoded = decode(&format!("{line} --emit pcs"))?;
        let decoded: Vec<u64> =
            decoded.lines().map(|line| u64::from_str_radix(line, 16)).collect::<Result<_, _>>()?;
        assert!(decoded.len() > 2_000, "only {} instructions", decoded.len());
        assert!(addresses.ends_with(&decoded), "not the last instructions that were executed");
        let events = decode(&format!("{line} --emit json"))?;
        let gaps = events.lines().filter(|line| line.contains("\"gap\"")).count();
        assert!(gaps <= 1, "{gaps} gaps");
    }
    Ok(())
}

/// The cycles of the beginning of a program, and the addresses of its instructions.
fn executed(path: &Path, config: &Config) -> Result<(Vec<Retired>, Vec<u64>), Failed> {
    let elf = std::fs::read(path)?;
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add_elf(&elf, 0)?;
    let mut hart = hartrace_iss::Hart::new(HartConfig {
        memory: vec![Range { base: 0x8000_0000, size: 1 << 24 }],
        environment: Environment::Htif,
        ..HartConfig::default()
    });
    hart.load_elf(&elf)?;
    let port = Port {
        lanes: config.lanes,
        half_words: (1 << config.iretire_width_p) - 1,
        rows: u32::MAX,
        itype_width: ITypeWidth::Four,
    };
    let (mut rows, mut cycles) = (Steps::new(image.isa()), port.cycles());
    hart.run(100_000, &mut |step: &Step| cycles.push(&rows.row(step)));
    cycles.close();
    let instructions = Instructions::of(&image);
    let mut addresses = Vec::new();
    for block in &cycles.rows {
        instructions.split(block, |row| addresses.extend((row.iretire > 0).then_some(row.iaddr)));
    }
    Ok((cycles.rows, addresses))
}

/// The bytes that reach memory for these payloads.
fn predicted(config: &TopConfig, payloads: &[Vec<u8>]) -> Result<Vec<u8>, Failed> {
    // Lengths that depend on the encoder are part of the name of the module.
    let names = sources(config)?.into_iter().map(|(name, _)| name);
    let name = names.into_iter().find(|name| name.starts_with("aligner_")).ok_or("no aligner")?;
    let numbers =
        name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    let [longest, run, word] = numbers.collect::<Vec<u32>>()[..] else {
        return Err(format!("{name} has no three numbers").into());
    };
    let mut stream = Nulls::new(run, longest, word, 2);
    for payload in payloads {
        let mut frame = [0; MAX_FRAME];
        let len = config.framing()?.emit(&FrameHeader::default(), payload, &mut frame)?;
        stream.packet(&frame[..len]);
    }
    stream.flush();
    Ok(stream.bytes)
}

/// Standard output of a command that ends with status 0 or 1.
fn hartrace(folder: &PathBuf, line: &str) -> Result<String, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hartrace"));
    let output = command.args(line.split_whitespace()).current_dir(folder).output()?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{line}: {text}").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

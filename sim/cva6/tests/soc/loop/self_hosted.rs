//! A program that traces itself with the driver: what lies in memory afterwards is what it executed.

use crate::models::Kind;
use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_bits::{BitReader, Tail};
use hartrace_capture::ring::{self, Ring};
use hartrace_cva6_sim::soc::{Job, SelfTraced, Soc};
use hartrace_cva6_sim::{Config as PlatformConfig, Core, Exit, Latency};
use hartrace_decoder::{Config, Event, Fault, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::Item;
use hartrace_encoder_hdl::top::header;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::cva6::elf;
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::Path;

/// Checks that the header in a folder of the sources of programs is that of a system. `HARTRACE_BLESS=1` writes it; the
/// programs have to be built again then.
pub(crate) fn header_is_of(soc: &Soc, folder: &str) -> Result<(), Failed> {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs");
    let file = Path::new(programs).join(folder).join("hartrace_registers.h");
    let text = header(&soc.config().top)?;
    if hartrace_tests::bless() {
        fs::write(&file, &text)?;
    }
    match fs::read_to_string(&file)? == text {
        true => Ok(()),
        false => Err(format!("{} is that of another system", file.display()).into()),
    }
}

/// Bytes before and after a buffer that nobody may write to.
const MARGIN: u64 = 64;

/// What the program says about one of its traces.
#[derive(Debug)]
struct Report {
    buffer: u64,
    size: u64,
    bytes: u64,
    oldest: u64,
    /// Sums of the words, as the core's data cache has them, and without it.
    cached: u64,
    stored: u64,
}

/// Returns the address of something in a program.
pub(crate) fn symbol(program: &[u8], name: &str) -> Result<u64, Failed> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(program)?;
    let (symbols, names) = file.symbol_table()?.ok_or("no symbols")?;
    let is_it = |at: u32| names.get(at as usize).is_ok_and(|other| other == name);
    let found = symbols.iter().find(|symbol| is_it(symbol.st_name));
    Ok(found.ok_or_else(|| format!("no `{name}`"))?.st_value)
}

/// Reads words of memory from the program's `reports` on.
pub(crate) fn words(program: &[u8], after: &SelfTraced, count: u64) -> Result<Vec<u64>, Failed> {
    let bytes = after.read_memory(symbol(program, "reports")?, 8 * count).ok_or("not in memory")?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    Ok(bytes.chunks_exact(8).map(word).collect())
}

/// Reads the program's `reports`.
fn reports(program: &[u8], after: &SelfTraced) -> Result<[Report; 2], Failed> {
    let words = words(program, after, 12)?;
    let word = |i: usize| words[i];
    Ok([0, 6].map(|i| Report {
        buffer: word(i),
        size: word(i + 1),
        bytes: word(i + 2),
        oldest: word(i + 3),
        cached: word(i + 4),
        stored: word(i + 5),
    }))
}

/// The bytes of a buffer. All around it is as it was, and the program without its cache sees what memory has.
fn buffer<'a>(report: &Report, after: &'a SelfTraced) -> Result<&'a [u8], Failed> {
    let Report { buffer, size, .. } = *report;
    let read = |at, size| after.read_memory(at, size).ok_or("not in memory");
    for margin in [buffer - MARGIN, buffer + size] {
        if read(margin, MARGIN)?.iter().any(|byte| *byte != 0) {
            return Err(format!("something is written at {margin:#x}: {report:x?}").into());
        }
    }
    let bytes = read(buffer, size)?;
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    if words.fold(0, u64::wrapping_add) != report.stored {
        return Err(format!("the core reads something else without its cache: {report:x?}").into());
    }
    // It had read the buffer before, so that its cache has old words of it.
    if report.cached == report.stored {
        return Err(format!("the core's cache has what the sink wrote: {report:x?}").into());
    }
    Ok(bytes)
}

/// A buffer that was large enough has everything.
fn whole(soc: &Soc, job: &Job, after: &SelfTraced, report: &Report) -> Result<(), Failed> {
    let executed = &after.traced[0];
    let bytes = buffer(report, after)?;
    let (trace, rest) = bytes.split_at(usize::try_from(report.bytes)?);
    if report.oldest != 0 || trace.is_empty() || rest.iter().any(|byte| *byte != 0) {
        return Err(format!("{report:x?}").into());
    }
    let verified = soc.verify_self_hosted(job, executed, trace)?;
    if verified.difference.is_some() || !verified.idle.is_empty() {
        return Err(format!("{verified:?}").into());
    }
    let traps = executed.iter().filter(|row| row.itype.is_trap()).count();
    println!(
        "whole: {} bytes in memory, {} instructions and {traps} traps decoded = executed, {:.3} bits per instruction",
        trace.len(),
        verified.decoded,
        8.0 * trace.len() as f64 / verified.decoded as f64,
    );
    assert!(verified.decoded > 20_000 && traps > 20 && verified.starts == 1, "{verified:?}");
    Ok(())
}

/// Collects what is decoded.
#[derive(Default)]
pub(crate) struct Decoded {
    pub(crate) addresses: Vec<u64>,
    /// Gaps after the first instruction; before it, what follows may have been overwritten.
    pub(crate) gaps: Vec<(StreamPos, Fault)>,
    packets: u64,
}

impl Decoded {
    /// Decodes a buffer that is in order. It may start anywhere, if `starts_anywhere`.
    pub(crate) fn new(
        soc: &Soc,
        job: &Job,
        bytes: &[u8],
        starts_anywhere: bool,
    ) -> Result<Self, Failed> {
        let top = &soc.config().top;
        let (framing, params, unit) = (top.framing()?, top.encoder.etrace, top.encoder.unit());
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add_elf(&job.elf, 0)?;
        let mut tracer = Tracer::new(Config { params, unit, ..Config::default() }, &image)?;
        let mut frames = framing.frames(bytes);
        if starts_anywhere {
            let modes = ring::modes(bytes, framing, &params.layout(unit)?);
            tracer.set_options(modes.ok_or("no support packet")?);
            frames.resync();
        }
        let mut decoded = Self::default();
        for item in frames {
            let (offset, item) = item.map_err(|error| format!("{error:?}"))?;
            let Item::Frame(frame) = item else { continue };
            let at = StreamPos { packet: decoded.packets, byte: offset };
            let payload = frame.payload_bytes().unwrap_or_default();
            tracer.feed_bits(at, BitReader::new(payload, Tail::Sign), &mut decoded);
            decoded.packets += 1;
        }
        tracer.finish(&mut decoded);
        Ok(decoded)
    }
}

impl Sink for Decoded {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.addresses.push(address));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if let Event::Gap(fault) = event
            && !self.addresses.is_empty()
        {
            self.gaps.push((at, fault));
        }
    }
}

/// A ring that was not has the end, from the first synchronisation that is left.
fn wrapped(soc: &Soc, job: &Job, after: &SelfTraced, report: &Report) -> Result<(), Failed> {
    let mut bytes = buffer(report, after)?.to_vec();
    if report.bytes != report.size || report.oldest == 0 || !report.oldest.is_multiple_of(8) {
        return Err(format!("{report:x?}").into());
    }
    let top = &soc.config().top;
    let (framing, layout) = (top.framing()?, top.encoder.etrace.layout(top.encoder.unit())?);
    Ring::At(report.oldest).order(&mut bytes, framing)?;
    let modes = ring::modes(&bytes, framing, &layout);
    assert!(modes.is_some_and(|modes| modes.implicit_return), "{modes:?}");
    let decoded = Decoded::new(soc, job, &bytes, true)?;
    let packets = decoded.packets;
    let executed = after.traced[1].iter().filter(|row| row.iretire > 0).map(|row| row.iaddr);
    let executed: Vec<u64> = executed.collect();
    let (got, all) = (decoded.addresses.len(), executed.len());
    println!(
        "ring of {} bytes, oldest at {}: {packets} packets, {got} of {all} instructions decoded = the last executed",
        report.size, report.oldest,
    );
    if !executed.ends_with(&decoded.addresses) {
        let pairs = executed.iter().rev().zip(decoded.addresses.iter().rev());
        let same = pairs.take_while(|(a, b)| a == b).count();
        return Err(format!("only the last {same} of {got} decoded are the same").into());
    }
    assert!(got > 1_000 && got < all && decoded.gaps.is_empty(), "{got}: {:?}", decoded.gaps);
    Ok(())
}

/// The core sets up, works, and stops, twice; memory answers at once, or later and at random.
fn self_hosted(latency: Latency) -> Result<(), Failed> {
    let soc = Kind::SelfHosted.soc()?;
    header_is_of(soc, "src/cva6")?;
    let platform = PlatformConfig { latency, seed: latency.jitter, ..PlatformConfig::default() };
    let job = Job { limit: 2_000_000, platform, ..Job::new(elf("selfhosted")?) };
    let after = soc.run_self_hosted(&job)?;
    println!("{latency:?}: {:?}, {} traces", after.run, after.traced.len());
    if after.run.exit != Exit::Exited(0) || after.traced.len() != 2 || after.lost > 0 {
        return Err(format!("{:?}, {} lost", after.run, after.lost).into());
    }
    let [first, second] = reports(&job.elf, &after)?;
    whole(soc, &job, &after, &first)?;
    wrapped(soc, &job, &after, &second)
}

/// A system is built for one of the two, and says so.
fn refused() -> Result<(), Failed> {
    let stream = Kind::Cva6.soc()?;
    let job = Job { limit: 1_000, ..Job::new(elf("calls")?) };
    let error = stream.run_self_hosted(&job).err().ok_or("a stream is no memory")?;
    assert!(error.to_string().contains("the sink is a stream"), "{error}");
    let survey = stream.survey(&job)?;
    let error = Kind::SelfHosted.soc()?.trace(&job, &survey).err().ok_or("nobody reads")?;
    assert!(error.to_string().contains("its own program has to"), "{error}");
    let config = Kind::SelfHosted.config()?.waiting(true);
    let core = Core::find()?;
    let error = Soc::build(&core, &config, &core.options()).err().ok_or("it is not supported")?;
    assert!(error.to_string().contains("a core that waits"), "{error}");
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let quick = Latency::default();
    let slow = Latency { cycles: 4, jitter: 9 };
    vec![
        Trial::test("self-hosted", move || self_hosted(quick)),
        Trial::test("self-hosted/slow-memory", move || self_hosted(slow)),
        Trial::test("self-hosted/refused", refused),
    ]
}

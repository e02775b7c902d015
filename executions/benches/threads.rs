//! What a second thread gains for every report: `cargo bench -p hartrace-executions --bench threads`.
//!
//! The trace is that of `lua` among the `workloads` of `HARTRACE_DATA`, executed by QEMU, or without them of a bundled program,
//! in delta mode, as many times one after the other as make 20 MB. `HARTRACE_PROGRAM` names another workload, and
//! `HARTRACE_FORM` the only report to make. The time is what passes from bytes to the whole report, which nobody keeps, so the machine
//! should have nothing else to do. One thread and two take turns, and the best of five passes counts. The last lines are
//! `ratio NAME VALUE`: the time on one thread over that on two, and the processor time on two threads over that on one, which
//! depends less on other programs.

#[path = "../../encoder/benches/speed/workloads.rs"]
mod workloads;

use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::params::{Draft, Given, Setup};
use hartrace_capture::programs::Programs;
use hartrace_decoder::Count;
use hartrace_encoder::{Encoded, Encoder, EncoderConfig, Resync};
use hartrace_etrace::Unit;
use hartrace_executions::executed::{Program, ProgramError, modes};
use hartrace_report::calls::{Timing, Top};
use hartrace_report::decode::{LARGE, Origin, SMALL};
use hartrace_report::gaps::Gaps;
use hartrace_report::tables::{Naming, Total};
use hartrace_report::{Form, FormContext, NoLines, Print, Printer};
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes that the trace has at least.
const LONG: usize = 20_000_000;

const PASSES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let only = std::env::var("HARTRACE_FORM").ok();
    let program = program()?;
    let mut bench = trace(&program)?;
    println!(
        "{}: {} million instructions in {:.1} MB; seconds on one thread, on two, and of processor time",
        program.name(),
        bench.instructions / 1_000_000,
        bench.capture.len() as f64 / 1e6
    );
    let mut ratios = Vec::new();
    for form in Form::ALL.into_iter().map(Some).chain([None]) {
        let name = form.map_or("stats", Form::name);
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let Some([one, two]) = bench.best(form) else {
            println!("{name:12} the program has no debug information");
            continue;
        };
        println!(
            "{name:12} {:8.3} {:8.3} {:8.3} {:8.3}",
            one.passed, two.passed, one.processor, two.processor
        );
        ratios.push((format!("{name}-two-threads-over-one"), one.passed / two.passed));
        let more = two.processor / one.processor;
        ratios.push((format!("{name}-processor-time-of-two-threads"), more));
    }
    for (name, value) in ratios {
        println!("ratio {name} {value:.2}");
    }
    Ok(())
}

/// The program to trace.
fn program() -> Result<Program, Box<dyn Error>> {
    let wanted = std::env::var("HARTRACE_PROGRAM").unwrap_or_else(|_| "lua".into());
    let programs = workloads::programs(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    if programs.is_empty() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/long.elf");
        return Ok(Program::of_file(&file, std::fs::read(&file)?)?);
    }
    let found = programs.into_iter().find(|program| program.name().starts_with(&wanted));
    found.ok_or_else(|| format!("there is no workload `{wanted}`").into())
}

/// Traces a program, and repeats the trace.
fn trace(program: &Program) -> Result<Bench, Box<dyn Error>> {
    let width = program.xlen().bits();
    let draft = Draft::parse(&format!("iaddress_width_p = {width}\n"), "parameters")?;
    let mut setup = Setup::new(Some(draft), &Given::default())?;
    (setup.params, setup.unit) = (modes::params(program.xlen()), Unit::Hartrace);
    setup.layout = setup.params.layout(setup.unit)?;
    let config = EncoderConfig {
        params: setup.params,
        unit: setup.unit,
        resync: Resync::Packets(1 << 10),
        ..EncoderConfig::default()
    };
    let (mut encoder, mut once) = (Encoder::new(config)?, Vec::new());
    let mut out = |payload: Encoded<'_>| {
        once.push(0x40 | payload.bytes.len() as u8);
        once.extend_from_slice(payload.bytes);
    };
    let ending = program.execute(100_000_000, |rows| {
        encoder.retire_all(rows, &mut out);
        Ok::<(), ProgramError>(())
    })?;
    encoder.finish(&mut out);
    let times = LONG.div_ceil(once.len());
    let mut programs = Programs::new(program.xlen());
    programs.add_elf(program.elf().to_vec(), 0)?;
    Ok(Bench {
        follow: CaptureDecoder::new(setup, programs),
        capture: once.repeat(times),
        instructions: ending.instructions * times as u64,
    })
}

struct Bench {
    follow: CaptureDecoder,
    capture: Vec<u8>,
    instructions: u64,
}

/// Seconds that something took.
#[derive(Copy, Clone)]
struct Time {
    passed: f64,
    processor: f64,
}

impl Time {
    fn best(self, other: Self) -> Self {
        let (passed, processor) =
            (self.passed.min(other.passed), self.processor.min(other.processor));
        Self { passed, processor }
    }
}

impl Bench {
    /// The best passes on one thread and on two; `None` if the program has no debug information, and the form needs it.
    /// Without a form, instructions and packets are counted, as `stats` does.
    fn best(&mut self, form: Option<Form>) -> Option<[Time; 2]> {
        let mut all = [Time { passed: f64::INFINITY, processor: f64::INFINITY }; 2];
        for _ in 0..PASSES {
            for (threads, best) in [1, 2].into_iter().zip(&mut all) {
                self.follow.threads = NonZeroUsize::new(threads).expect("not zero");
                *best = best.best(self.pass(form).ok()?);
            }
        }
        Some(all)
    }

    fn pass(&mut self, form: Option<Form>) -> Result<Time, NoLines> {
        let gaps = Gaps::new("trace", |note| panic!("{note}"));
        let Some(form) = form else {
            // From now on, so this comes last.
            self.follow.count_packets();
            let mut printer = Printer::new(Total::<Count>::default(), io::sink(), gaps);
            return Ok(self.time(&mut printer, LARGE));
        };
        let look = FormContext {
            programs: &self.follow.programs,
            xlen: self.follow.setup.xlen,
            name: "trace",
            json: false,
            headings: true,
            naming: Naming::Several,
            timing: Timing::default(),
            top: Top::default(),
        };
        let mut out = io::sink();
        let mut printer = form.printer(&look, &mut out, gaps)?;
        Ok(self.time(&mut *printer, if form.is_sum() { LARGE } else { SMALL }))
    }

    /// One pass, in parts of so many bytes.
    fn time(&self, printer: &mut dyn Print, size: usize) -> Time {
        let (start, processor) = (Instant::now(), processor_time());
        let mut capture = &self.capture[..];
        let origin = Origin::Capture(&mut capture as &mut (dyn Read + Send));
        printer.follow(&self.follow, origin, size, None, &mut |_| ()).expect("nothing fails");
        let processor = processor_time() - processor;
        Time { passed: start.elapsed().as_secs_f64(), processor: processor.as_secs_f64() }
    }
}

/// Processor time of all threads so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

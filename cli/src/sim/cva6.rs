//! `hartrace sim cva6`: a program on the real CVA6 core with connector and encoder in one Verilator model. What
//! comes out is decoded and compared with what the core executed.

use crate::args::{Cva6Args, SimEmit};
use crate::exec::{self, modes};
use crate::failure::{Failure, Status};
use crate::{files, hdl};
use hartrace_bits::{BitReader, Tail};
use hartrace_cva6_connector::Building;
use hartrace_cva6_sim::soc::{HartOutcome, Job, Outcome, Soc, SocConfig, SocError, Survey};
use hartrace_cva6_sim::{Config as Platform, Core, Cva6Error, Exit, Latency};
use hartrace_decoder::{Config as Reading, StreamPos, Tracer};
use hartrace_encap::{Deframer, Item};
use hartrace_encoder_hdl::Overflow;
use hartrace_etrace::Unit;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::Setting;
use hartrace_report::PcsText as Pcs;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// An entry of [`WORKLOADS`].
macro_rules! bundled {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../../../tests/programs/elf/cva6/", $name, ".elf")))
    };
}

/// The bundled programs that compute, for this core.
const WORKLOADS: [(&str, &[u8]); 6] = [
    bundled!("branchy"),
    bundled!("calls"),
    bundled!("crypto"),
    bundled!("interp"),
    bundled!("sort"),
    bundled!("strings"),
];

/// Runs the command.
pub(crate) fn run(args: &Cva6Args) -> Result<Status, Failure> {
    let mut encoder = hdl::named(&args.encoder, Some(args.lanes))?.encoder;
    if args.stall {
        encoder.overflow = Overflow::Stall;
    }
    let setting = Setting {
        options: modes::named(&args.encode)?,
        resync: (super::resync_mode(&encoder), args.resync_max),
        ..Setting::default()
    };
    let programs = match &args.program {
        Some(path) => vec![(files::name(path), files::read(path)?)],
        None => WORKLOADS.iter().map(|(name, elf)| ((*name).into(), elf.to_vec())).collect(),
    };
    let mut config = SocConfig::new(encoder, args.harts);
    if args.serialised {
        config.building = Building::Serialised;
    }
    let core = Core::find().map_err(cannot_build)?;
    let options =
        Options { waves: args.waves.is_some(), cache: Some(super::cache()?), ..core.options() };
    let bar = exec::progress();
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar.set_message("building the model of the core, which takes a minute or two the first time;");
    let soc = Soc::build(&core, &config, &options).map_err(cannot_run)?;
    let mut report =
        Report { args, config: &config, started: false, out: Box::new(files::stdout()) };
    let mut status = Status::Clean;
    for (name, elf) in programs {
        let job = Job {
            platform: Platform {
                latency: Latency { cycles: args.latency, jitter: 0 },
                seed: args.seed,
                ..Platform::default()
            },
            setting: setting.clone(),
            back_pressure: 10 * args.back_pressure,
            limit: args.limit,
            waves: args.waves.clone(),
            ..Job::new(elf)
        };
        bar.set_message(format!("{name} without tracing;"));
        let survey = soc.survey(&job).map_err(cannot_run)?;
        bar.set_message(format!("{name} with tracing;"));
        let outcome = soc.trace(&job, &survey).map_err(cannot_run)?;
        if let Some(path) = &args.output {
            save(path, &config, &outcome)?;
        }
        let shown = bar.suspend(|| report.print(&name, &survey, &outcome, &setting))?;
        if shown == Status::Different {
            status = Status::Different;
        }
    }
    bar.finish_and_clear();
    report.finish()?;
    Ok(status)
}

fn cannot_build(error: Cva6Error) -> Failure {
    Failure::usage(error)
}

fn cannot_run(error: SocError) -> Failure {
    match error {
        SocError::Mode(_) => Failure::usage(error).hint("another --encode"),
        SocError::Fit { .. } | SocError::Top(_) | SocError::Connector(_) => {
            Failure::usage(error).hint("another --encoder, such as cva6, small or full")
        }
        error => Failure::input(error),
    }
}

/// Writes the capture, and beside it what a decoder has to know.
fn save(path: &Path, config: &SocConfig, outcome: &Outcome) -> Result<(), Failure> {
    let write = |path: &Path, bytes: &[u8]| {
        let mut file = files::create(path)?;
        file.write_all(bytes)
            .and_then(|()| file.flush())
            .map_err(|error| Failure::write(files::output_name(path), &error))
    };
    write(path, &outcome.bytes)?;
    if files::is_standard(path) {
        return Ok(());
    }
    let mut params = path.as_os_str().to_owned();
    params.push(".params.toml");
    write(Path::new(&params), hdl::params(&config.top)?.as_bytes())
}

/// Prints what came of programs.
struct Report<'a> {
    args: &'a Cva6Args,
    config: &'a SocConfig,
    started: bool,
    out: Box<dyn Write>,
}

/// The figures for scripts; keys are stable.
#[derive(Serialize)]
struct Record<'a> {
    program: &'a str,
    hart: usize,
    encoder: &'a str,
    lanes: u8,
    mode: &'a str,
    exit_code: Option<u64>,
    cycles: u64,
    cycles_without_tracing: u64,
    ipc: f64,
    instructions: u64,
    traps: u64,
    packets: u64,
    bytes: u64,
    stream_bytes: usize,
    bits_per_instruction: f64,
    compression_rate: f64,
    peak_queue: u64,
    peak_fifo: u64,
    stalled_cycles: u64,
    lost_instructions: u64,
    idle_instructions: u64,
    decoded_instructions: u64,
    verified: bool,
    difference: Option<&'a str>,
}

impl Report<'_> {
    fn print(
        &mut self,
        name: &str,
        survey: &Survey,
        outcome: &Outcome,
        setting: &Setting,
    ) -> Result<Status, Failure> {
        if self.args.emit == Some(SimEmit::Pcs) {
            self.pcs(survey, outcome, setting)?;
        }
        let mut status = Status::Clean;
        for (number, hart) in outcome.harts.iter().enumerate() {
            if hart.verified.difference.is_some() {
                status = Status::Different;
            }
            match (self.args.emit, self.args.json) {
                (Some(SimEmit::Pcs), _) => {}
                (None, true) => self.record(name, number, hart, survey, outcome)?,
                (None, false) => self.row(name, number, hart, outcome)?,
            }
        }
        if self.args.emit.is_some() && status == Status::Different {
            let first = outcome.harts.iter().find_map(|hart| hart.verified.difference.as_deref());
            eprintln!("{name}: {}", first.unwrap_or_default());
        }
        if let (false, false, Exit::Limit) =
            (self.args.json, self.args.emit.is_some(), outcome.run.exit)
        {
            writeln!(self.out, "{name}: ended after {} cycles, see --limit", outcome.run.cycles)?;
        }
        if let Exit::Exited(code @ 1..) = outcome.run.exit {
            eprintln!("{name}: exit code {code}");
        }
        self.out.flush()?;
        Ok(status)
    }

    fn row(
        &mut self,
        name: &str,
        number: usize,
        hart: &HartOutcome,
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.started, true) {
            writeln!(
                self.out,
                "{:12} {:>9} {:>5} {:>12} {:>6} {:>8} {:>8} {:>9} {:>7} {:>5} {:>5} {:>7} {:>6}  verified",
                "program",
                "cycles",
                "IPC",
                "instructions",
                "traps",
                "packets",
                "bytes",
                "bits/insn",
                "rate",
                "queue",
                "FIFO",
                "stalled",
                "lost"
            )?;
        }
        let figures = Figures::new(hart, outcome);
        let name = match outcome.harts.len() {
            1 => name.to_owned(),
            _ => format!("{name}/{number}"),
        };
        let verdict = match &hart.verified.difference {
            Some(difference) => format!("NO: {difference}"),
            None => format!("{} of {}", hart.verified.decoded, figures.told),
        };
        writeln!(
            self.out,
            "{name:12} {:9} {:5.2} {:12} {:6} {:8} {:8} {:9.3} {:6.2}% {:5} {:5} {:7} {:6}  {verdict}",
            outcome.run.cycles,
            figures.ipc,
            hart.instructions,
            hart.traps,
            hart.packets,
            hart.payload_bytes,
            figures.bits,
            100.0 * figures.rate,
            hart.peak_queue,
            outcome.peak_fifo,
            hart.stalled,
            hart.lost,
        )?;
        Ok(())
    }

    fn record(
        &mut self,
        program: &str,
        number: usize,
        hart: &HartOutcome,
        survey: &Survey,
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        let figures = Figures::new(hart, outcome);
        let record = Record {
            program,
            hart: number,
            encoder: &self.args.encoder,
            lanes: self.args.lanes,
            mode: &self.args.encode,
            exit_code: match outcome.run.exit {
                Exit::Exited(code) => Some(code),
                Exit::Limit => None,
            },
            cycles: outcome.run.cycles,
            cycles_without_tracing: survey.run.cycles,
            ipc: figures.ipc,
            instructions: hart.instructions,
            traps: hart.traps,
            packets: hart.packets,
            bytes: hart.payload_bytes,
            stream_bytes: outcome.bytes.len(),
            bits_per_instruction: figures.bits,
            compression_rate: figures.rate,
            peak_queue: hart.peak_queue,
            peak_fifo: outcome.peak_fifo,
            stalled_cycles: hart.stalled,
            lost_instructions: hart.lost,
            idle_instructions: hart.idle,
            decoded_instructions: hart.verified.decoded,
            verified: hart.verified.difference.is_none(),
            difference: hart.verified.difference.as_deref(),
        };
        serde_json::to_writer(&mut self.out, &record).map_err(std::io::Error::from)?;
        writeln!(self.out)?;
        Ok(())
    }

    /// Decodes the capture again, for the addresses.
    fn pcs(
        &mut self,
        survey: &Survey,
        outcome: &Outcome,
        setting: &Setting,
    ) -> Result<(), Failure> {
        let encoder = &self.config.top.encoder;
        let (params, unit) = (encoder.etrace, encoder.unit());
        let tvec = match setting.options.implicit_exception {
            true => survey.tvec.clone().unwrap_or_default(),
            false => Vec::new(),
        };
        let reading = Reading { params, unit, tvec, ..Reading::default() };
        let mut tracer = Tracer::new(reading, &survey.image).map_err(Failure::usage)?;
        let tail = if unit == Unit::RvTracer { Tail::Zero } else { Tail::Sign };
        let mut pcs = Pcs::default();
        let mut deframer = Deframer::new(self.config.top.framing().map_err(Failure::usage)?);
        let mut at = StreamPos { packet: 0, byte: 0 };
        // Damage is in the outcome already.
        deframer.feed(&outcome.bytes, &mut |offset, item| {
            if let Ok(Item::Frame(frame)) = item
                && u32::from(frame.header().source.unwrap_or(0)) == self.args.hart
            {
                at.byte = offset;
                let payload = frame.payload_bytes().unwrap_or_default();
                tracer.feed_bits(at, BitReader::new(payload, tail), &mut pcs);
                at.packet += 1;
            }
        });
        tracer.finish(&mut pcs);
        self.out.write_all(&pcs.text)?;
        Ok(())
    }

    /// Explains the columns.
    fn finish(mut self) -> Result<(), Failure> {
        if !self.args.json && self.args.emit.is_none() {
            writeln!(
                self.out,
                "\nbytes: payloads without frames; rate: 1 - 8 bytes / 32 instructions; queue, FIFO: the most \
                 entries\nin use, in front of the encoder and behind it; stalled: cycles the core waited; verified: \
                 decoded = what\nthe core executed, first to last, without what was lost and without turns of an \
                 empty loop at the end."
            )?;
        }
        self.out.flush()?;
        Ok(())
    }
}

/// What is computed of a hart.
struct Figures {
    ipc: f64,
    bits: f64,
    rate: f64,
    /// Instructions that the trace has to tell.
    told: u64,
}

impl Figures {
    fn new(hart: &HartOutcome, outcome: &Outcome) -> Self {
        let traced = hart.instructions.saturating_sub(hart.lost).max(1) as f64;
        let bits = 8.0 * hart.payload_bytes as f64 / traced;
        Self {
            ipc: hart.instructions as f64 / outcome.run.cycles.max(1) as f64,
            bits,
            rate: 1.0 - bits / 32.0,
            told: hart.instructions.saturating_sub(hart.lost + hart.idle),
        }
    }
}

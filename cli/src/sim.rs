//! `hartrace sim encoder`: what a program executes goes through the encoder's RTL in Verilator. Every payload
//! is compared with the golden encoder, every decoded instruction with what was executed.

pub(crate) mod cva6;
mod report;
mod work;

use crate::args::SimArgs;
use crate::exec::{self, modes};
use crate::failure::{Failure, Status};
use crate::{files, hdl};
use hartrace_encap::{FrameHeader, Framing, MAX_FRAME};
use hartrace_encoder_hdl::{Config, ResyncUnit};
use hartrace_etrace::Format;
use hartrace_hdl_tools::verilate::{Mode, Options, SimError};
use hartrace_ingress::{ITypeWidth, Retired};
use hartrace_lockstep::executed::Port;
use hartrace_lockstep::{Bench, BenchError, Follow, Mismatch, Seen, Setting, Traffic};
use indicatif::ProgressBar;
use report::{Figures, Report};
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use work::Work;

/// Runs the command.
pub(crate) fn run(args: &SimArgs) -> Result<Status, Failure> {
    let config = hdl::named(&args.config, args.lanes)?.encoder;
    let works = match &args.input {
        Some(path) => vec![Work::open(path, args, &config)?],
        None => work::bundled(&config)?,
    };
    let setting = Setting {
        options: modes::named(&args.encode)?,
        resync: (resync_mode(&config), args.resync_max),
        ..Setting::default()
    };
    let options = Options {
        mode: Mode::Fast,
        waves: args.waves.is_some(),
        cache: Some(cache()?),
        ..Options::default()
    };
    let bar = exec::progress();
    bar.set_message("building the model");
    bar.tick();
    let mut bench = Bench::new(&config, &options).map_err(cannot_simulate)?;
    let trial = Trial { args, config: &config, setting: &setting, bar: &bar };
    let mut report = Report::new(args.json);
    let mut status = Status::Clean;
    for work in works {
        bar.set_message(work.name().to_owned());
        bench.restart(args.seed as u32).map_err(Failure::input)?;
        let figures = trial.run(&mut bench, work)?;
        if bar.suspend(|| report.print(&figures))? == Status::Different {
            status = Status::Different;
        }
    }
    bar.finish_and_clear();
    report.finish()?;
    Ok(status)
}

/// The first unit that resynchronisations can be counted in, as the control registers number it.
fn resync_mode(config: &Config) -> u8 {
    match config.resync.first() {
        None => 0,
        Some(ResyncUnit::Packets) => 1,
        Some(ResyncUnit::Cycles) => 2,
        Some(ResyncUnit::HalfWords) => 3,
    }
}

/// Where models are kept: libraries are loaded from there, so it is a folder of the user's own.
fn cache() -> Result<PathBuf, Failure> {
    let told = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = told.or_else(|| env::home_dir().map(|home| home.join(".cache")));
    folder
        .map(|folder| folder.join("hartrace"))
        .ok_or_else(|| Failure::usage("no folder to keep models in").hint("XDG_CACHE_HOME=FOLDER"))
}

fn cannot_simulate(error: BenchError) -> Failure {
    match error {
        BenchError::Config(error) => {
            Failure::usage(error).hint("another --config, or other values in its file")
        }
        BenchError::Simulation(error @ SimError::Missing { .. }) => {
            Failure::usage(error).hint("another command, named by the variables VERILATOR and CXX")
        }
        error => Failure::input(error),
    }
}

/// What is the same for all programs.
struct Trial<'a> {
    args: &'a SimArgs,
    config: &'a Config,
    setting: &'a Setting,
    bar: &'a ProgressBar,
}

impl Trial<'_> {
    fn run(&self, bench: &mut Bench, mut work: Work) -> Result<Figures, Failure> {
        let Self { args, config, setting, bar } = self;
        let tvec = match setting.options.implicit_exception {
            true => work.trap_vectors(args.limit)?,
            false => Vec::new(),
        };
        let image = work.image();
        let mut follow = image
            .as_ref()
            .map(|image| Follow::new(config, image, tvec))
            .transpose()
            .map_err(Failure::usage)?;
        let mut output = Output::create(args.output.as_deref())?;
        if let Some(path) = &args.waves {
            bench.simulation().waves(path).map_err(Failure::input)?;
        }
        let traffic = Traffic {
            back_pressure: 10 * args.back_pressure,
            idle: 10 * args.idle,
            seed: args.seed,
        };
        let port = Port {
            lanes: config.lanes,
            half_words: (1 << config.iretire_width_p) - 1,
            rows: args.retire.unwrap_or(config.lanes.into()),
            itype_width: match config.itype_width_p {
                3 => ITypeWidth::Three,
                _ => ITypeWidth::Four,
            },
        };
        let mut formats = [0; Format::ALL.len()];
        let start = Instant::now();
        let mut watch = |seen: Seen<'_>| {
            if let Some(follow) = &mut follow {
                follow.seen(seen);
            }
            if let Seen::Payload(bytes, encoded) = seen {
                output.push(bytes);
                let format = encoded.map(|encoded| encoded.payload.format());
                let index = Format::ALL.iter().position(|other| Some(*other) == format);
                if let Some(count) = index.and_then(|index| formats.get_mut(index)) {
                    *count += 1;
                }
            }
        };
        let mut session = bench.start(setting, traffic, &mut watch).map_err(cannot_run)?;
        let mut differs = None;
        let ending = work.execute(port, args.limit, |rows: &[Retired]| {
            bar.inc(rows.iter().map(|row| u64::from(row.iretire)).sum());
            session.push(rows).or_else(|error| difference(error, &mut differs))?;
            Ok(differs.is_none())
        })?;
        let mut summary = session.summary().clone();
        if differs.is_none() {
            match session.finish() {
                Ok(whole) => summary = whole,
                Err(error) => difference(error, &mut differs)?,
            }
        }
        let time = start.elapsed();
        output.finish()?;
        let lost = follow.as_ref().map_or(0, |follow| follow.lost);
        Ok(Figures {
            program: work.name().into(),
            mode: args.encode.clone(),
            instructions: ending.instructions,
            summary,
            formats,
            lost,
            verified: follow.map(Follow::finish),
            mismatch: differs,
            time,
        })
    }
}

/// A difference is what the command is there to find; anything else is why it cannot.
fn difference(error: Mismatch, text: &mut Option<String>) -> Result<(), Failure> {
    match error {
        Mismatch::Payload { .. }
        | Mismatch::Unexpected { .. }
        | Mismatch::Empty { .. }
        | Mismatch::Stuck { .. } => {
            *text = Some(error.to_string());
            Ok(())
        }
        error => Err(cannot_run(error)),
    }
}

fn cannot_run(error: Mismatch) -> Failure {
    match error {
        Mismatch::NoMode(_) | Mismatch::Golden(_) => {
            Failure::usage(error).hint("another --encode, or --config full")
        }
        Mismatch::Block { .. } => Failure::input(error)
            .hint("--elf PROG, so that blocks can be taken apart, or a wider iretire_width_p"),
        error => Failure::input(error),
    }
}

/// The file that payloads go to, if they go anywhere.
struct Output<'a> {
    file: Option<(Box<dyn Write>, &'a Path)>,
    failed: Option<Failure>,
}

impl<'a> Output<'a> {
    fn create(path: Option<&'a Path>) -> Result<Self, Failure> {
        let file = path.map(|path| files::create(path).map(|file| (file, path))).transpose()?;
        Ok(Self { file, failed: None })
    }

    fn push(&mut self, payload: &[u8]) {
        let Some((file, path)) = &mut self.file else { return };
        let mut frame = [0; MAX_FRAME];
        let result = match Framing::Reference.emit(&FrameHeader::default(), payload, &mut frame) {
            Ok(len) => file
                .write_all(&frame[..len])
                .map_err(|error| Failure::write(files::output_name(path), &error)),
            Err(error) => Err(Failure::usage(error)),
        };
        if let (Err(failure), None) = (result, &self.failed) {
            self.failed = Some(failure);
        }
    }

    fn finish(self) -> Result<(), Failure> {
        if let Some(failure) = self.failed {
            return Err(failure);
        }
        match self.file {
            Some((mut file, path)) => {
                file.flush().map_err(|error| Failure::write(files::output_name(path), &error))
            }
            None => Ok(()),
        }
    }
}

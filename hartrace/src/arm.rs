//! Captures of Arm systems, and recordings of Linux perf.

use crate::capture::{Arm, Trace};
use crate::error::{Absent, OpenError};
use crate::etrace;
use crate::options::Options;
use hartrace_arm_decoder::{Mark, Memory};
use hartrace_capture::perf::{self, Finder, Given, Recording};
use hartrace_capture::programs::Placed;
use hartrace_capture::snapshot::Core;
use hartrace_capture::system::{
    self, OpenError as BufferError, Origin, Portion, System, SystemError, Traced, add_code,
};
use hartrace_isa::Xlen;
use hartrace_isa::arm::Arch;
use hartrace_spaces::{Holds, Timeline};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::sync::Arc;

/// Addresses of Arm cores have 16 digits, whatever their width.
const XLEN: Xlen = Xlen::Rv64;

/// Opens a snapshot or a package.
pub(crate) fn system(options: &Options, path: &Path) -> Result<Arm, OpenError> {
    let wrong = |error| OpenError::Snapshot { path: path.into(), error };
    let system = System::open(path).map_err(wrong)?;
    let mut warnings = system.warnings().to_vec();
    let log = etrace::log(options)?;
    let opened = system.open_buffer(options.buffer.as_deref(), options.frames, log);
    let opened = opened.map_err(|error| match error {
        BufferError::Files(error) => wrong(error),
        BufferError::Frames(error) => error.into(),
    })?;
    warnings.extend(opened.warnings.iter().cloned());
    let (sources, nobody) = opened.sources()?;
    if sources.is_empty() {
        let buffer = Some(opened.name.to_owned());
        let losses = opened.gaps.iter().chain(&nobody).cloned().collect();
        return Err(OpenError::NoTrace { path: path.into(), why: Absent { buffer, losses } });
    }
    let all = match options.only_packets {
        true => {
            Ok(sources.into_iter().map(|(origin, portions)| packets(origin, portions)).collect())
        }
        false => system.traced(sources, opened.log.as_ref(), options.context_id, &mut warnings),
    };
    let all: Vec<Traced<'_>> = all.map_err(|error| match error {
        SystemError::Files(error) => wrong(error),
        error => OpenError::System(error),
    })?;
    let mut losses: Vec<String> = opened.gaps.iter().chain(&nobody).cloned().collect();
    // Sources may share a timeline.
    let timelines = all.iter().filter_map(|traced| traced.timeline.as_deref());
    let wrong: BTreeSet<&String> = timelines.flat_map(|timeline| &timeline.wrong).collect();
    losses.extend(wrong.into_iter().map(|what| format!("event log: {what}")));
    let mut all: Vec<Traced<'static>> = all.into_iter().map(owned).collect();
    if let Some(id) = options.fields.source {
        let ids = all.iter().map(|traced| traced.id).collect();
        all.retain(|traced| traced.id == id);
        if all.is_empty() {
            return Err(OpenError::NoSource { path: path.into(), id, ids });
        }
    }
    let marks = opened.capture.marks.clone();
    let opened = opened.name.to_owned();
    let mut found = arm(options, path, &options.programs, all, marks, warnings, losses)?;
    if options.buffer.is_none() {
        let others = system.buffers().iter().filter(|buffer| buffer.name != opened);
        let unread = |name: &str| format!("{}: trace buffer {name} is not read", found.name);
        found.unread = others.map(|buffer| unread(&buffer.name)).collect();
    }
    Ok(found)
}

/// A source of which only the packets are of interest.
fn packets<'c>(origin: &Origin<'_>, portions: Vec<Portion<'c>>) -> Traced<'c> {
    Traced {
        name: origin.name(),
        id: origin.id().into(),
        portions,
        core: origin.core().unwrap_or(Core { arch: Arch::Later, m_profile: false }),
        memory: Arc::new(Memory::new()),
        timeline: None,
    }
}

/// Opens a recording.
pub(crate) fn recording(
    options: &Options,
    path: &Path,
    recording: Recording,
) -> Result<Trace, OpenError> {
    if options.ring.is_some() {
        return Err(OpenError::Ordered(path.into()));
    }
    let mut warnings = recording.warnings.clone();
    let mut finder = finder(options)?;
    match recording.trace {
        perf::Trace::Coresight(_) => {
            let found =
                system::recorded(&recording, options.context_id, |image| finder.code(image));
            let none = |losses| {
                let why = Absent { losses, ..Absent::default() };
                OpenError::NoTrace { path: path.into(), why }
            };
            let found = found.ok_or_else(|| none(Vec::new()))?;
            warnings.extend(found.warnings.iter().chain(&finder.refused).cloned());
            if found.sources.is_empty() {
                return Err(none(found.gaps));
            }
            let programs = finder.placed(&options.programs, &recording.log);
            let (all, marks, losses) = (found.sources, found.marks, found.gaps);
            let arm = arm(options, path, &programs, all, marks, warnings, losses)?;
            Ok(Trace::Arm(Box::new(arm)))
        }
        perf::Trace::Riscv(_) if recording.is_ntrace() => Err(OpenError::NTrace(path.into())),
        perf::Trace::Riscv(_) => {
            // What Linux writes to the context of a hart, if it does.
            let holds = options.context_id.unwrap_or(Holds::Tid);
            let timeline = Timeline::new(&recording.log, holds, |image| finder.code(image));
            warnings.extend(timeline.missing.iter().chain(&finder.refused).cloned());
            let programs = finder.placed(&options.programs, &recording.log);
            let etrace = etrace::recorded(options, path, recording, &programs, timeline, warnings)?;
            Ok(Trace::Etrace(Box::new(etrace)))
        }
    }
}

/// Where to look for files that were mapped. A program with an address of its own is not one of them.
fn finder(options: &Options) -> Result<Finder, OpenError> {
    let mut given = Vec::new();
    for placed in options.programs.iter().filter(|placed| placed.address == 0) {
        given.push(Given::new(placed.path.clone(), options.read_file(&placed.path)?));
    }
    let home = env::var_os("HOME").map(|home| Path::new(&home).join(".debug"));
    let folders = options.build_ids.iter().cloned().chain(home);
    Ok(Finder::new(given, folders.collect(), options.sysroot.clone()))
}

/// Adds the code that is given to what the sources see.
fn arm(
    options: &Options,
    path: &Path,
    programs: &[Placed],
    mut sources: Vec<Traced<'static>>,
    marks: Vec<Mark>,
    warnings: Vec<String>,
    losses: Vec<String>,
) -> Result<Arm, OpenError> {
    let files: Vec<_> = programs.iter().map(|placed| placed.path.clone()).collect();
    let names = files.iter().map(|file| options.files.name(file)).collect();
    let code = match options.only_packets {
        true => Vec::new(),
        false => etrace::placed(options, programs, &options.images)?,
    };
    let programs = add_code(&mut sources, code, XLEN)?;
    let name = options.files.name(path);
    let threads = options.thread_count();
    let unread = Vec::new();
    if options.raw_names {
        programs.keep_raw_names();
    }
    Ok(Arm { name, sources, marks, programs, names, files, warnings, losses, unread, threads })
}

/// The same, independent of the buffer that it was found in.
fn owned(traced: Traced<'_>) -> Traced<'static> {
    let Traced { name, id, portions, core, memory, timeline } = traced;
    let portions = portions.into_iter().map(|portion| {
        let Portion { id, stream, protocol, recorded } = portion;
        Portion { id, stream: Cow::Owned(stream.into_owned()), protocol, recorded }
    });
    Traced { name, id, portions: portions.collect(), core, memory, timeline }
}

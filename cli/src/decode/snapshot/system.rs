//! What was captured of an Arm system, in one of two forms.

use crate::args::{DecodeArgs, Frames};
use crate::failure::Failure;
use hartrace_arm_decoder::{Layout, Memory};
use hartrace_capture::snapshot::{
    Buffer, Core, Error, Format, Package, Protocol, Snapshot, Source, Trace, core, image,
};
use hartrace_capture::spaces::{Holds, Log, Timeline};
use hartrace_encap::coresight::Mode;
use std::path::Path;
use std::sync::Arc;

/// What a log tells, by what contexts hold.
pub(super) type Timelines = Vec<(Holds, Arc<Timeline>)>;

/// A snapshot or a package.
pub(super) enum System {
    Snapshot(Snapshot),
    Package(Package),
}

/// A trace source of either.
pub(super) enum Origin<'s> {
    Snapshot(Source<'s>),
    Package(&'s Trace),
}

impl Origin<'_> {
    pub(super) fn id(&self) -> u8 {
        match self {
            Self::Snapshot(source) => source.id,
            Self::Package(trace) => trace.id,
        }
    }

    pub(super) fn protocol(&self) -> &Protocol {
        match self {
            Self::Snapshot(source) => &source.protocol,
            Self::Package(trace) => &trace.protocol,
        }
    }

    /// Whether its protocol is one that is read.
    pub(super) fn is_read(&self) -> bool {
        !matches!(self.protocol(), Protocol::Other(_))
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Snapshot(source) => source.device.name.clone(),
            Self::Package(trace) => format!("trace_{}", trace.id),
        }
    }

    /// What its core is able to execute.
    pub(super) fn core(&self) -> Result<Core, Error> {
        match self {
            Self::Snapshot(source) => source.core_kind(),
            Self::Package(trace) => {
                trace.core.as_deref().and_then(core).ok_or_else(|| Error::Missing {
                    file: format!("[trace_{}]", trace.id),
                    what: match &trace.core {
                        Some(kind) => format!("known core {kind:?}; try ARMv8.3-A or the like"),
                        None => "key \"core\", as Cortex-A53 or ARMv8.3-A".to_owned(),
                    },
                })
            }
        }
    }

    fn holds(&self) -> Option<Holds> {
        match self {
            Self::Snapshot(_) => None,
            Self::Package(trace) => trace.holds,
        }
    }
}

impl System {
    /// A folder with a `contents.ini`, and everything that is no folder, is a package.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        match path.is_file() || path.join("contents.ini").is_file() {
            true => Package::open(path).map(Self::Package),
            false => Snapshot::open(path).map(Self::Snapshot),
        }
    }

    pub(super) fn warnings(&self) -> &[String] {
        match self {
            Self::Snapshot(snapshot) => &snapshot.warnings,
            Self::Package(_) => &[],
        }
    }

    pub(super) fn buffer(&self, name: Option<&str>) -> Result<&Buffer, Error> {
        match self {
            Self::Snapshot(snapshot) => snapshot.buffer(name),
            Self::Package(package) => package.buffer(name),
        }
    }

    pub(super) fn bytes(&self, buffer: &Buffer) -> Result<Vec<u8>, Error> {
        match self {
            Self::Snapshot(snapshot) => snapshot.bytes(buffer),
            Self::Package(package) => package.bytes(buffer),
        }
    }

    pub(super) fn origins(&self, buffer: &Buffer) -> Result<Vec<Origin<'_>>, Error> {
        Ok(match self {
            Self::Snapshot(snapshot) => {
                snapshot.sources(&buffer.name)?.into_iter().map(Origin::Snapshot).collect()
            }
            Self::Package(package) => package.traces.iter().map(Origin::Package).collect(),
        })
    }

    /// Whether all cores see the same memory.
    pub(super) const fn has_one_memory(&self) -> bool {
        matches!(self, Self::Package(_))
    }

    /// The memory that the core of a source sees.
    pub(super) fn memory(
        &self,
        origin: &Origin<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Memory, Error> {
        let segments = match (self, origin) {
            (Self::Snapshot(snapshot), Origin::Snapshot(Source { core: Some(core), .. })) => {
                snapshot.segments(core, warnings)?
            }
            (Self::Package(package), _) => package.segments(warnings)?,
            _ => Vec::new(),
        };
        let mut memory = Memory::new();
        for segment in segments {
            memory.add(segment.address, segment.bytes, segment.spaces);
        }
        Ok(memory)
    }

    /// The log of what changed, if there is one.
    pub(super) fn log(&self, args: &DecodeArgs) -> Result<Option<Log>, Failure> {
        match (args.follow.events.log()?, self) {
            (None, Self::Package(package)) => package.log().map_err(Failure::input),
            (log, _) => Ok(log),
        }
    }

    /// What changed in that memory, if the log tells. `known` has what sources before it see.
    pub(super) fn timeline(
        &self,
        origin: &Origin<'_>,
        log: Option<&Log>,
        args: &DecodeArgs,
        known: &mut Timelines,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Arc<Timeline>>, Failure> {
        let Some(log) = log.filter(|log| !log.events.is_empty()) else { return Ok(None) };
        let Some(holds) = args.follow.events.holds().or_else(|| origin.holds()) else {
            return Err(Failure::usage("nothing says what the context identifier of the core is")
                .hint("--context-id tid, or context_id_holds in the metadata of a package"));
        };
        if let Some((_, timeline)) = known.iter().find(|(other, _)| *other == holds) {
            return Ok(Some(timeline.clone()));
        }
        let timeline = Timeline::new(log, holds, |image| {
            let bytes = match self {
                Self::Snapshot(snapshot) => snapshot.file(&image.file),
                Self::Package(package) => package.file(&image.file),
            };
            bytes.ok().and_then(image::segments)
        });
        let missing = timeline.missing.iter();
        warnings.extend(missing.map(|what| format!("{what} of the event log cannot be read")));
        let timeline = Arc::new(timeline);
        known.push((holds, timeline.clone()));
        Ok(Some(timeline))
    }
}

/// How the bytes of a buffer are laid out.
pub(super) fn layout(format: Format, frames: Option<Frames>) -> Result<Layout, Failure> {
    let mode = frames.map(|frames| match frames {
        Frames::Aligned => Mode::Aligned,
        Frames::Reset => Mode::AlignedReset,
        Frames::Fsync => Mode::Fsync,
        Frames::Hsync => Mode::FsyncHsync,
    });
    match format {
        Format::Coresight => Ok(Layout::Frames(mode.unwrap_or(Mode::Aligned))),
        Format::Dstream => Ok(Layout::Dstream(mode.unwrap_or(Mode::Fsync))),
        Format::SourceData if mode.is_some() => {
            Err(Failure::usage("this buffer has the bytes of one source, and no frames")
                .hint("the same without --frames"))
        }
        Format::SourceData => Ok(Layout::Raw),
    }
}

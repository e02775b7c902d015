//! What was captured of an Arm system: a snapshot or a package, and the traces in it.
//!
//! [`System::open`] reads either. [`bind`] finds the sources of the streams in a buffer, and
//! [`System::traced`] puts together what it takes to decode each: [`Traced::decode`]. [`recorded`] does all of
//! this for a recording of Linux perf.

mod bound;
mod code;
mod opened;
mod origin;
mod recorded;
mod traced;

pub use bound::{BindError, Portion, Portions, bind};
pub use code::{Unloadable, add_code};
pub use opened::{OpenError, Opened};
pub use origin::Origin;
pub use recorded::{Recorded, recorded};
pub use traced::Traced;

use crate::snapshot::{
    Buffer, BufferBytes, Error, Format, Package, Snapshot, Source, image, open_files,
};
use hartrace_arm_decoder::{Layout, Memory};
use hartrace_encap::coresight::Mode;
use hartrace_spaces::{Holds, Loaded, Log, Timeline};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error as ThisError;

/// What a log tells, by what contexts hold.
type Timelines = Vec<(Holds, Arc<Timeline>)>;

/// A snapshot or a package.
#[derive(Debug)]
pub enum System {
    /// A snapshot, as OpenCSD and DS-5 write it.
    Snapshot(Snapshot),
    /// A package, in a folder or an archive.
    Package(Package),
}

impl System {
    /// Reads metadata, in a folder or an archive. With a `snapshot.ini` it is a snapshot, whatever else there
    /// is: DS-5 also writes a `contents.ini`, which does not describe the sources.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let files = open_files(path)?;
        match files.has("contents.ini") && !files.has("snapshot.ini") {
            true => Package::read(files).map(Self::Package),
            false => Snapshot::read(files).map(Self::Snapshot),
        }
    }

    /// What is missing but can be done without.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Snapshot(snapshot) => &snapshot.warnings,
            Self::Package(_) => &[],
        }
    }

    /// All trace buffers.
    pub fn buffers(&self) -> &[Buffer] {
        match self {
            Self::Snapshot(snapshot) => &snapshot.buffers,
            Self::Package(package) => &package.buffers,
        }
    }

    /// The trace buffer of this name, or the first.
    pub fn buffer(&self, name: Option<&str>) -> Result<&Buffer, Error> {
        match self {
            Self::Snapshot(snapshot) => snapshot.buffer(name),
            Self::Package(package) => package.buffer(name),
        }
    }

    /// The bytes of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> BufferBytes {
        match self {
            Self::Snapshot(snapshot) => snapshot.bytes(buffer),
            Self::Package(package) => package.bytes(buffer),
        }
    }

    /// The sources that write to a buffer.
    pub fn origins(&self, buffer: &Buffer) -> Result<Vec<Origin<'_>>, Error> {
        Ok(match self {
            Self::Snapshot(snapshot) => {
                snapshot.sources(&buffer.name)?.into_iter().map(Origin::Snapshot).collect()
            }
            Self::Package(package) => package.traces.iter().map(Origin::Package).collect(),
        })
    }

    /// Whether all cores see the same memory.
    const fn has_one_memory(&self) -> bool {
        matches!(self, Self::Package(_))
    }

    /// The memory that the core of a source sees.
    fn memory(&self, origin: &Origin<'_>, warnings: &mut Vec<String>) -> Result<Memory, Error> {
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

    /// The log of what changed while it was traced, if there is one. Snapshots have none.
    pub fn log(&self) -> Result<Option<Log>, Error> {
        match self {
            Self::Snapshot(_) => Ok(None),
            Self::Package(package) => package.log(),
        }
    }

    /// Everything that it takes to decode these sources. `log` says what changed; `holds` says what context
    /// identifiers are, where the metadata does not. What can be done without is a warning.
    pub fn traced<'c>(
        &self,
        sources: Vec<Portions<'c, '_>>,
        log: Option<&Log>,
        holds: Option<Holds>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Traced<'c>>, SystemError> {
        let (mut all, mut known): (Vec<Traced<'c>>, _) = (Vec::new(), Timelines::new());
        for (origin, portions) in sources {
            let mut own = Vec::new();
            all.push(Traced {
                name: origin.name(),
                id: origin.id().into(),
                portions,
                core: origin.core()?,
                memory: match all.first().filter(|_| self.has_one_memory()) {
                    Some(first) => first.memory.clone(),
                    None => self.memory(origin, &mut own)?.into(),
                },
                timeline: self.timeline(origin, log, holds, &mut known, &mut own)?,
            });
            warnings.append(&mut own);
        }
        Ok(all)
    }

    /// What changed in that memory, if the log tells. `known` has what sources before it see.
    fn timeline(
        &self,
        origin: &Origin<'_>,
        log: Option<&Log>,
        holds: Option<Holds>,
        known: &mut Timelines,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Arc<Timeline>>, SystemError> {
        let Some(log) = log.filter(|log| !log.events.is_empty()) else { return Ok(None) };
        let Some(holds) = holds.or_else(|| origin.holds()) else {
            return Err(SystemError::NoContextId);
        };
        if let Some((_, timeline)) = known.iter().find(|(other, _)| *other == holds) {
            return Ok(Some(timeline.clone()));
        }
        let timeline = Timeline::new(log, holds, |image| {
            let bytes = match self {
                Self::Snapshot(snapshot) => snapshot.file(&image.file),
                Self::Package(package) => package.file(&image.file),
            };
            bytes.map_or(Loaded::Missing, |bytes| image::load(image, bytes))
        });
        let missing = timeline.missing.iter();
        warnings.extend(missing.map(|what| format!("event log: {what}")));
        let timeline = Arc::new(timeline);
        known.push((holds, timeline.clone()));
        Ok(Some(timeline))
    }
}

/// Why a system cannot be decoded.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum SystemError {
    /// Something in its files.
    #[error(transparent)]
    Files(#[from] Error),
    /// Code changes, but neither the caller nor the metadata say what tells contexts apart.
    #[error("nothing says what the context identifier of the core is")]
    NoContextId,
}

/// A way to find frames was given for a buffer that has none.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ThisError)]
#[error("this buffer has the bytes of one source, and no frames")]
pub struct NoFrames;

/// How the bytes of a buffer are laid out. `mode` says how frames are found, if not as usual.
///
/// # Errors
///
/// If there are no frames to find.
pub fn layout_of(format: Format, mode: Option<Mode>) -> Result<Layout, NoFrames> {
    match format {
        Format::Coresight => Ok(Layout::Frames(mode.unwrap_or(Mode::Aligned))),
        Format::Dstream => Ok(Layout::Dstream(mode.unwrap_or(Mode::Fsync))),
        Format::SourceData if mode.is_some() => Err(NoFrames),
        Format::SourceData => Ok(Layout::Raw),
    }
}

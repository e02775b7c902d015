use super::random;
use hartrace_arm_decoder::{Capture, Layout};
use hartrace_capture::snapshot::{Buffer, Error, Protocol};
use hartrace_capture::system::{System, layout_of};
use hartrace_decoder_hdl::{Decoder, etmv4};
use hartrace_etmv4::Config as Unit;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The trace of an ETMv4 or ETE.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its trace unit.
    pub unit: Unit,
    /// The bytes of its packets.
    pub bytes: Vec<u8>,
}

impl Source {
    /// Random packets of a trace unit; if `hostile`, they are damaged.
    #[must_use]
    pub fn random(unit: &Unit, len: usize, hostile: bool, seed: u64) -> Self {
        let layout = hartrace_etmv4::Layout::new(unit);
        let (name, bytes) = match hostile {
            false => ("random packets", random::packets(&layout, len, seed)),
            true => ("damaged packets", random::damaged(&layout, len, 100, seed)),
        };
        Self { name: name.into(), unit: *unit, bytes }
    }
}

/// There is no trace to decode.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourcesError {
    /// A file cannot be read or understood.
    #[error(transparent)]
    Files(#[from] Error),
    /// There are other protocols only, or nothing.
    #[error("{}: no trace of an ETMv4 or ETE", .0.display())]
    Nothing(PathBuf),
}

/// Reads all ETMv4 and ETE traces of a snapshot or a package.
///
/// # Errors
///
/// If there are none, or they cannot be read.
pub fn sources(path: &Path) -> Result<Vec<Source>, SourcesError> {
    let system = System::open(path)?;
    let buffers: Vec<&Buffer> = match &system {
        System::Snapshot(snapshot) => snapshot.buffers.iter().collect(),
        System::Package(_) => vec![system.buffer(None)?],
    };
    let mut found = Vec::new();
    for buffer in &buffers {
        let bytes = system.bytes(buffer).read()?;
        let Ok(layout) = layout_of(buffer.format, None) else { continue };
        let capture = Capture::split(layout, &bytes);
        for origin in system.origins(buffer)? {
            let Protocol::Etmv4(unit) = *origin.protocol() else { continue };
            let of = |id: u8| layout == Layout::Raw || id == origin.id();
            let Some(stream) = capture.streams.iter().find(|stream| of(stream.id)) else {
                continue;
            };
            let name = match buffers.len() {
                1 => origin.name(),
                _ => format!("{} in {}", origin.name(), buffer.name),
            };
            found.push(Source { name, unit, bytes: stream.bytes.clone() });
        }
    }
    if found.is_empty() { Err(SourcesError::Nothing(path.into())) } else { Ok(found) }
}

/// Reads the ETMv4 and ETE traces of a snapshot or a package, each with its name and a decoder like `decoder`, but
/// for the trace unit that it is from. A decoder of E-Trace has none there.
///
/// # Errors
///
/// If there are none, or they cannot be read.
pub fn captured(
    decoder: &Decoder,
    path: &Path,
) -> Result<Vec<(Decoder, String, Vec<u8>)>, SourcesError> {
    let Decoder::Etmv4(config) = *decoder else {
        return Err(SourcesError::Nothing(path.into()));
    };
    let with_decoder = |Source { name, unit, bytes }: Source| {
        (Decoder::Etmv4(etmv4::Config { unit, ..config }), name, bytes)
    };
    Ok(sources(path)?.into_iter().map(with_decoder).collect())
}

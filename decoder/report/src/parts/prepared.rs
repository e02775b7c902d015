//! A capture with everything that decoding it requires.

use super::error::PartsError;
use super::plan::{Plan, PlannedCapture, PlannedPart};
use hartrace_capture::described::{Content, Described, DescribedError};
use hartrace_capture::description::Description;
use hartrace_capture::follow::Follow;
use hartrace_capture::params::Given;
use hartrace_capture::programs::{Code, Programs};
use hartrace_decoder::stream::{Cuts, Decode, SourceCuts, Transport};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// A capture, its parameters and its programs.
pub(super) struct Prepared {
    pub(super) path: PathBuf,
    pub(super) follow: Follow,
    bytes: u64,
    description: String,
    programs: Vec<String>,
    described: Described,
}

/// The SHA-256 of something, in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Prepared {
    /// Reads the description and the programs of a capture.
    pub(super) fn new(path: &Path) -> Result<Self, PartsError> {
        let kind = |what, hint| Err(PartsError::Kind { path: path.into(), what, hint });
        if path.is_dir() {
            return kind("a snapshot of an Arm system", "`hartrace decode`, on one machine");
        }
        if path.extension().is_some_and(|extension| extension == "zst") {
            return kind("a compressed capture", "the capture after `zstd -d`");
        }
        let bytes = fs::metadata(path).map_err(PartsError::file(path))?.len();
        let wrong = |what: String| PartsError::Description { path: path.into(), what };
        let described = match Described::find(path) {
            Err(DescribedError::Package(_)) => {
                return kind("a package of CoreSight trace", "`hartrace decode`, on one machine");
            }
            described => described.map_err(|error| wrong(error.to_string()))?,
        };
        described.check_length().map_err(|error| wrong(error.to_string()))?;
        if !matches!(described.content(), Ok(Content::File(_))) {
            return kind("a bundle", "the files in it, unpacked");
        }
        let Some((known, file)) = described.description.as_ref().zip(described.file()) else {
            let place = Description::place(path);
            return Err(wrong(format!(
                "the capture has no description {}, which names parameters and programs; try `hartrace probe`",
                place.display()
            )));
        };
        let text = fs::read(file).map_err(PartsError::file(file))?;
        let setup = described.setup(None, &Given::default());
        let setup = setup.map_err(|error| wrong(error.to_string()))?;
        let code: Vec<Code> = described
            .code(|path| {
                let failed = |error| DescribedError::Unreadable { path: path.into(), error };
                fs::read(path).map_err(failed)
            })
            .map_err(|error| wrong(error.to_string()))?;
        if code.is_empty() {
            return Err(wrong("its description names no program".into()));
        }
        let programs = code.iter().map(|code| digest(&code.bytes)).collect();
        let (loaded, _) =
            Programs::load(code, setup.xlen).map_err(|error| wrong(error.to_string()))?;
        let mut follow = Follow::new(setup, loaded);
        follow.trap_vectors(&known.trap_vectors);
        let description = digest(&text);
        Ok(Self { path: path.into(), follow, bytes, description, programs, described })
    }

    /// Reads the same for a capture of a plan in `folder`.
    pub(super) fn planned_in(
        plan: &Plan,
        folder: &Path,
        capture: usize,
    ) -> Result<Self, PartsError> {
        let Some(planned) = plan.captures.get(capture) else {
            return Err(PartsError::Plan(format!("there is no capture {capture}")));
        };
        let prepared = Self::new(&folder.join(&planned.file))?;
        let changed = |what| Err(PartsError::Changed { path: prepared.path.clone(), what });
        if prepared.bytes != planned.bytes {
            return changed("the size of the capture");
        }
        if prepared.description != planned.description {
            return changed("the description");
        }
        if prepared.programs != planned.programs {
            return changed("a program");
        }
        Ok(prepared)
    }

    /// What a plan says of the capture.
    pub(super) fn planned(self, file: PathBuf) -> PlannedCapture {
        let Self { bytes, description, programs, .. } = self;
        PlannedCapture { file, bytes, description, programs }
    }

    fn decode(&self, transport: Transport) -> Decode<'_> {
        let Follow { setup, programs, config, .. } = &self.follow;
        Decode {
            options: setup.options,
            ..Decode::new(config.clone(), programs.images(), transport)
        }
    }

    /// How to decode a part.
    pub(super) fn decode_part(&self, part: &PlannedPart) -> Decode<'_> {
        let transport = self.follow.setup.transport.stream();
        self.decode(Transport { source: part.source, ..transport })
    }

    /// Looks for places to cut.
    pub(super) fn cuts(
        &self,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<SourceCuts>, PartsError> {
        let decode = self.decode(self.follow.setup.transport.stream());
        let wrong = |what: String| PartsError::Description { path: self.path.clone(), what };
        let mut cuts = Cuts::new(&decode).map_err(|error| wrong(error.to_string()))?;
        let file = File::open(&self.path).map_err(PartsError::file(&self.path))?;
        let mut file = self.described.checked(file);
        let mut chunk = vec![0; CHUNK];
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(got) => {
                    cuts.feed(chunk.get(..got).unwrap_or_default());
                    progress(got as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // It has the name of the capture.
                Err(error) => return Err(PartsError::Read(error)),
            }
        }
        let most = decode.config.source_cap;
        cuts.finish().ok_or_else(|| PartsError::Sources { path: self.path.clone(), most })
    }
}

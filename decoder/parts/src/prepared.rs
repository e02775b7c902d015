//! A capture with everything that decoding it requires.

use super::block_sums::BlockSums;
use super::error::PartsError;
use super::plan::{Plan, PlannedCapture, PlannedPart};
use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::described::{Content, Described, DescribedError};
use hartrace_capture::description::Description;
use hartrace_capture::limits;
use hartrace_capture::params::Given;
use hartrace_capture::programs::{Code, Programs};
use hartrace_decoder::stream::{Cuts, Decode, SourceCuts, Transport};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// A capture, its parameters and its programs.
pub(super) struct Prepared {
    pub(super) path: PathBuf,
    pub(super) follow: CaptureDecoder,
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
            Err(error @ DescribedError::InBundle { .. }) => return Err(error.into()),
            described => described.map_err(|error| wrong(error.to_string()))?,
        };
        described.check_length()?;
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
        let text = limits::read_document(file).map_err(PartsError::file(file))?;
        let setup = described.setup(None, &Given::default());
        let setup = setup.map_err(|error| wrong(error.to_string()))?;
        let mut code: Vec<Code> = described
            .code(|path| {
                let failed = |error| DescribedError::Unreadable { path: path.into(), error };
                limits::read_file(path).map_err(failed)
            })
            .map_err(|error| wrong(error.to_string()))?;
        if code.is_empty() {
            return Err(wrong("its description names no program".into()));
        }
        code.extend(described.kernel_code());
        let programs = code.iter().map(|code| digest(&code.bytes)).collect();
        let (loaded, _) =
            Programs::load(code, setup.xlen).map_err(|error| wrong(error.to_string()))?;
        let mut follow = CaptureDecoder::new(setup, loaded);
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
            return Err(PartsError::NoCapture(capture));
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
    pub(super) fn planned(self, file: String, crc32: Vec<u32>) -> PlannedCapture {
        let Self { bytes, description, programs, .. } = self;
        PlannedCapture { file, bytes, crc32, description, programs }
    }

    /// Checks that the bytes of a part are those that were planned.
    pub(super) fn check(&self, plan: &Plan, part: &PlannedPart) -> Result<(), PartsError> {
        let failed = |error| PartsError::File { path: self.path.clone(), error };
        let sums = plan.captures.get(part.capture).map_or(&[][..], |planned| &planned.crc32);
        let end = part.end.unwrap_or(self.bytes).div_ceil(BlockSums::BLOCK);
        let mut file = hartrace_capture::input::open(&self.path).map_err(failed)?;
        for number in part.start / BlockSums::BLOCK..end {
            let start = number.saturating_mul(BlockSums::BLOCK);
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            let mut block = Vec::new();
            (&mut file).take(BlockSums::BLOCK).read_to_end(&mut block).map_err(failed)?;
            let mut found = BlockSums::default();
            found.add(&block);
            let planned = usize::try_from(number).ok().and_then(|number| sums.get(number));
            if found.finish().first() != planned {
                let what = "the content of the capture";
                return Err(PartsError::Changed { path: self.path.clone(), what });
            }
        }
        Ok(())
    }

    fn decode(&self, transport: Transport) -> Decode<'_> {
        let CaptureDecoder { setup, programs, config, .. } = &self.follow;
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

    /// Looks for places to cut, and adds up blocks of the capture.
    pub(super) fn cuts(
        &self,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Vec<SourceCuts>, Vec<u32>), PartsError> {
        let decode = self.decode(self.follow.setup.transport.stream());
        let wrong = |what: String| PartsError::Description { path: self.path.clone(), what };
        let mut cuts = Cuts::new(&decode).map_err(|error| wrong(error.to_string()))?;
        let file =
            hartrace_capture::input::open(&self.path).map_err(PartsError::file(&self.path))?;
        let mut file = self.described.checked(file);
        let (mut chunk, mut sums) = (vec![0; CHUNK], BlockSums::default());
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(got) => {
                    let bytes = chunk.get(..got).unwrap_or_default();
                    cuts.feed(bytes);
                    sums.add(bytes);
                    progress(got as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // It has the name of the capture.
                Err(error) => return Err(PartsError::Read(error)),
            }
        }
        let most = decode.config.source_cap;
        let cuts = cuts.finish();
        let cuts = cuts.ok_or_else(|| PartsError::Sources { path: self.path.clone(), most })?;
        Ok((cuts, sums.finish()))
    }
}

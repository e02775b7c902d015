//! Plans: where captures are cut.

use super::error::PartsError;
use super::prepared::{Prepared, digest};
use hartrace_decoder::stream::{Cut, SourceCuts, Stretch, SyncPoint};
use hartrace_etrace::{Ioptions, Start};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the format.
const VERSION: u32 = 2;

/// Bytes of a part, if the number of parts is not given.
const PART: u64 = 64 << 20;

/// Captures, and the parts that they are cut into.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this format.
    pub version: u32,
    /// The SHA-256 of the plan, without this.
    pub sha256: String,
    /// The captures.
    pub captures: Vec<PlannedCapture>,
    /// The parts, by capture, then by source, then in order.
    pub parts: Vec<PlannedPart>,
}

/// A capture, and how to recognise it and what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCapture {
    /// Its file, relative to the plan. Its description is beside it.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The CRC-32 of every 4 MiB of it.
    pub crc32: Vec<u32>,
    /// The SHA-256 of its description.
    pub description: String,
    /// The SHA-256 of its programs.
    pub programs: Vec<String>,
}

/// A part: the trace of one source from a synchronisation, or from its start, up to the next part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedPart {
    /// The number of its capture.
    pub capture: usize,
    /// Its source; `None` if frames have none.
    pub source: Option<u16>,
    /// Offset of its first frame.
    pub start: u64,
    /// Offset of the synchronisation that the next part starts with; `None` if it leads to the end of the capture.
    pub end: Option<u64>,
    /// Packets of the source in it, which its cost depends on.
    pub packets: u64,
    /// The modes in force at its start, as in `--encode`.
    pub modes: String,
    /// The synchronisation that it starts with, if another part leads to it: the time base, among other things.
    pub sync: Option<Sync>,
}

/// A synchronisation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    /// The modes in force.
    pub modes: String,
    /// Its fields, as they were sent.
    pub address: u64,
    /// `false` at a branch that was taken.
    pub branch: bool,
    /// Privilege.
    pub privilege: u8,
    /// Context, or 0.
    pub context: u64,
    /// Time of the hart, or 0.
    pub time: u64,
    /// Timestamp of the frame.
    pub timestamp: Option<u64>,
}

impl From<SyncPoint> for Sync {
    fn from(SyncPoint { options, start, timestamp }: SyncPoint) -> Self {
        let Start { branch, privilege, time, context, address } = start;
        Self { modes: options.to_string(), address, branch, privilege, context, time, timestamp }
    }
}

impl Plan {
    /// Plans captures, which have descriptions beside them. File names are relative to `folder`, where the plan will be.
    /// There are about as many parts as are asked for, or one for every 64 MiB. `progress` is told the number of bytes
    /// of each piece that was read.
    ///
    /// # Errors
    ///
    /// If a capture, its description or its programs cannot be read, or the capture cannot be cut.
    pub fn new(
        captures: &[PathBuf],
        folder: &Path,
        parts: Option<usize>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, PartsError> {
        let (mut planned, mut sources) = (Vec::new(), Vec::new());
        for (number, path) in captures.iter().enumerate() {
            let real = |path: &PathBuf| path.canonicalize().ok();
            let before = captures.get(..number).unwrap_or_default();
            if before.iter().any(|other| real(other).is_some_and(|other| real(path) == Some(other)))
            {
                return Err(PartsError::SameCapture { path: path.clone() });
            }
            let prepared = Prepared::new(path)?;
            let relative = relative(path, folder)?;
            let (mut found, crc32) = prepared.cuts(progress)?;
            found.sort_by_key(|source| source.source);
            sources.extend(found.into_iter().map(|source| (number, source)));
            planned.push(prepared.planned(relative, crc32));
        }
        let bytes: u64 = planned.iter().map(|capture| capture.bytes).sum();
        let packets: u64 = sources.iter().map(|(_, source)| source.packets).sum();
        let wanted = parts.map_or_else(|| bytes.div_ceil(PART), |parts| parts as u64).max(1);
        let mut parts = Vec::new();
        for (number, source) in sources {
            let share = u128::from(source.packets).saturating_mul(wanted.into());
            let share = share.saturating_add(u128::from(packets / 2)).checked_div(packets.into());
            let count = share.and_then(|share| u64::try_from(share).ok()).unwrap_or(1);
            cut(number, &source, count.max(1), &mut parts);
        }
        let sha256 = String::new();
        let plan = Self { version: VERSION, sha256, captures: planned, parts };
        Ok(Self { sha256: plan.digest(), ..plan })
    }

    /// Reads a plan. `name` is that of its file, for messages.
    ///
    /// # Errors
    ///
    /// If it is not a plan of this version, or not as it was written.
    pub fn parse(text: &str, name: &str) -> Result<Self, PartsError> {
        /// What plans of all versions have.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let wrong = |what: String| PartsError::Plan { name: name.into(), what };
        let unreadable = |error: serde_json::Error| wrong(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(unreadable)?;
        if version != VERSION {
            return Err(wrong(format!("version {version} is not known here, only {VERSION}")));
        }
        let plan: Self = serde_json::from_str(text).map_err(unreadable)?;
        if plan.sha256 != plan.digest() {
            return Err(PartsError::Damaged { name: name.into() });
        }
        if let Some(part) = plan.parts.iter().find(|part| part.capture >= plan.captures.len()) {
            return Err(wrong(format!("there is no capture {}", part.capture)));
        }
        Ok(plan)
    }

    /// The SHA-256 of everything but itself.
    fn digest(&self) -> String {
        let plan = Self { sha256: String::new(), ..self.clone() };
        digest(plan.text().as_bytes())
    }

    /// The text of the plan.
    pub fn text(&self) -> String {
        // Nothing in it can fail to be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// A number for this plan: tables of other plans have another one.
    pub fn id(&self) -> String {
        digest(self.text().as_bytes())
    }

    /// What was planned in this time, in words.
    pub fn report(&self, time: Duration) -> String {
        let bytes: u64 = self.captures.iter().map(|capture| capture.bytes).sum();
        let (megabytes, seconds) = (bytes as f64 / 1e6, time.as_secs_f64());
        let (parts, spread) = (self.parts.len(), self.spread());
        format!(
            "{megabytes:.1} MB in {seconds:.2} s, {:.0} MB/s\nparts {parts}, sources {}, largest part {spread:.2} \
             times the smallest\n",
            megabytes / seconds,
            self.sources()
        )
    }

    /// The sources of all captures.
    pub fn sources(&self) -> usize {
        let mut sources: Vec<_> =
            self.parts.iter().map(|part| (part.capture, part.source)).collect();
        sources.dedup();
        sources.len()
    }

    /// How many times as many packets the largest part has as the smallest one.
    pub fn spread(&self) -> f64 {
        let packets = || self.parts.iter().map(|part| part.packets);
        match (packets().max(), packets().min()) {
            (Some(most), Some(least)) if least > 0 => most as f64 / least as f64,
            _ => 1.0,
        }
    }
}

/// A path relative to a folder, if it is relative at all. Plans are text, so names have to be.
fn relative(path: &Path, folder: &Path) -> Result<String, PartsError> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(PartsError::file(path));
    let (file, folder) = (absolute(path)?, absolute(folder)?);
    let relative = pathdiff::diff_paths(&file, folder).unwrap_or(file).into_os_string();
    relative.into_string().map_err(|_| PartsError::Name { path: path.into() })
}

/// Cuts a source into about `count` equal parts.
fn cut(capture: usize, source: &SourceCuts, count: u64, parts: &mut Vec<PlannedPart>) {
    let mut chosen: Vec<&Cut> = Vec::new();
    let mut rest = source.cuts.as_slice();
    for number in 1..count {
        let ideal = u128::from(source.packets).saturating_mul(number.into());
        let ideal = ideal.checked_div(count.into()).unwrap_or(0) as u64;
        let after = rest.partition_point(|cut| cut.packets < ideal);
        let before = after.checked_sub(1).and_then(|index| rest.get(index));
        let far = |cut: &&Cut| cut.packets.abs_diff(ideal);
        let Some(nearest) = before.into_iter().chain(rest.get(after)).min_by_key(far) else {
            break;
        };
        chosen.push(nearest);
        let taken = rest.iter().position(|cut| cut == nearest).map_or(0, |at| at.saturating_add(1));
        rest = rest.get(taken..).unwrap_or_default();
    }
    let first = PlannedPart {
        capture,
        source: source.source,
        start: source.first,
        end: None,
        packets: 0,
        modes: source.initial.to_string(),
        sync: None,
    };
    let mut present = (0, first);
    for cut in chosen {
        let (before, mut part) = present;
        part.end = Some(cut.byte);
        part.packets = cut.packets.saturating_sub(before);
        let next = PlannedPart {
            start: cut.byte,
            end: None,
            modes: cut.sync.options.to_string(),
            sync: Some(cut.sync.into()),
            ..part.clone()
        };
        parts.push(part);
        present = (cut.packets, next);
    }
    let (before, mut part) = present;
    part.packets = source.packets.saturating_sub(before);
    parts.push(part);
}

impl PlannedPart {
    /// The stretch of the capture.
    pub(super) fn stretch(&self) -> Result<Stretch, PartsError> {
        let options = Ioptions::named(&self.modes);
        let options = options.map_err(|mode| PartsError::NoMode(mode.to_string()))?;
        Ok(Stretch { byte: self.start, options, resumes: self.sync.is_some(), end: self.end })
    }
}

//! The frame stage against software: every byte with its source, and every error, whatever the port sends.

use hartrace_arm_decoder::system::System;
use hartrace_arm_decoder::{Capture, Layout};
use hartrace_capture::snapshot::Buffer;
use hartrace_encap::coresight::{Dstream, FSYNC};
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::decoder::frame::{
    FrameBench, FrameReport, damaged, frames, hostile, synchronisations,
};
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};

fn compare(bench: &FrameBench, capture: &[u8], pauses: Option<u64>) -> Result<FrameReport, Failed> {
    let report = bench.compare(capture, pauses)?;
    match report.differences {
        0 => Ok(report),
        _ => Err(format!("{report:?}").into()),
    }
}

/// Random frames, whole and damaged, and bytes of any kind.
fn random(len: usize) -> Result<(), Failed> {
    let bench = FrameBench::new(&Options::default())?;
    for seed in 0..8 {
        for pauses in [None, Some(seed)] {
            let whole = compare(&bench, &frames(len / 8, seed), pauses)?;
            if whole.errors > 0 || whole.read < whole.bytes / 4 {
                return Err(format!("hardly anything is read: {whole:?}").into());
            }
            for capture in [damaged(len / 8, seed), hostile(len / 8, seed)] {
                let report = compare(&bench, &capture, pauses)?;
                if report.errors < report.bytes / 1000 || report.read < report.bytes / 100 {
                    return Err(format!("too few errors or bytes: {report:?}").into());
                }
            }
        }
    }
    let report = compare(&bench, &synchronisations(), None)?;
    match report.errors {
        0..1000 => Err(format!("too few errors: {report:?}").into()),
        _ => Ok(()),
    }
}

/// The buffers of a snapshot, as a port would send them.
fn snapshots(paths: &[PathBuf]) -> Result<(), Failed> {
    let bench = FrameBench::new(&Options::default())?;
    let mut buffers = 0;
    for path in paths {
        buffers += snapshot(&bench, path).map_err(|error| format!("{path:?}: {error:?}"))?;
    }
    if buffers == 0 { Err("no buffer has frames".into()) } else { Ok(()) }
}

fn snapshot(bench: &FrameBench, path: &Path) -> Result<u64, Failed> {
    let system = System::open(path)?;
    let buffers: Vec<&Buffer> = match &system {
        System::Snapshot(snapshot) => snapshot.buffers.iter().collect(),
        System::Package(_) => vec![system.buffer(None)?],
    };
    let mut compared = 0;
    for buffer in buffers {
        let mut bytes = Vec::new();
        system.bytes(buffer).each(|piece| bytes.extend_from_slice(piece))?;
        let Ok(layout) = Layout::of_buffer(buffer.format, None) else { continue };
        // Memory has no synchronisation words; a probe adds trailers.
        let mut capture = Vec::new();
        match layout {
            Layout::Raw => continue,
            Layout::Frames(_) => capture.extend(FSYNC.iter().chain(&bytes)),
            Layout::Dstream(_) => Dstream::new().feed(&bytes, &mut |piece| capture.extend(piece)),
        }
        let report = compare(bench, &capture, None)?;
        // The same bytes as in the format of the buffer, but for a word that is not whole.
        let read = Capture::split(layout, &bytes).statistics.data;
        if read == 0 || read.abs_diff(report.read) > 16 {
            return Err(format!("{read} bytes are in {}: {report:?}", buffer.name).into());
        }
        compared += 1;
    }
    Ok(compared)
}

/// The trials of the stage.
pub(crate) fn trials(len: usize, paths: &[PathBuf], missing: bool) -> Vec<Trial> {
    let paths = paths.to_vec();
    let ignored = missing || paths.is_empty();
    vec![
        Trial::test("frame_random", move || random(len)).with_ignored_flag(missing),
        Trial::test("frame_snapshots", move || snapshots(&paths)).with_ignored_flag(ignored),
    ]
}

//! The frame stage against software: every byte with its source, and every error, whatever the port sends.

use hartrace_arm_decoder::{Capture, Layout};
use hartrace_capture::snapshot::Buffer;
use hartrace_capture::system::{System, layout_of};
use hartrace_encap::coresight::{Dstream, FSYNC};
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::decoder::frame::{
    FrameBench, FrameReport, GeneratorReport, SYNC_FRAMES, Write, damaged, frames, hostile,
    synchronisations, writes,
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

/// Frames of the generator, of several sources and of one, back through the stage.
fn generated(len: usize) -> Result<(), Failed> {
    let bench = FrameBench::new(&Options::default())?;
    let check = |writes: &[Write], pauses: Option<u64>| -> Result<GeneratorReport, Failed> {
        let report = bench.generate(writes, pauses)?;
        match report.wrong {
            None => Ok(report),
            Some(_) => Err(format!("{report:?}").into()),
        }
    };
    for seed in 0..8 {
        for pauses in [None, Some(seed)] {
            check(&writes(len / 16, seed), pauses)?;
        }
    }
    // A flush after each number of bytes, of one source and before a byte of another one.
    let parts =
        |id: u8| (1..70u8).map(move |len| Write { id, bytes: (0..len).collect(), flush: true });
    check(&parts(0x10).collect::<Vec<_>>(), None)?;
    let other = |write: Write| {
        [Write { flush: false, ..write }, Write { id: 0x11, bytes: vec![0xff], flush: true }]
    };
    check(&parts(0x10).flat_map(other).collect::<Vec<_>>(), None)?;
    // Full speed: a pair leaves in every cycle, and a synchronisation costs one cycle and one byte.
    let long = Write { id: 0x6f, bytes: vec![0xff; len / 8], flush: true };
    let report = check(&[long], None)?;
    let frames = report.sent.saturating_sub(4 * report.synchronisations) / 16;
    let expected = frames.div_ceil(SYNC_FRAMES.into());
    if report.synchronisations != expected || report.cycles > 8 * frames + expected + 100 {
        return Err(format!("{frames} frames: {report:?}").into());
    }
    Ok(())
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
        let bytes = system.bytes(buffer).read()?;
        let Ok(layout) = layout_of(buffer.format, None) else { continue };
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
        Trial::test("frame_generated", move || generated(len)).with_ignored_flag(missing),
        Trial::test("frame_snapshots", move || snapshots(&paths)).with_ignored_flag(ignored),
    ]
}

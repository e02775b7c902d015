//! Captures of bundled programs, with descriptions.

use crate::case::Dice;
use hartrace_capture::decode::CaptureDecoder;
use hartrace_capture::described::{Described, DescribedError};
use hartrace_capture::description::Description;
use hartrace_capture::output::CaptureOutput;
use hartrace_capture::params::Given;
use hartrace_capture::programs::Programs;
use hartrace_encap::{EncapParams, FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_encoder::{Encoded, Encoder, EncoderConfig, Resync};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::round::{Ran, RoundError, Trial};
use hartrace_executions::executed::{Program, ProgramError, modes};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder that is removed at the end.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder. Tests that run at the same time have names of their own.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hartrace-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("there is room");
        Self(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Traces a bundled program; returns the capture.
pub fn trace(folder: &Folder, name: &str, mode: &str, limit: u64) -> PathBuf {
    let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).expect("it is bundled");
    trace_elf(folder, name, elf, mode, limit)
}

/// Traces a program that is given as an ELF file; returns the capture.
pub fn trace_elf(folder: &Folder, name: &str, elf: &[u8], mode: &str, limit: u64) -> PathBuf {
    let file = folder.path().join(format!("{name}.elf"));
    fs::write(&file, elf).expect("there is room");
    let program = Program::new(name, elf.to_vec()).expect("it can be executed");
    let options = modes::named(mode).expect("a mode");
    let trial = Trial { program: &program, modes: &[options], limit };
    let capture = folder.path().join(format!("{name}.{mode}.te"));
    let create = |_: &str| -> Result<_, RoundError> {
        Ok(Some(CaptureOutput::create(&capture).expect("there is room")))
    };
    let Ran { mut lines, stopped } = trial.run(create, |_| Ok(())).expect("it runs");
    assert!(stopped.is_none(), "{stopped:?}");
    lines[0].save(&program, &file, ["test".into()]).expect("there is room");
    capture
}

/// The same with a synchronisation after every so many packets.
pub fn trace_synchronised(
    folder: &Folder,
    name: &str,
    mode: &str,
    limit: u64,
    packets: u64,
) -> PathBuf {
    let capture = trace(folder, name, mode, limit);
    let config = follow(&capture).setup.encoder();
    let config = EncoderConfig { resync: Resync::Packets(packets), ..config };
    let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).expect("it is bundled");
    let program = Program::new(name, elf.to_vec()).expect("it can be executed");
    let (mut encoder, mut bytes) = (Encoder::new(config).expect("legal"), Vec::new());
    let mut out = |payload: Encoded<'_>| {
        let mut frame = [0; MAX_FRAME];
        let header = FrameHeader::default();
        let len = Framing::Reference.emit(&header, payload.bytes, &mut frame).expect("it fits");
        bytes.extend_from_slice(&frame[..len]);
    };
    let ending = program.execute(limit, |rows| {
        encoder.retire_all(rows, &mut out);
        Ok::<(), ProgramError>(())
    });
    ending.expect("it runs");
    encoder.finish(&mut out);
    replace(&capture, &bytes);
    capture
}

/// Writes a capture, or replaces it by another one, that its description fits.
pub fn replace(capture: &Path, bytes: &[u8]) {
    if !capture.exists() {
        // Without a capture there is no description of it.
        fs::write(capture, []).expect("there is room");
    }
    let described = Described::find(capture).expect("it has a description");
    let mut output = CaptureOutput::create(capture).expect("there is room");
    output.write_all(bytes).expect("there is room");
    output.finish(described.description.expect("it has one")).expect("there is room");
}

/// How a capture is decoded.
pub fn follow(capture: &Path) -> CaptureDecoder {
    let described = Described::find(capture).expect("it has a description");
    let setup = described.setup(None, &Given::default()).expect("it is complete");
    let code = described.code(|path| Ok::<_, DescribedError>(fs::read(path).expect("it is there")));
    let (programs, _) = Programs::load(code.expect("they are right"), setup.xlen).expect("ELF");
    let mut follow = CaptureDecoder::new(setup, programs);
    follow.trap_vectors(&described.description.expect("it has one").trap_vectors);
    follow
}

/// Puts traces of one program into one capture, each as a source of its own.
pub fn several_sources(folder: &Folder, traces: &[PathBuf], dice: &mut Dice) -> PathBuf {
    let params = EncapParams::new(4, 2, 0).expect("fields fit");
    let mut streams: Vec<_> = (1..)
        .zip(traces)
        .map(|(source, path)| {
            let bytes = fs::read(path).expect("it was written");
            let frame = |item: Item<'_>, time: u64| {
                let Item::Frame(frame) = item else { unreachable!("there are no null packets") };
                let header = FrameHeader {
                    source: Some(source),
                    timestamp: Some(time & 0xffff),
                    ..FrameHeader::default()
                };
                let mut out = [0; MAX_FRAME];
                let payload = frame.payload_bytes().expect("bytes").to_vec();
                let len =
                    Framing::Encap(params).emit(&header, &payload, &mut out).expect("it fits");
                out[..len].to_vec()
            };
            let frames = Framing::Reference.frames(&bytes);
            let frames = frames.zip(0..).map(|(item, time)| frame(item.expect("whole").1, time));
            frames.collect::<Vec<_>>().into_iter()
        })
        .collect();
    let mut capture = Vec::new();
    while !streams.is_empty() {
        let index = dice.range(0, streams.len() as u64 - 1) as usize;
        // Runs of frames, as a funnel makes them.
        for _ in 0..dice.range(1, 9) {
            match streams[index].next() {
                Some(frame) => capture.extend(frame),
                None => {
                    drop(streams.remove(index));
                    break;
                }
            }
        }
    }
    let path = folder.path().join("sources.te");
    let text = fs::read_to_string(Description::place(&traces[0])).expect("it was written");
    let framing = "[framing]\nkind = \"encap\"\nsrc-bits = 4\ntimestamp-bytes = 2";
    assert!(text.contains("[framing]\nkind = \"reference\""), "{text}");
    let text = text.replace("[framing]\nkind = \"reference\"", framing);
    fs::write(Description::place(&path), text).expect("there is room");
    replace(&path, &capture);
    path
}

/// A copy of a capture in which some bytes were changed, some were lost, and some were added.
pub fn damaged(capture: &Path, number: usize, dice: &mut Dice) -> PathBuf {
    let mut bytes = fs::read(capture).expect("it was written");
    for _ in 0..12 {
        let at = dice.range(0, bytes.len() as u64 - 40) as usize;
        match dice.range(0, 3) {
            0 => bytes[at] ^= 1 << dice.range(0, 7),
            1 => drop(bytes.drain(at..at + dice.range(1, 30) as usize)),
            2 => drop(bytes.splice(at..at, (0..dice.range(1, 9)).map(|n| (n * 37) as u8))),
            _ => bytes[at..at + 3].fill(0xff),
        }
    }
    let path = capture.with_extension(format!("{number}.te"));
    fs::copy(Description::place(capture), Description::place(&path)).expect("there is room");
    replace(&path, &bytes);
    path
}

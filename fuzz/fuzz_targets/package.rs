//! Any files are a trace package, in a folder or an archive, or are rejected with a message.
#![no_main]

use hartrace_capture::snapshot::{Archive, Files, Package, core, image};
use hartrace_spaces::{Holds, Timeline};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const NAMES: [&str; 6] =
    ["contents.ini", "trace.ini", "t.bin", "code.bin", "library.bin", "system-event-log"];

// The first byte selects what follows: files separated by a zero; changes to be made to an archive,
// followed by files to be packed into it; or an archive.
fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let files: Box<dyn Files> = match kind % 4 {
        0 => Box::new(named(rest).collect::<BTreeMap<_, _>>()),
        1 => {
            let Ok(archive) = Archive::new(Cursor::new(rest.to_vec())) else { return };
            Box::new(archive)
        }
        kind => {
            let Some((changes, rest)) = rest.split_first() else { return };
            let Some((changes, rest)) = rest.split_at_checked(usize::from(changes % 8) * 3) else {
                return;
            };
            let mut packed = pack(rest, kind == 2);
            for change in changes.chunks_exact(3) {
                let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % packed.len();
                packed[at] ^= change[2];
            }
            let Ok(archive) = Archive::new(Cursor::new(packed)) else { return };
            Box::new(archive)
        }
    };
    check(files);
});

fn named(input: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let parts = input.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    NAMES.map(str::to_owned).into_iter().zip(parts)
}

fn pack(input: &[u8], compress: bool) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let method = match compress {
        true => zip::CompressionMethod::Deflated,
        false => zip::CompressionMethod::Stored,
    };
    for (name, bytes) in named(input) {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(name, options).expect("names differ");
        zip.write_all(&bytes).expect("memory can be written");
    }
    zip.finish().expect("memory can be written").into_inner()
}

fn check(files: Box<dyn Files>) {
    let package = match Package::read(files) {
        Ok(package) => package,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for trace in &package.traces {
        let _ = trace.core.as_deref().and_then(core);
    }
    for buffer in &package.buffers {
        let _ = package.bytes(buffer).read();
    }
    let mut warnings = Vec::new();
    let _ = package.segments(&mut warnings);
    let log = match package.log() {
        Ok(Some(log)) => log,
        Ok(None) => return,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let load =
        |image: &hartrace_spaces::Image| package.file(&image.file).ok().and_then(image::segments);
    let timeline = Timeline::new(&log, Holds::Tid, load);
    let _ = timeline.segments(timeline.space(u64::MAX, Some(1)));
}

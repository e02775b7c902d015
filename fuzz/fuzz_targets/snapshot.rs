//! Any files are a snapshot, or are rejected with a message.
#![no_main]

use hartrace_capture::snapshot::Snapshot;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

// Files are separated by a zero; their names are given.
fuzz_target!(|input: &[u8]| {
    let names = ["snapshot.ini", "core.ini", "etm.ini", "trace.ini", "t.bin", "code.bin"];
    let parts = input.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let files: BTreeMap<String, Vec<u8>> =
        names.map(str::to_owned).into_iter().zip(parts).collect();
    let snapshot = match Snapshot::read(Box::new(files)) {
        Ok(snapshot) => snapshot,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut warnings = Vec::new();
    for buffer in &snapshot.buffers {
        let _ = snapshot.bytes(buffer).read();
        let Ok(sources) = snapshot.sources(&buffer.name) else { continue };
        for source in &sources {
            let _ = source.core_kind();
            if let Some(core) = source.core {
                let _ = snapshot.segments(core, &mut warnings);
            }
        }
    }
});

//! Any bytes are a recording of perf, or are refused with a message. CoreSight trace in it is decoded, in code
//! that is in the recording too, since no file of this machine may be read.
#![no_main]

use hartrace_capture::perf::Recording;
use hartrace_capture::system::recorded;
use hartrace_fuzz::arm::Count;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let recording = match Recording::read(input.to_vec()) {
        Ok(recording) => recording,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let total: usize = recording.pieces.iter().map(|piece| recording.bytes(piece).len()).sum();
    assert!(total <= input.len(), "bytes are used twice");
    let load = |image: &hartrace_spaces::Image| {
        let (offset, length) = image.part?;
        let code = input.get(usize::try_from(offset).ok()?..)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(code.len());
        Some(vec![(0, code[..length].to_vec())])
    };
    let Some(found) = recorded(&recording, None, load) else { return };
    for source in &found.sources {
        let mut count = Count::default();
        source.decode(&mut count);
    }
});

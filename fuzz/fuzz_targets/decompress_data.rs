//! Any instructions with any accesses, and any bits for readers of data traces.
#![no_main]

use arbitrary::Unstructured;
use hartrace_fuzz::compressors::data;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = data(Unstructured::new(input));
});

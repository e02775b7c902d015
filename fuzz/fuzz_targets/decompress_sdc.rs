//! Any program and any bits for SDC, and for tuples of its streams.
#![no_main]

use hartrace_fuzz::compressors::decompress;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| decompress(&["sdc", "tuples"], input));

//! Any program and any bits for BASE.
#![no_main]

use hartrace_fuzz::compressors::decompress;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| decompress(&["base"], input));

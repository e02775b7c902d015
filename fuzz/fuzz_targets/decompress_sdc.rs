//! Any program and any bits for SDC.
#![no_main]

use hartrace_fuzz::compressors::decompress;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| decompress("sdc", &["eSDC-4x1", "rSDC-8"], input));

//! Any program, and any bytes, compressed with zstd or not.
#![no_main]

use hartrace_fuzz::compressors::decompress_packed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| decompress_packed("zstd", input, |bytes| {
    zstd::bulk::compress(bytes, 1).expect("it is in memory")
}));

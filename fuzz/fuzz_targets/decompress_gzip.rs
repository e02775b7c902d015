//! Any program, and any bytes, compressed with gzip or not.
#![no_main]

use flate2::Compression;
use flate2::read::GzEncoder;
use hartrace_fuzz::compressors::decompress_packed;
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|input: &[u8]| decompress_packed("gzip", input, |bytes| {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed).expect("it is in memory");
    packed
}));

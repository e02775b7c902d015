//! Any program, and any bytes, compressed with bzip2 or not.
#![no_main]

use bzip2::Compression;
use bzip2::read::BzEncoder;
use hartrace_fuzz::compressors::decompress_packed;
use libfuzzer_sys::fuzz_target;
use std::io::Read;

fuzz_target!(|input: &[u8]| decompress_packed("bzip2", input, |bytes| {
    let mut packed = Vec::new();
    BzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed).expect("it is in memory");
    packed
}));

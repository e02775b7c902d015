//! Compressed files.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// An input to read a log from, on any thread.
pub type Input = Box<dyn BufRead + Send>;

/// Decompresses an input that starts like gzip or zstd. No log starts with these bytes.
pub fn decompress(mut raw: Input) -> io::Result<Input> {
    let start = raw.fill_buf()?;
    if start.starts_with(&ZSTD) {
        let plain = zstd::Decoder::with_buffer(raw)?;
        return Ok(Box::new(BufReader::with_capacity(1 << 16, plain)));
    }
    if start.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(raw))));
    }
    Ok(raw)
}

//! Compressed files.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};

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

/// Decompresses a whole input of zstd, of which a few bytes may stand for more than fits in memory. `None`
/// if it has more than `limit` bytes.
pub fn decompress_all(packed: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let plain = zstd::Decoder::new(packed)?;
    plain.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_bytes_do_not_fill_the_memory() {
        let packed = zstd::encode_all(io::repeat(0).take(1 << 24), 1).unwrap();
        assert!(packed.len() < 1 << 12);
        let all = |limit| decompress_all(&packed[..], limit).unwrap().map(|bytes| bytes.len());
        assert_eq!(all(1 << 24), Some(1 << 24));
        assert_eq!(all((1 << 24) - 1), None);
        assert_eq!(all(1 << 16), None);
        assert!(decompress_all(&packed[..packed.len() - 1], 1 << 24).is_err());
    }
}

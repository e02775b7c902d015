//! Files, standard input and output, and progress on long inputs.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::Path;

/// Inputs up to this size show no progress.
const QUIET_BYTES: u64 = 4 << 20;

/// What a zstd frame starts with.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether this names standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The input's name in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".into() } else { path.display().to_string() }
}

/// At most one of several inputs can be standard input.
pub(crate) fn one_standard<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    if inputs.into_iter().filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::usage("standard input cannot be read twice")
            .hint("name a file for all inputs but one"));
    }
    Ok(())
}

/// Why a read failed.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format_args!("cannot read: {error}")).at(name(path))
}

/// A progress bar on standard error; hidden unless that is a terminal and the input is long.
pub(crate) fn progress(len: u64) -> ProgressBar {
    if len <= QUIET_BYTES || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    // Also where an error ends the command.
    let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::stderr())
        .with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template("{wide_bar} {percent:>3} % {binary_bytes_per_sec} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Opens a text input, decompressed if it is zstd. The bar counts bytes of the file itself.
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read>, ProgressBar), Failure> {
    if is_standard(path) {
        let reader = decompress(Box::new(io::stdin().lock()));
        return Ok((reader.map_err(|e| unreadable(path, &e))?, ProgressBar::hidden()));
    }
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    let bar = progress(file.metadata().map_or(0, |meta| meta.len()));
    let reader = decompress(Box::new(bar.wrap_read(file)));
    Ok((reader.map_err(|e| unreadable(path, &e))?, bar))
}

/// No text starts with the bytes of a zstd frame.
fn decompress(raw: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    if raw.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        return Ok(Box::new(zstd::Decoder::with_buffer(raw)?));
    }
    Ok(Box::new(raw))
}

/// Reads a whole file. Captures are binary and may start with anything, so only the name says
/// whether they are compressed.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let outcome = if is_standard(path) {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else if path.extension().is_some_and(|extension| extension == "zst") {
        File::open(path).and_then(|file| zstd::stream::copy_decode(file, &mut bytes))
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    outcome.map_err(|e| unreadable(path, &e))?;
    Ok(bytes)
}

/// Opens an output for writing.
pub(crate) fn create(path: &Path) -> Result<Box<dyn Write>, Failure> {
    if is_standard(path) {
        return Ok(Box::new(stdout()));
    }
    let file = File::create(path).map_err(|e| Failure::write(path.display(), &e))?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
}

/// Standard output, buffered even where it is a terminal.
pub(crate) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zstd_is_told_by_its_first_bytes() {
        let text = b"itype_0,iaddr_0\n";
        let packed = zstd::encode_all(&text[..], 0).unwrap();
        for input in [text.to_vec(), packed] {
            let mut reader = decompress(Box::new(io::Cursor::new(input))).unwrap();
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
        assert!(decompress(Box::new(io::empty())).is_ok());
    }

    #[test]
    fn standard_input_is_read_once() {
        let [std, file] = [Path::new("-"), Path::new("./-")];
        assert!(one_standard([std, file]).is_ok());
        assert!(one_standard([std, file, std]).is_err());
    }
}

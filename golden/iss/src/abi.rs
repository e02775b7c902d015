//! Error numbers and structures of Linux system calls, as every environment returns them.

/// The return value of a system call that fails with this error.
pub(crate) const fn errno(number: i64) -> u64 {
    -number as u64
}

fn stat(mode: u32, size: u64) -> [u8; 128] {
    let mut stat = [0; 128];
    let mut put = |at: usize, bytes: &[u8]| stat[at..at + bytes.len()].copy_from_slice(bytes);
    put(16, &mode.to_le_bytes());
    put(20, &1u32.to_le_bytes());
    put(48, &size.to_le_bytes());
    put(56, &4096u32.to_le_bytes());
    put(64, &size.div_ceil(512).to_le_bytes());
    stat
}

/// `struct stat` of the console. It looks like a pipe, so that programs print whole buffers.
pub(crate) fn stat_of_console() -> [u8; 128] {
    stat(0o010600, 0)
}

/// `struct stat` of a folder.
pub(crate) fn stat_of_folder() -> [u8; 128] {
    stat(0o040755, 0)
}

/// `struct stat` of a plain file. Dynamic linkers recognise files by their numbers.
pub(crate) fn stat_of_file(size: u64, number: u64) -> [u8; 128] {
    let mut stat = stat(0o100644, size);
    stat[8..16].copy_from_slice(&number.to_le_bytes());
    stat
}

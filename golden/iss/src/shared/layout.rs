//! Structures of Linux about files, as programs for RISC-V lay them out.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Puts numbers into bytes, at their places.
struct Bytes<const N: usize>([u8; N]);

impl<const N: usize> Bytes<N> {
    fn put<const SIZE: usize>(&mut self, at: usize, number: [u8; SIZE]) {
        self.0[at..at + SIZE].copy_from_slice(&number);
    }
}

/// `struct stat` of RV64.
pub(super) fn stat(found: &Metadata) -> [u8; 128] {
    let mut bytes = Bytes([0; 128]);
    bytes.put(0, found.dev().to_le_bytes());
    bytes.put(8, found.ino().to_le_bytes());
    bytes.put(16, found.mode().to_le_bytes());
    bytes.put(20, (found.nlink() as u32).to_le_bytes());
    bytes.put(24, found.uid().to_le_bytes());
    bytes.put(28, found.gid().to_le_bytes());
    bytes.put(32, found.rdev().to_le_bytes());
    bytes.put(48, found.size().to_le_bytes());
    bytes.put(56, (found.blksize() as u32).to_le_bytes());
    bytes.put(64, found.blocks().to_le_bytes());
    let times = [
        [found.atime(), found.atime_nsec()],
        [found.mtime(), found.mtime_nsec()],
        [found.ctime(), found.ctime_nsec()],
    ];
    for (at, [seconds, nanos]) in (72..).step_by(16).zip(times) {
        bytes.put(at, seconds.to_le_bytes());
        bytes.put(at + 8, nanos.to_le_bytes());
    }
    bytes.0
}

/// `struct statx`, the same on RV32 and RV64.
pub(super) fn statx(found: &Metadata) -> [u8; 256] {
    /// All that `stat` tells.
    const BASIC: u32 = 0x7ff;
    let mut bytes = Bytes([0; 256]);
    bytes.put(0, BASIC.to_le_bytes());
    bytes.put(4, (found.blksize() as u32).to_le_bytes());
    bytes.put(16, (found.nlink() as u32).to_le_bytes());
    bytes.put(20, found.uid().to_le_bytes());
    bytes.put(24, found.gid().to_le_bytes());
    bytes.put(28, (found.mode() as u16).to_le_bytes());
    bytes.put(32, found.ino().to_le_bytes());
    bytes.put(40, found.size().to_le_bytes());
    bytes.put(48, found.blocks().to_le_bytes());
    // Between the first two is the time of creation, which is not basic.
    let times = [
        (64, found.atime(), found.atime_nsec()),
        (96, found.ctime(), found.ctime_nsec()),
        (112, found.mtime(), found.mtime_nsec()),
    ];
    for (at, seconds, nanos) in times {
        bytes.put(at, seconds.to_le_bytes());
        bytes.put(at + 8, (nanos as u32).to_le_bytes());
    }
    for (at, device) in [(128, found.rdev()), (136, found.dev())] {
        bytes.put(at, (major(device)).to_le_bytes());
        bytes.put(at + 4, (minor(device)).to_le_bytes());
    }
    bytes.0
}

/// Device numbers have two parts, which Linux interleaves.
fn major(device: u64) -> u32 {
    (device >> 8 & 0xfff | device >> 32 & 0xffff_f000) as u32
}

fn minor(device: u64) -> u32 {
    (device & 0xff | device >> 12 & 0xffff_ff00) as u32
}

//! Recordings that nobody wrote: cut off, changed, and made to use memory.

use crate::{at, full, map, two_units};
use hartrace_capture::perf::Recording;
use hartrace_tests::perf::Writer;
use proptest::prelude::*;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The tests of this module share the allocator, so that only one may run at a time.
static ONLY: Mutex<()> = Mutex::new(());

fn only() -> MutexGuard<'static, ()> {
    ONLY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads, and checks that memory stays in proportion to the file. All that was ever allocated counts.
fn read_bounded(file: &[u8]) -> bool {
    let bytes = file.to_vec();
    let region = Region::new(ALLOCATOR);
    let outcome = Recording::read(bytes);
    let used = region.change().bytes_allocated;
    assert!(used < (1 << 25) + 300 * file.len(), "{used} bytes for {}", file.len());
    outcome.is_ok()
}

#[test]
fn every_truncation() {
    let _only = only();
    for file in [full().file(), full().pipe()] {
        let whole = (0..=file.len()).filter(|length| read_bounded(&file[..*length])).count();
        // A pipe may end after any record; a file is read up to its end.
        assert!((1..20).contains(&whole), "{whole}");
    }
}

/// Forks that copy, and mappings that cut others: neither may grow with the square of the file.
#[test]
fn many_forks_and_long_names() {
    let _only = only();
    let long = format!("/{}", "x".repeat(30_000));
    let mut writer = Writer::new();
    writer.info(3, &two_units());
    for n in 0..2_000 {
        let path = if n == 0 { &long } else { "/a" };
        writer.mmap(at(0), map(0x10_0000 * n, 0x1_0000, 0, path));
    }
    for n in 0..2_000 {
        writer.fork(at(1), 100 + n, 100 + n);
        writer.mmap(at(2), map(u64::from(n) * 16 + 8, 1, 0, "//anon"));
    }
    let file = writer.file();
    assert!(read_bounded(&file));
    let warnings = Recording::read(file).unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("too many mappings")), "{warnings:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_changed(
        pipe: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let _only = only();
        let mut file = if pipe { full().pipe() } else { full().file() };
        for (index, byte) in changes {
            let place = index.index(file.len());
            file[place] = byte;
        }
        read_bounded(&file);
    }

    #[test]
    fn any_fields_changed(
        pipe: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0..64u32), 1..4),
    ) {
        let _only = only();
        let mut file = if pipe { full().pipe() } else { full().file() };
        for (index, value, shift) in changes {
            let place = index.index(file.len() / 8) * 8;
            file[place..place + 8].copy_from_slice(&(value >> shift).to_le_bytes());
        }
        read_bounded(&file);
    }
}

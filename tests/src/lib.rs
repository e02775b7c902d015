//! Helpers for tests that span several crates; the tests are in the folder `tests` next to this
//! one.
pub mod captures;
pub mod case;
pub mod cva6;
pub mod fault;
pub mod hostile;
pub mod log;
pub mod objdump;
pub mod perf;
pub mod production;
pub mod random;

/// Returns whether expected results are to be rewritten with the actual ones (`HARTRACE_BLESS=1`).
pub fn bless() -> bool {
    std::env::var_os("HARTRACE_BLESS").is_some_and(|value| value == "1")
}

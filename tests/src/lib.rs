//! Tests that cross crates; see the `tests` folder beside this one. What several of them need is
//! here.
pub mod case;
pub mod cva6;
pub mod fault;
pub mod log;
pub mod production;
pub mod random;
pub mod scenario;

/// Whether expected results are to be rewritten with what came out (`HARTRACE_BLESS=1`).
pub fn bless() -> bool {
    std::env::var_os("HARTRACE_BLESS").is_some_and(|value| value == "1")
}

//! Tests that cross crates; see the `tests` folder beside this one. What several of them need is
//! here.
pub mod case;
pub mod log;
pub mod scenario;

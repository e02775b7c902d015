//! Captures and what describes them.
//!
//! [`snapshot`] reads snapshots of Arm systems and trace packages: devices with their registers, trace
//! buffers, memory. [`spaces`] says which code is at an address, by context and time, where programs,
//! libraries and patches come and go while a system is traced.
//!
//! # Guarantees
//!
//! Nothing here panics, for any file.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod snapshot;
pub mod spaces;

//! Captures and their descriptions.
//!
//! [`snapshot`] reads snapshots of Arm systems and trace packages: devices with their registers, trace
//! buffers, memory. [`spaces`] determines the code at an address, by context and time, for systems
//! whose programs, libraries and patches change while they are traced.
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

//! Generates the E-Trace encoder.

mod branch_map;
mod bundle;
mod config;
mod core;
mod emitter;
mod group;
mod ingress;
mod named;
mod priority;
mod request;
mod resync;
mod returns;
mod tables;

pub use config::{Config, ConfigError, Overflow, ResyncUnit};
pub use core::encoder;
pub use named::ReadError;

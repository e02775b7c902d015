//! A decoder with everything behind it as one module, for integration into an SoC.
//!
//! ```text
//! bytes ---> [frame_stage] ---> decoder ---> [walker] ---> [profile, windows, monitor] ---> [record_writer] ---> memory
//!  or words                        |            |                                                  |
//!                                  +--> packet counters      registers on one bus: decoder, analysis, sink
//! ```
//!
//! Parts in brackets are there if the [`Config`] says so. Without a walker, packets are counted, and records leave the
//! module.

mod config;
mod module;
mod packets;

pub use config::Config;
pub use module::top;
pub use packets::kinds;

/// The name of the module.
pub const TOP: &str = "td_top";

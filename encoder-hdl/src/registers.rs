//! Control registers of a trace encoder and of what is behind it: one table, from which everything
//! else is made.
//!
//! A [`Table`] lists the registers of one trace component of the RISC-V Trace Control Interface, with
//! all fields and how each behaves ([`Kind`]), for given parameters: [`encoder`], [`ram_sink`],
//! [`atb_bridge`]. From it come
//!
//! - the hardware, on APB4: [`encoder_registers`], [`ram_sink_registers`], [`atb_bridge_registers`],
//!   and [`apb_split`] for several of them behind one port;
//! - a [`Model`] that hardware and drivers are tested with;
//! - a driver in Rust without `std`: [`rust_driver`] as text, [`driver`] the one for
//!   [`EncoderParams::everything`], whose places of fields hold for all parameters;
//! - a header in C ([`c_header`]) and a manual ([`markdown`]).
//!
//! What the registers do that the specification leaves open is in the manual, `docs/registers.md`. Not
//! there: data trace, external triggers, memory within the sink (SRAM mode), funnels, PIB.
//!
//! Spec: Trace Control Interface 1.0.

pub mod driver;
mod model;
mod names;
mod params;
mod rtl;
mod table;
mod tables;
mod text;

pub use model::{BusError, Effect, Inputs, Model, Write};
pub use params::{EncoderParams, ImplicitReturn, ParamsError, RamSinkParams, Resync};
pub use rtl::{apb_split, atb_bridge_registers, encoder_registers, ram_sink_registers};
pub use table::{Enable, Field, Input, Kind, Register, Table};
pub use tables::{atb_bridge, encoder, ram_sink};
pub use text::{c_header, markdown, rust_driver};

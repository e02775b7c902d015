//! Control registers of a trace encoder and of its transport: one table, from which everything else
//! is generated.
//!
//! A [`Table`] lists the registers of one trace component of the RISC-V Trace Control Interface,
//! with all fields and the behaviour of each ([`Kind`]), for given parameters: [`encoder`],
//! [`ram_sink`], [`atb_bridge`], [`decoder`] for a hardware decoder, and [`analysis`] for what is behind it. It is the source of
//!
//! - the hardware, on APB4: [`encoder_registers`], [`ram_sink_registers`],
//!   [`atb_bridge_registers`], and [`apb_split`] for several of them at one port; [`axi_to_apb`] is a
//!   bridge to AXI;
//! - a [`Model`] for tests of hardware and drivers;
//! - a driver in Rust without `std`: [`rust_driver`] returns its text, and [`driver`] is the one
//!   for [`EncoderParams::everything`], whose field positions are valid for all parameters;
//! - a header in C ([`c_header`]), a manual ([`markdown`]), and descriptions for other tools: [`systemrdl`] and
//!   [`ipxact`].
//!
//! The manual, `docs/registers.md`, describes the behaviour that the specification leaves open. Not
//! implemented are data trace, external triggers, memory within the sink (SRAM mode), funnels and
//! PIB.
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
pub use params::{
    AnalysisParams, DecoderParams, EncoderParams, ImplicitReturn, ParamsError, RamSinkParams,
    Resync, WalkerParams,
};
pub use rtl::{
    AxiBridge, analysis_registers, apb_split, atb_bridge_registers, axi_to_apb, decoder_registers,
    encoder_registers, ram_sink_registers,
};
pub use table::{Enable, Field, Input, Kind, Register, Table};
pub use tables::{analysis, atb_bridge, decoder, encoder, ram_sink};
pub use text::{Placed, c_header, ipxact, markdown, rust_driver, systemrdl};

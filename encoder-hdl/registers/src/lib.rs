//! Control registers of a trace encoder and its sinks.

mod model;
mod names;
mod params;
mod rtl;
mod table;
mod tables;

pub use model::{BusError, Effect, Inputs, Model, Write};
pub use params::{EncoderParams, ImplicitReturn, ParamsError, RamSinkParams, Resync};
pub use rtl::{apb_split, atb_bridge_registers, encoder_registers, ram_sink_registers};
pub use table::{Enable, Field, Input, Kind, Register, Table};
pub use tables::{atb_bridge, encoder, ram_sink};

//! Blocks described a second time, in rust-hdl.
//!
//! Each description starts from the purpose of its block: it uses other registers and other
//! arithmetic. Its ports have the names of the generated module. The test `equal` proves that the
//! two cannot be distinguished.
//!
//! To make sure that the Verilog of rust-hdl means the same as the description, every statement has
//! one operator, its operands have the same width, numbers are constants of that width, and only
//! plain signals are cast or indexed.

#![expect(clippy::collapsible_if, reason = "one operator a statement")]

mod branch_map;
mod call_counter;
mod fifo;
mod spill;

pub use branch_map::BranchMap;
pub use call_counter::CallCounter;
pub use fifo::Fifo;
pub use spill::Spill;

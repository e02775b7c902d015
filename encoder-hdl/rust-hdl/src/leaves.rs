//! Blocks described a second time, in rust-hdl.
//!
//! Each is written from what its block is for: other registers, other arithmetic. Its ports have the names
//! of the generated module. The test `equal` proves that nobody can tell the two apart.
//!
//! So that the text rust-hdl emits means what the description says, every statement has one operator, its
//! operands are of one width, numbers are constants of that width, and only plain signals are cast or
//! indexed.

#![expect(clippy::collapsible_if, reason = "one operator a statement")]

mod branch_map;
mod call_counter;
mod fifo;
mod spill;

pub use branch_map::BranchMap;
pub use call_counter::CallCounter;
pub use fifo::Fifo;
pub use spill::Spill;

//! The block walker: the records of a decoder and a table of the program's blocks give the blocks that were executed.
//!
//! The table is a [`BlockTable`](hartrace_decoder::block_table::BlockTable). [`outputs`] are the ports to which back ends
//! connect.

mod output;

pub use output::{Cause, LOST_BITS, Output, outputs};

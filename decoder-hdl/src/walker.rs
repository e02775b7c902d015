//! The block walker: the records of a decoder and a table of the program's blocks give the blocks that were executed.
//!
//! ```text
//! records of   +--------+   +------+   +--------+   +------+   blocks, gaps
//! a cycle ---> | intake |-->| FIFO |-->| search |-->| walk |--------------->
//!              +--------+   +------+   +--------+   +------+
//!                                          |         |    |
//!                                        +-----------+  +-------------------------------+
//!                                        |   table   |  | return stack, predictor       |
//!                                        +-----------+  +-------------------------------+
//! ```
//!
//! A record may stand for many blocks, so a FIFO is in front. A record that finds it full is lost: it is counted, and
//! the records after it say so. The walker then reports a gap and waits for the next synchronisation.
//!
//! The table is a [`BlockTable`](hartrace_decoder::block_table::BlockTable), written through a port. A step from one block
//! to the next takes one cycle. The block of an address that was sent is
//! searched in the table, bit by bit of its number, while the walk of the record before it goes on.
//!
//! Instructions up to an address that was sent are reported with those after it, unless something else comes between:
//! so a block is reported once, and its first instruction is always known.
//!
//! [`outputs`] are the ports to which back ends connect.
//!
//! # Not supported
//!
//! - Implicit exceptions behind a decoder that does not know the trap vectors: they are gaps. [`follower`] knows them.
//! - Addresses inside an instruction are noticed in the last one of a block only.

mod assembly;
pub mod etmv4;
mod etrace;
mod fifo;
mod output;
mod present;
mod report;
mod returns;
mod search;
mod table;

pub use etrace::{Config, ConfigError, follower, walker};
pub use output::{Cause, LOST_BITS, Output, outputs};

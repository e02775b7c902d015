//! Reports of everything in order: addresses, instructions, blocks, events.

pub use crate::blocks::Blocks;
pub use crate::explained::{Explained, RowPlace};
pub use crate::json::{Json, block_table_json};
pub use crate::listing::Listing;
pub use crate::ordered::{InOrder, Ordered, OrderedPart};
pub use crate::pcs::{Pcs, PcsText};

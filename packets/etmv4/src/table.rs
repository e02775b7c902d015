//! The format of all packets, described once.
//!
//! [`ROWS`] lists the headers, their meaning, and the sections that follow. [`Section`] lists the
//! sections with their bytes, their fields and what their bytes decide. All code in this crate that
//! reads, writes or measures packets uses these two lists through [`Layout`](crate::Layout), which
//! specialises them for one configuration.

mod field;
mod needs;
mod rows;
mod section;
mod shape;

pub(crate) use field::ones;
pub use field::{Field, FieldName};
pub use needs::Needs;
pub use rows::{ROWS, Row};
pub(crate) use rows::{header_of, row_of};
pub use section::{Effect, Rule, Section, Sections, Test};
pub use shape::{End, Shape};

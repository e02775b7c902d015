//! Converts [`Packet`](crate::Packet)s to and from bytes, through the fields of the table.

mod emit;
mod parse;
mod record;

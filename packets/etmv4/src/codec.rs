//! [`Packet`](crate::Packet)s out of bytes and into bytes, by way of the fields that the table has.

mod emit;
mod parse;
mod record;

//! Code that the tests share.

#![allow(dead_code, unreachable_pub, reason = "every test uses a part of it")]

pub mod constructs;
pub mod random;
pub mod simulate;

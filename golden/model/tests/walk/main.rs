//! Walks are consistent, contain what they should, and can be regrouped.

mod common;
mod consistency;
mod regroup;
mod situations;

//! Walks: what is generated is consistent, contains what it should, and can be regrouped.

mod common;
mod consistency;
mod regroup;
mod situations;

//! Tests of single instructions and short programs against the text of the specification; nothing
//! makes the hart panic.

mod atomic;
mod compressed;
mod float;
mod host;
mod integer;
mod interrupts;
mod linux;
mod machine;
mod paging;
mod random;
#[cfg(unix)]
mod shared;
mod threads;
mod traps;

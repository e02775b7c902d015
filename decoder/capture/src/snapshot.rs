//! Snapshots as OpenCSD and DS-5 write them: a folder with the devices of a system, their registers
//! and memory, and the trace buffers that were captured.
//!
//! [`Snapshot::open`] reads all `.ini` files; [`Snapshot::sources`] says which trace sources are in a
//! buffer and how they were set up, [`Snapshot::segments`] what memory a core sees.
//!
//! [`Package`] is the other way to hand over trace: a folder or an archive with `contents.ini`, metadata of
//! the sources, memory, and a log of what changed in it.
//!
//! Nothing is assumed in silence: a register that is needed and not there is an [`Error`] that names
//! it. What can be done without, as a device that has no file, is a [`Snapshot::warnings`] entry.
//! Files are read within the folder of the snapshot only.

mod contents;
mod cores;
mod device;
mod error;
mod files;
pub mod image;
pub mod ini;
mod package;
mod sources;

pub use contents::{Buffer, Format, Segment, Snapshot};
pub use cores::{Core, core};
pub use device::{Class, Device, Dump};
pub use error::Error;
pub use files::{Archive, Files, file};
pub use package::{Package, Trace};
pub use sources::{Protocol, Source};
